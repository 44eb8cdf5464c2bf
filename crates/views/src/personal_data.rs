//! The export of personal data.

use cuepoint_domain::ids::{GigId, SessionId, UserId};
use cuepoint_domain::ledger;
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request;
use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::privacy::personal_data::{ExportRecord, OperationNote};
use cuepoint_domain::text::{Line, ShortMessage};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip;
use cuepoint_domain::topup;
use cuepoint_domain::user::personal_token::PersonalToken;
use cuepoint_domain::user::{self, challenge, session};
use cuepoint_domain::webhook::WebhookEndpoint;
use cuepoint_domain::withdrawal;
use serde::Serialize;
use utoipa::ToSchema;

use crate::block::BlockedGuestView;
use crate::gig::GigDetailsView;
use crate::people::UserView;
use crate::personal_token::PersonalTokenView;
use crate::provider_message::ExportedProviderMessageView;
use crate::rating::RatingView;
use crate::request::MusicRequestView;
use crate::security_event::SecurityEventView;
use crate::session::ActiveSessionView;
use crate::tip::TipView;
use crate::topup::TopupView;
use crate::view;
use crate::wallet::{ObjectReferenceView, WalletEntryView, WalletView};
use crate::webhook_endpoint::WebhookEndpointView;
use crate::wire::money::Number;
use crate::wire::names;
use crate::wire::time::WireTimestamp;
use crate::withdrawal::WithdrawalView;

/// All data that is stored about a user. Each list is complete, newest first.
#[derive(Serialize, ToSchema)]
#[schema(as = PersonalDataExport)]
pub struct PersonalDataExportView {
    /// The profile.
    pub user: UserView,
    /// Further data of the user.
    pub account: AccountView,
    /// The balance.
    pub wallet: WalletView,
    /// Sessions that have not ended, or ended within the last two days.
    pub sessions: Vec<ExportedSessionView>,
    /// Personal access tokens that have not ended, or ended within the last two days.
    pub personal_tokens: Vec<ExportedPersonalTokenView>,
    /// Networks of logins and refreshes within the last 30 days.
    pub networks: Vec<LoginNetworkView>,
    /// Codes and tokens that were sent within the last day, and for 7 days the tokens that restore an e-mail address.
    pub challenges: Vec<ChallengeView>,
    /// Requests that the user has made.
    pub requests_made: Vec<ExportedRequestView<'static>>,
    /// Requests that the user has received.
    pub requests_received: Vec<MusicRequestView<'static>>,
    /// Ratings that the user has given.
    pub ratings: Vec<RatingView>,
    /// Gigs of the user.
    pub gigs: Vec<GigDetailsView>,
    /// Tips that the user has given or received.
    pub tips: Vec<ExportedTipView>,
    /// Withdrawals.
    pub withdrawals: Vec<ExportedWithdrawalView>,
    /// Top-ups.
    pub topups: Vec<ExportedTopupView>,
    /// Entries of the wallet.
    pub wallet_entries: Vec<ExportedWalletEntryView>,
    /// Changes of the profile and the user's status, and operations of operators and providers with a reason.
    pub operations: Vec<OperationView>,
    /// Provider messages about the user's top-ups and withdrawals that contradict the ledger.
    pub provider_messages: Vec<ExportedProviderMessageView>,
    /// Webhook endpoints of the user, without secrets and attempts.
    pub webhook_endpoints: Vec<ExportedWebhookEndpointView>,
    /// Guests blocked by the user.
    pub blocks: Vec<BlockedGuestView>,
    /// DJs who block the user.
    pub blocked_by: Vec<BlockedByView>,
    /// Events of the security log about the user.
    pub security_events: Vec<SecurityEventView>,
}

view! {
    /// A network of the user.
    pub struct LoginNetworkView as LoginNetwork of (known: &KnownNetwork) {
        /// An IPv4 address with `/32`, or an IPv6 network with `/64`.
        #[schema(example = "203.0.113.7/32")]
        network: String = known.network.to_string(),
        /// Time of the last login or refresh from the network.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        last_used_at: WireTimestamp = WireTimestamp(known.seen_at),
    }
}

view! {
    /// Further data of a user.
    pub struct AccountView as Account of (user: &user::User) {
        /// Role of the user.
        #[schema(value_type = names::Role)]
        role: &'static str = user.role.name(),
        /// Time of the registration.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(user.created_at),
        /// Time of the last change of the role, of a suspension, or of becoming a DJ; null if there was none.
        #[timestamp_or_null(example = "2026-01-31T20:15:00.000000Z")]
        role_changed_at: Option<WireTimestamp> = user.status_changed_at.map(WireTimestamp),
        /// Time of the last change of the e-mail address or reset of the password; null if there was none.
        #[timestamp_or_null(example = "2026-01-31T20:15:00.000000Z")]
        login_changed_at: Option<WireTimestamp> = user.login_changed_at.map(WireTimestamp),
    }
}

view! {
    /// A session, also one that has ended.
    pub struct ExportedSessionView as ExportedSession of (
        session: &session::Session,
        ended_at: Option<Timestamp>,
        current: SessionId,
    ) {
        /// The session.
        #[serde(flatten)]
        session: ActiveSessionView = ActiveSessionView::new(session, current),
        /// Time of the end; null if the session has not ended.
        #[timestamp_or_null(example = json!(null))]
        ended_at: Option<WireTimestamp> = ended_at.map(WireTimestamp),
    }
}

view! {
    /// A personal access token, also one that has ended.
    pub struct ExportedPersonalTokenView as ExportedPersonalToken of (
        token: &PersonalToken,
        ended_at: Option<Timestamp>,
    ) {
        /// The token, without its secret.
        #[serde(flatten)]
        token: PersonalTokenView = PersonalTokenView::new(token),
        /// User agent of the client that created it; null if unknown.
        #[schema(example = "Mozilla/5.0")]
        user_agent: Option<String> = text(&token.session.client.agent),
        /// IP address of the client that created it; null if unknown.
        #[schema(example = "203.0.113.7")]
        ip_address: Option<String> = token.session.client.address.map(|address| address.to_string()),
        /// Time of the end; null if the token has not been ended.
        #[timestamp_or_null(example = json!(null))]
        ended_at: Option<WireTimestamp> = ended_at.map(WireTimestamp),
    }
}

view! {
    /// A code or token that was sent, without its secret.
    pub struct ChallengeView as Challenge of (challenge: &challenge::Challenge) {
        /// Purpose.
        #[schema(value_type = names::ChallengePurpose)]
        purpose: &'static str = challenge.purpose.name(),
        /// Address of the recipient.
        #[schema(example = "ada@example.com")]
        address: String = match &challenge.address {
            Some(address) => address.as_str().to_owned(),
            None => challenge.target.clone(),
        },
        /// Number of wrong attempts.
        #[schema(minimum = 0, example = 0)]
        attempts: i16 = challenge.attempts,
        /// Time of sending.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(challenge.issued_at),
        /// Time of its use or replacement; null before.
        #[timestamp_or_null(example = "2026-01-31T20:15:00.000000Z")]
        ended_at: Option<WireTimestamp> = challenge.ended_at.map(WireTimestamp),
    }
}

view! {
    /// A request with its gig and its dedication.
    pub struct ExportedRequestView<'r> as ExportedMusicRequest of (
        request: &'r music_request::MusicRequest,
        message: Option<&'r ShortMessage>,
        currency: &Currency,
    ) {
        /// The request.
        #[serde(flatten)]
        request: MusicRequestView<'r> = MusicRequestView::new(request, currency),
        /// Id of the gig; null outside a gig.
        #[schema(minimum = 1, example = 5)]
        gig_id: Option<i64> = request.gig.map(GigId::get),
        /// Dedication; null if there is none, and after 30 days.
        #[schema(example = "For Grace, who turns 30")]
        message: Option<&'r str> = message.map(ShortMessage::as_str),
    }
}

view! {
    /// A top-up with the page on which its payment began.
    pub struct ExportedTopupView as ExportedTopup of (topup: &topup::Topup, currency: &Currency) {
        /// The top-up.
        #[serde(flatten)]
        topup: TopupView = TopupView::new(topup, currency),
        /// Code of the DJ on whose page the payment began; null if it began elsewhere.
        #[schema(example = "K7TW3M")]
        page_code: Option<String> = topup.page_code.map(|code| code.as_str().to_owned()),
    }
}

view! {
    /// A tip with its guest and its commission.
    pub struct ExportedTipView as ExportedTip of (tip: &tip::Tip, currency: &Currency) {
        /// The tip.
        #[serde(flatten)]
        tip: TipView = TipView::new(tip, currency),
        /// Id of the guest.
        #[id(example = 8)]
        guest_id: i64 = tip.guest.get(),
        /// The platform's part of the amount, in major units.
        #[decimal(example = 0.50)]
        commission: Number = Number::money(currency, tip.commission),
    }
}

view! {
    /// A withdrawal with its reference.
    pub struct ExportedWithdrawalView as ExportedWithdrawal of (
        withdrawal: &withdrawal::Withdrawal,
        currency: &Currency,
    ) {
        /// The withdrawal.
        #[serde(flatten)]
        withdrawal: WithdrawalView = WithdrawalView::new(withdrawal, currency),
        /// Reference at the payout provider.
        #[schema(example = "019aa6e0-7b42-7c55-8f0d-1a2b3c4d5e6f")]
        reference: String = withdrawal.reference().to_string(),
    }
}

view! {
    /// A wallet entry with the reason that the statement omits.
    pub struct ExportedWalletEntryView as ExportedWalletEntry of (
        entry: &ledger::Entry,
        reason: &Option<Line>,
        currency: &Currency,
    ) {
        /// The entry.
        #[serde(flatten)]
        entry: WalletEntryView = WalletEntryView::new(entry, currency),
        /// Reason given by an operator or a provider; null if there is none.
        #[schema(example = "A song was charged twice.")]
        reason: Option<String> = text(reason),
    }
}

view! {
    /// A change of the profile or the user's status, or an operation of an operator or a provider with a reason.
    pub struct OperationView as Operation of (note: &OperationNote, currency: &Currency) {
        /// Id, a UUID.
        #[schema(example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
        id: String = uuid::Uuid::from_u128(note.id.0).to_string(),
        /// Kind of the operation.
        #[schema(value_type = names::OperationKind)]
        kind: String = note.kind.clone(),
        /// Actor.
        #[schema(value_type = names::ActedBy)]
        acted_by: &'static str = note.acted_by.name(),
        /// Reason; null where none is required.
        #[schema(example = "A song was charged twice.")]
        reason: Option<String> = text(&note.reason),
        /// Object of the operation; null for the user.
        reference: Option<ObjectReferenceView> = note.reference.map(ObjectReferenceView::new),
        /// Profile after the operation, with the available balance of that time; null for other operations, and after
        /// seven days.
        profile: Option<UserView> = note
            .profile
            .as_ref()
            .map(|(user, balance)| UserView::new(user, balance.available, currency)),
        /// Time of the operation.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(note.at),
    }
}

view! {
    /// A webhook endpoint with the feed that it receives.
    pub struct ExportedWebhookEndpointView as ExportedWebhookEndpoint of (endpoint: &WebhookEndpoint) {
        /// The endpoint.
        #[serde(flatten)]
        endpoint: WebhookEndpointView = WebhookEndpointView::new(endpoint),
        /// Events that it receives: the user's own, or all.
        #[schema(value_type = names::EventFeed, example = "own")]
        feed: &'static str = endpoint.feed.name(),
    }
}

view! {
    /// A DJ who blocks the user.
    pub struct BlockedByView as BlockedBy of (dj: UserId, at: Timestamp) {
        /// Id of the DJ.
        #[id(example = 7)]
        dj_id: i64 = dj.get(),
        /// Time of the block.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(at),
    }
}

fn text(line: &Option<Line>) -> Option<String> {
    line.as_ref().map(|line| line.as_str().to_owned())
}

/// A record of a list as JSON; `current` is the session of the export.
///
/// # Errors
/// When serialization fails.
pub fn row(record: &ExportRecord, current: SessionId, currency: &Currency) -> serde_json::Result<Vec<u8>> {
    use serde_json::to_vec;
    match record {
        ExportRecord::Session(session, ended_at) => {
            to_vec(&ExportedSessionView::new(session, *ended_at, current))
        }
        ExportRecord::PersonalToken(token, ended_at) => {
            to_vec(&ExportedPersonalTokenView::new(token, *ended_at))
        }
        ExportRecord::Network(_, known) => to_vec(&LoginNetworkView::new(known)),
        ExportRecord::Challenge(challenge) => to_vec(&ChallengeView::new(challenge)),
        ExportRecord::Request(request) => to_vec(&MusicRequestView::new(request, currency)),
        ExportRecord::RequestMade(request, message) => {
            to_vec(&ExportedRequestView::new(request, message.as_ref(), currency))
        }
        ExportRecord::Gig(gig) => to_vec(&GigDetailsView::new(gig)),
        ExportRecord::Tip(tip) => to_vec(&ExportedTipView::new(tip, currency)),
        ExportRecord::Rating(rating, _) => to_vec(&RatingView::new(rating)),
        ExportRecord::Withdrawal(withdrawal) => to_vec(&ExportedWithdrawalView::new(withdrawal, currency)),
        ExportRecord::Topup(topup) => to_vec(&ExportedTopupView::new(topup, currency)),
        ExportRecord::Entry(entry, reason) => to_vec(&ExportedWalletEntryView::new(entry, reason, currency)),
        ExportRecord::Operation(note) => to_vec(&OperationView::new(note, currency)),
        ExportRecord::ProviderMessage(message) => to_vec(&ExportedProviderMessageView::new(message)),
        ExportRecord::WebhookEndpoint(endpoint) => to_vec(&ExportedWebhookEndpointView::new(endpoint)),
        ExportRecord::Block(block) => to_vec(&BlockedGuestView::new(block)),
        ExportRecord::BlockedBy { dj, at } => to_vec(&BlockedByView::new(*dj, *at)),
        ExportRecord::Event(number, event) => to_vec(&SecurityEventView::new(*number, event)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cuepoint_domain::privacy::personal_data::ExportList;
    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn the_export_schema_describes_every_exported_list() {
        let described = serde_json::to_value(PersonalDataExportView::schema()).unwrap();
        let described: BTreeSet<_> = described["properties"].as_object().unwrap().keys().cloned().collect();
        let named = ExportList::all().map(|list| list.name().to_owned());
        assert_eq!(
            described,
            named.into_iter().chain(["user", "account", "wallet"].map(str::to_owned)).collect()
        );
    }
}
