//! Personal data: everything stored about a user, as lists ordered from newest to oldest.

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};

use crate::entity_ref::{EntityKind, EntityRef};
use crate::gig::Gig;
use crate::ids::{OperationId, UserId};
use crate::ledger::{Balance, Entry};
use crate::music_request::{MusicRequest, RequestRating};
use crate::names::{explained_enum, named_enum};
use crate::network::KnownNetwork;
use crate::operation::{Actor, Entity, Outcome, StoredReceipt};
use crate::provider_message::ProviderMessage;
use crate::security_log::SecurityEvent;
use crate::text::{Line, ShortMessage};
use crate::timestamp::Timestamp;
use crate::tip::Tip;
use crate::topup::Topup;
use crate::user::challenge::Challenge;
use crate::user::personal_token::PersonalToken;
use crate::user::session::Session;
use crate::user::{Block, User};
use crate::webhook::WebhookEndpoint;
use crate::withdrawal::Withdrawal;

/// The lists of personal data beside profile and wallet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum ExportList {
    /// Sessions, ended ones included.
    Sessions,
    /// Personal access tokens, ended ones included.
    PersonalTokens,
    /// Networks of the user's logins.
    Networks,
    /// Codes and tokens sent to the user.
    Challenges,
    /// Requests made by the user.
    RequestsMade,
    /// Requests addressed to the user.
    RequestsReceived,
    /// The user's ratings of requests.
    Ratings,
    /// The user's gigs.
    Gigs,
    /// Tips that the user gave or received.
    Tips,
    /// The user's withdrawals.
    Withdrawals,
    /// The user's top-ups.
    Topups,
    /// The entries of the user's wallet.
    #[strum(serialize = "wallet_entries")]
    Entries,
    /// Changes to the profile, status and role, and operators' actions that have a reason.
    Operations,
    /// Provider messages about the user's top-ups and withdrawals that contradict the ledger.
    ProviderMessages,
    /// Users blocked by this user.
    Blocks,
    /// DJs who block this user.
    BlockedBy,
    /// The user's events in the security log.
    #[strum(serialize = "security_events")]
    Events,
    /// The user's webhook endpoints.
    WebhookEndpoints,
}

named_enum!(ExportList);

/// The actor of an operation, as shown to the affected user: an operator's identity is not disclosed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage)]
#[strum(serialize_all = "snake_case")]
pub enum ActedBy {
    /// The owner of the account.
    #[strum(serialize = "self")]
    Themselves,
    /// An operator.
    Operator,
    /// The service or a provider.
    Service,
}

named_enum!(ActedBy);
explained_enum!(ActedBy);

impl ActedBy {
    /// The actor as seen by a user: only operators act on other users' entities.
    fn of(actor: Actor, person: Option<UserId>) -> Self {
        match actor {
            Actor::System => Self::Service,
            Actor::User(user) if Some(user) == person => Self::Themselves,
            Actor::User(_) => Self::Operator,
        }
    }
}

/// An operation about a user, as shown to that user.
#[derive(Clone, PartialEq, Debug)]
pub struct OperationNote {
    /// The operation's id.
    pub id: OperationId,
    /// The name of its [`crate::operation::PlanKind`], of this version or a newer one.
    pub kind: String,
    pub acted_by: ActedBy,
    /// The reason, if one was given.
    pub reason: Option<Line>,
    /// The affected entity; `None` for the user themselves.
    pub reference: Option<EntityRef>,
    /// The profile after it, within its retention.
    pub profile: Option<(User, Balance)>,
    /// The time of the decision.
    pub at: Timestamp,
}

impl OperationNote {
    /// The user to whom an operation is shown, if any: the changed user, or the owner of the
    /// money or request for which a reason was given.
    #[must_use]
    pub fn person(receipt: &StoredReceipt, reason: Option<&Line>) -> Option<UserId> {
        let outcome = match receipt {
            StoredReceipt::Redacted { user, .. } => return Some(*user),
            StoredReceipt::Whole(receipt) => &receipt.outcome,
        };
        let is_profile = matches!(outcome.entity, Entity::User(_));
        outcome.entity.owner().filter(|_| is_profile || reason.is_some())
    }

    /// The note of the operation with this receipt.
    #[must_use]
    pub fn new(
        kind: String,
        actor: Actor,
        reason: Option<Line>,
        receipt: &StoredReceipt,
        at: Timestamp,
    ) -> Self {
        let acted_by = ActedBy::of(actor, Self::person(receipt, reason.as_ref()));
        let outcome = receipt.whole().map(|receipt| &receipt.outcome);
        let reference = outcome.map(Outcome::reference);
        let reference = reference.filter(|reference| reference.kind().is_ok_and(EntityKind::is_posted));
        let profile = outcome.and_then(|outcome| match &outcome.entity {
            Entity::User(user) => Some((user.clone(), outcome.balance?)),
            _ => None,
        });
        Self { id: receipt.operation(), kind, acted_by, reason, reference, profile, at }
    }
}

/// One record about a user.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "a page of records is short-lived")]
pub enum ExportRecord {
    /// A session, with its end if it was ended early.
    Session(Session, Option<Timestamp>),
    /// A personal access token, with its end if it was ended early.
    PersonalToken(PersonalToken, Option<Timestamp>),
    /// A network, with its number.
    Network(i64, KnownNetwork),
    /// A code or token sent to the user.
    Challenge(Challenge),
    /// A request, made or received.
    Request(MusicRequest),
    /// A request made, with its dedication.
    RequestMade(MusicRequest, Option<ShortMessage>),
    Gig(Gig),
    /// A tip, given or received.
    Tip(Tip),
    /// A rating of a request, with the time of the request.
    Rating(RequestRating, Timestamp),
    Withdrawal(Withdrawal),
    /// A top-up.
    Topup(Topup),
    /// An entry of the wallet, with the reason of its operation, if any.
    Entry(Entry, Option<Line>),
    Operation(OperationNote),
    ProviderMessage(ProviderMessage),
    /// A block by the user.
    Block(Block),
    /// A block of the user.
    BlockedBy {
        dj: UserId,
        /// The time of the block.
        at: Timestamp,
    },
    /// An event of the security log, with its number.
    Event(i64, SecurityEvent),
    WebhookEndpoint(WebhookEndpoint),
}

/// The key of a record in its list: unique and permanent. Lists are in descending order of their keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ExportKey {
    /// Microseconds since the Unix epoch, or a number.
    pub major: i64,
    /// The tie-breaker between records of the same time.
    pub minor: u128,
}

impl ExportKey {
    fn at(at: Timestamp, minor: i64) -> Self {
        Self { major: at.unix_micros(), minor: u128::try_from(minor).unwrap_or(0) }
    }

    const fn number(major: i64) -> Self {
        Self { major, minor: 0 }
    }

    /// The time in the key, in a list by time.
    #[must_use]
    pub fn moment(self) -> Timestamp {
        Timestamp::from_unix_micros(self.major)
    }

    /// The number of the record with this key, in a list by time.
    #[must_use]
    pub fn id(self) -> i64 {
        i64::try_from(self.minor).unwrap_or(i64::MAX)
    }
}

impl ExportRecord {
    /// The record's key in its list.
    #[must_use]
    pub fn key(&self) -> ExportKey {
        match self {
            Self::Session(session, _) => ExportKey::at(session.began_at, session.id.get()),
            Self::PersonalToken(token, _) => ExportKey::at(token.session.began_at, token.id().get()),
            Self::Network(number, _) | Self::Event(number, _) => ExportKey::number(*number),
            Self::Challenge(challenge) => {
                // Challenges issued at the same time differ in their hash.
                let minor = challenge.hash.0.first_chunk().copied().map_or(0, u128::from_be_bytes);
                ExportKey { major: challenge.issued_at.unix_micros(), minor }
            }
            Self::Request(request) | Self::RequestMade(request, _) => {
                ExportKey::at(request.created_at, request.id.get())
            }
            Self::Gig(gig) => ExportKey::at(gig.opened_at, gig.id.get()),
            Self::Tip(tip) => ExportKey::at(tip.created_at, tip.id.get()),
            Self::Rating(rating, requested_at) => ExportKey::at(*requested_at, rating.id.get()),
            Self::Withdrawal(withdrawal) => ExportKey::at(withdrawal.created_at, withdrawal.id.get()),
            Self::Topup(topup) => ExportKey::at(topup.created_at, topup.id.get()),
            Self::Entry(entry, _) => ExportKey::number(entry.seq),
            Self::Operation(note) => ExportKey { major: note.at.unix_micros(), minor: note.id.0 },
            Self::ProviderMessage(message) => ExportKey::number(message.id.get()),
            Self::Block(block) => ExportKey::at(block.at, block.guest.get()),
            Self::BlockedBy { dj, at } => ExportKey::at(*at, dj.get()),
            Self::WebhookEndpoint(endpoint) => ExportKey::number(endpoint.id.get()),
        }
    }

    /// The record as the user may see it at `now`: requests show their effective state, and operators'
    /// actions show neither the operator nor the client.
    #[must_use]
    pub fn shown_to(self, user: UserId, now: Timestamp) -> Self {
        match self {
            Self::Request(request) => Self::Request(request.seen_at(now)),
            Self::RequestMade(request, message) => Self::RequestMade(request.seen_at(now), message),
            Self::Event(number, event) => Self::Event(number, event.shown_to(user)),
            other => other,
        }
    }

    /// Returns up to `limit` records after a key, for lists that a store holds entirely in memory.
    #[must_use]
    pub fn next(records: impl IntoIterator<Item = Self>, after: Option<ExportKey>, limit: u32) -> Vec<Self> {
        let behind = records.into_iter().filter(|record| after.is_none_or(|after| record.key() < after));
        let mut behind: Vec<Self> = behind.collect();
        behind.sort_unstable_by_key(|record| std::cmp::Reverse(record.key()));
        behind.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        behind
    }
}
