//! The export of personal data.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::privacy::personal_data::Record;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::operations::views::{
    AccountView, BlockView, BlockedByView, ChallengeView, ContradictingMessageView, ExportedEntryView,
    ExportedSessionView, ExportedWebhookEndpointView, ExportedWithdrawalView, LoginNetworkView,
    MusicRequestView, OperationView, RatingView, SecurityEventView, TopupView, UserView, WalletView,
};

/// All data stored about an account; each list is complete, newest first.
#[derive(Serialize, ToSchema)]
#[schema(as = PersonalData)]
pub struct PersonalDataView {
    /// The profile.
    pub user: UserView,
    /// Data of the account beside its profile.
    pub account: AccountView,
    /// The balance.
    pub wallet: WalletView,
    /// Sessions that are active or ended within the last two days.
    pub sessions: Vec<ExportedSessionView>,
    /// Networks of logins within the last 30 days.
    pub networks: Vec<LoginNetworkView>,
    /// Codes and tokens sent within the last day.
    pub challenges: Vec<ChallengeView>,
    /// Requests that the account has made.
    pub requests_made: Vec<MusicRequestView<'static>>,
    /// Requests that the account has received.
    pub requests_received: Vec<MusicRequestView<'static>>,
    /// Ratings that the account has given.
    pub ratings: Vec<RatingView>,
    /// Withdrawals.
    pub withdrawals: Vec<ExportedWithdrawalView>,
    /// Top-ups.
    pub topups: Vec<TopupView>,
    /// Entries of the wallet.
    pub wallet_entries: Vec<ExportedEntryView>,
    /// Changes of the profile and account, and operations of operators with a reason.
    pub operations: Vec<OperationView>,
    /// Provider messages about the account's money that contradict the ledger.
    pub provider_messages: Vec<ContradictingMessageView>,
    /// Webhook endpoints of the account.
    pub webhook_endpoints: Vec<ExportedWebhookEndpointView>,
    /// Guests whom the account has blocked.
    pub blocks: Vec<BlockView>,
    /// DJs who have blocked the account.
    pub blocked_by: Vec<BlockedByView>,
    /// Events of the security log about the account.
    pub security_events: Vec<SecurityEventView>,
}

/// A record of a list as JSON; `current` is the session of the export.
///
/// # Errors
/// When serialization fails.
pub fn row(record: &Record, current: SessionId, currency: &Currency) -> serde_json::Result<Vec<u8>> {
    use serde_json::to_vec;
    match record {
        Record::Session(session, ended_at) => to_vec(&ExportedSessionView::new(session, *ended_at, current)),
        Record::Network(_, known) => to_vec(&LoginNetworkView::new(known)),
        Record::Challenge(challenge) => to_vec(&ChallengeView::new(challenge)),
        Record::Request(request) => to_vec(&MusicRequestView::new(request, currency)),
        Record::Rating(rating, _) => to_vec(&RatingView::new(rating)),
        Record::Withdrawal(withdrawal) => to_vec(&ExportedWithdrawalView::new(withdrawal, currency)),
        Record::Topup(topup) => to_vec(&TopupView::new(topup, currency)),
        Record::Entry(entry, reason) => to_vec(&ExportedEntryView::new(entry, reason, currency)),
        Record::Operation(note) => to_vec(&OperationView::new(note, currency)),
        Record::ProviderMessage(message) => to_vec(&ContradictingMessageView::new(message)),
        Record::WebhookEndpoint(endpoint) => to_vec(&ExportedWebhookEndpointView::new(endpoint)),
        Record::Block(block) => to_vec(&BlockView::new(block)),
        Record::BlockedBy { dj, at } => to_vec(&BlockedByView::new(*dj, *at)),
        Record::Event(number, event) => to_vec(&SecurityEventView::new(*number, event)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cuepoint_domain::privacy::personal_data::Part;
    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn every_exported_list_is_described() {
        let described = serde_json::to_value(PersonalDataView::schema()).unwrap();
        let described: BTreeSet<_> = described["properties"].as_object().unwrap().keys().cloned().collect();
        let named = Part::all().map(|part| part.name().to_owned());
        assert_eq!(
            described,
            named.into_iter().chain(["user", "account", "wallet"].map(str::to_owned)).collect()
        );
    }
}
