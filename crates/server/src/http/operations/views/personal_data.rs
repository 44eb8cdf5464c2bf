//! All that is kept about a person, as they take it out.

use cuepoint_domain::account::personal_data::Record;
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::money::Currency;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::operations::views::{
    Account, Block, BlockedBy, Challenge, ContradictingMessage, ExportedEntry, ExportedSession,
    ExportedWithdrawal, LoginNetwork, MusicRequest, Operation, SecurityEvent, Topup, User, Wallet,
};

/// All data stored about an account; each list is complete, newest first.
#[derive(Serialize, ToSchema)]
pub struct PersonalData {
    /// The profile.
    pub user: User,
    /// Data of the account beside its profile.
    pub account: Account,
    /// The balance.
    pub wallet: Wallet,
    /// Sessions that are active or ended within the last two days.
    pub sessions: Vec<ExportedSession>,
    /// Networks of logins within the last 30 days.
    pub networks: Vec<LoginNetwork>,
    /// Codes and tokens that were sent within the last day.
    pub challenges: Vec<Challenge>,
    /// Requests that the account has made.
    pub requests_made: Vec<MusicRequest<'static>>,
    /// Requests that the account has received.
    pub requests_received: Vec<MusicRequest<'static>>,
    /// Withdrawals.
    pub withdrawals: Vec<ExportedWithdrawal>,
    /// Top-ups.
    pub topups: Vec<Topup>,
    /// Entries of the wallet.
    pub wallet_entries: Vec<ExportedEntry>,
    /// Changes of the profile and account, and operations of operators with a reason.
    pub operations: Vec<Operation>,
    /// Messages of providers about the account's money that contradict the ledger.
    pub provider_messages: Vec<ContradictingMessage>,
    /// Guests whom the account has blocked.
    pub blocks: Vec<Block>,
    /// DJs who have blocked the account.
    pub blocked_by: Vec<BlockedBy>,
    /// Events of the security log about the account.
    pub security_events: Vec<SecurityEvent>,
}

/// A record of a list, as JSON; `current` is the session in which it is asked for.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn row(record: &Record, current: SessionId, currency: &Currency) -> serde_json::Result<Vec<u8>> {
    use serde_json::to_vec;
    match record {
        Record::Session(session, ended_at) => to_vec(&ExportedSession::new(session, *ended_at, current)),
        Record::Network(_, known) => to_vec(&LoginNetwork::new(known)),
        Record::Challenge(challenge) => to_vec(&Challenge::new(challenge)),
        Record::Request(request) => to_vec(&MusicRequest::new(request, currency)),
        Record::Withdrawal(withdrawal) => to_vec(&ExportedWithdrawal::new(withdrawal, currency)),
        Record::Topup(topup) => to_vec(&Topup::new(topup, currency)),
        Record::Entry(entry, reason) => to_vec(&ExportedEntry::new(entry, reason, currency)),
        Record::Operation(note) => to_vec(&Operation::new(note, currency)),
        Record::ProviderMessage(message) => to_vec(&ContradictingMessage::new(message)),
        Record::Block(block) => to_vec(&Block::new(block)),
        Record::BlockedBy { dj, at } => to_vec(&BlockedBy::new(*dj, *at)),
        Record::Event(number, event) => to_vec(&SecurityEvent::new(*number, event)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cuepoint_domain::account::personal_data::Part;
    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn every_list_that_is_taken_out_is_described() {
        let described = serde_json::to_value(PersonalData::schema()).unwrap();
        let described: BTreeSet<_> = described["properties"].as_object().unwrap().keys().cloned().collect();
        let named = Part::all().map(|part| part.name().to_owned());
        assert_eq!(
            described,
            named.into_iter().chain(["user", "account", "wallet"].map(str::to_owned)).collect()
        );
    }
}
