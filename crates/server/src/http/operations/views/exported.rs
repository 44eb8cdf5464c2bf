//! Views that appear only in an export.

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ledger;
use cuepoint_domain::money::Currency;
use cuepoint_domain::privacy::personal_data;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{self, challenge, session};
use cuepoint_domain::webhook::WebhookEndpoint;
use cuepoint_domain::withdrawal;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::operations::views::{
    ActiveSessionView, EntryView, ReferenceView, UserView, WebhookEndpointView, WithdrawalView,
};
use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;

/// Account data beside the profile.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Account)]
pub struct AccountView {
    /// Role of the account.
    #[schema(value_type = names::Role)]
    role: &'static str,
    /// Time of the registration.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
    /// Time of the last change of the role or suspension, or of becoming a DJ; null if there was none.
    #[schema(value_type = Option<String>, format = DateTime)]
    role_changed_at: Option<WireTimestamp>,
    /// Time of the last change of the e-mail address or reset of the password; null if there was none.
    #[schema(value_type = Option<String>, format = DateTime)]
    login_changed_at: Option<WireTimestamp>,
}

/// A session, active or ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ExportedSession)]
pub struct ExportedSessionView {
    /// The session.
    #[serde(flatten)]
    session: ActiveSessionView,
    /// Time of the end; null while active. Sessions are retained for two days after their end.
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<WireTimestamp>,
}

/// A sent code or token, without its secret; retained for a day, or for 7 days if it restores an e-mail address.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Challenge)]
pub struct ChallengeView {
    /// Purpose.
    #[schema(value_type = names::ChallengePurpose)]
    purpose: &'static str,
    /// Recipient address.
    #[schema(example = "ada@example.com")]
    address: String,
    /// Number of wrong attempts.
    #[schema(minimum = 0, example = 0)]
    attempts: i16,
    /// Time of sending.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
    /// Time at which it was used or replaced; null before that.
    #[schema(value_type = Option<String>, format = DateTime)]
    ended_at: Option<WireTimestamp>,
}

/// A withdrawal with its reference.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ExportedWithdrawal)]
pub struct ExportedWithdrawalView {
    /// The withdrawal.
    #[serde(flatten)]
    withdrawal: WithdrawalView,
    /// Reference at the payout provider.
    #[schema(example = "019aa6e0-7b42-7c55-8f0d-1a2b3c4d5e6f")]
    reference: String,
}

/// A wallet entry with the reason that the statement omits.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ExportedEntry)]
pub struct ExportedEntryView {
    /// The entry.
    #[serde(flatten)]
    entry: EntryView,
    /// Reason given by an operator or a provider; null if there is none.
    #[schema(example = "A song was charged twice.")]
    reason: Option<String>,
}

/// A change of the profile or account, or an operator's action on it with a reason.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Operation)]
pub struct OperationView {
    /// Id, a UUID.
    #[schema(example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
    id: String,
    /// Kind of the operation.
    #[schema(value_type = names::OperationKind)]
    kind: String,
    /// Actor.
    #[schema(value_type = names::ActedBy)]
    acted_by: &'static str,
    /// Reason; null where none is required.
    reason: Option<String>,
    /// Object of the operation; null for the profile or the account itself.
    reference: Option<ReferenceView>,
    /// Profile after the operation, with the available balance of that time; null for operations about money,
    /// and after seven days.
    profile: Option<UserView>,
    /// Time of the operation.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
}

/// A webhook endpoint with the feed that it receives.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ExportedWebhookEndpoint)]
pub struct ExportedWebhookEndpointView {
    /// The endpoint.
    #[serde(flatten)]
    endpoint: WebhookEndpointView,
    /// Events that it receives: `own` for those about the account, `all` for those of all accounts.
    #[schema(value_type = names::EventFeed, example = "own")]
    feed: &'static str,
}

/// A DJ who has blocked the account.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = BlockedBy)]
pub struct BlockedByView {
    /// Id of the DJ.
    #[schema(minimum = 1, example = 7)]
    dj_id: i64,
    /// Time of the block.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
}

fn text(line: &Option<Line>) -> Option<String> {
    line.as_ref().map(|line| line.as_str().to_owned())
}

impl AccountView {
    /// The account data of this user.
    #[must_use]
    pub fn new(user: &user::User) -> Self {
        Self {
            role: user.role.name(),
            created_at: WireTimestamp(user.created_at),
            role_changed_at: user.status_changed_at.map(WireTimestamp),
            login_changed_at: user.login_changed_at.map(WireTimestamp),
        }
    }
}

impl ExportedSessionView {
    /// The session, as shown within the session `current`.
    #[must_use]
    pub fn new(session: &session::Session, ended_at: Option<Timestamp>, current: SessionId) -> Self {
        Self { session: ActiveSessionView::new(session, current), ended_at: ended_at.map(WireTimestamp) }
    }
}

impl ChallengeView {
    /// The challenge without its secret.
    #[must_use]
    pub fn new(challenge: &challenge::Challenge) -> Self {
        Self {
            purpose: challenge.purpose.name(),
            address: match &challenge.address {
                Some(address) => address.as_str().to_owned(),
                None => challenge.target.clone(),
            },
            attempts: challenge.attempts,
            created_at: WireTimestamp(challenge.issued_at),
            ended_at: challenge.ended_at.map(WireTimestamp),
        }
    }
}

impl ExportedWithdrawalView {
    /// The current state of the withdrawal.
    #[must_use]
    pub fn new(withdrawal: &withdrawal::Withdrawal, currency: &Currency) -> Self {
        Self {
            withdrawal: WithdrawalView::new(withdrawal, currency),
            reference: withdrawal.reference().to_string(),
        }
    }
}

impl ExportedEntryView {
    /// The entry, with the reason of its operation.
    #[must_use]
    pub fn new(entry: &ledger::Entry, reason: &Option<Line>, currency: &Currency) -> Self {
        Self { entry: EntryView::new(entry, currency), reason: text(reason) }
    }
}

impl OperationView {
    /// The operation.
    #[must_use]
    pub fn new(note: &personal_data::OperationNote, currency: &Currency) -> Self {
        let profile = note.profile.as_ref();
        Self {
            id: uuid::Uuid::from_u128(note.id.0).to_string(),
            kind: note.kind.clone(),
            acted_by: note.acted_by.name(),
            reason: text(&note.reason),
            reference: note.reference.map(ReferenceView::new),
            profile: profile.map(|(user, balance)| UserView::new(user, balance.available, currency)),
            created_at: WireTimestamp(note.at),
        }
    }
}

impl ExportedWebhookEndpointView {
    /// The endpoint, with its feed.
    #[must_use]
    pub fn new(endpoint: &WebhookEndpoint) -> Self {
        Self { endpoint: WebhookEndpointView::new(endpoint), feed: endpoint.feed.name() }
    }
}

impl BlockedByView {
    /// The block by this DJ.
    #[must_use]
    pub const fn new(dj: UserId, at: Timestamp) -> Self {
        Self { dj_id: dj.get(), created_at: WireTimestamp(at) }
    }
}
