//! All that is kept about a person, as they take it out.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::personal_data::Record;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::operations::views::{
    Account, Block, BlockedBy, Challenge, ContradictingMessage, ExportedEntry, ExportedSession,
    ExportedWithdrawal, LoginNetwork, MusicRequest, Operation, SecurityEvent, Topup, User, Wallet,
};

/// All that is kept about a person, each list whole and newest first.
#[derive(Serialize, ToSchema)]
pub struct PersonalData {
    /// The person.
    pub user: User,
    /// What is kept about the account beside that.
    pub account: Account,
    /// What is in the wallet.
    pub wallet: Wallet,
    /// Where they are logged in, and where they were within the last two days.
    pub sessions: Vec<ExportedSession>,
    /// The networks from which they were logged in within the last 30 days.
    pub networks: Vec<LoginNetwork>,
    /// The codes and tokens that they were sent within the last day.
    pub challenges: Vec<Challenge>,
    /// The requests that they made.
    pub requests_made: Vec<MusicRequest<'static>>,
    /// The requests addressed to them.
    pub requests_received: Vec<MusicRequest<'static>>,
    /// Their withdrawals.
    pub withdrawals: Vec<ExportedWithdrawal>,
    /// Their top-ups.
    pub topups: Vec<Topup>,
    /// Their wallet's entries.
    pub wallet_entries: Vec<ExportedEntry>,
    /// What changed the profile and the account, and what operators did about them with a reason.
    pub operations: Vec<Operation>,
    /// The messages of providers about their money that contradict the ledger.
    pub provider_messages: Vec<ContradictingMessage>,
    /// Whom they take no requests from.
    pub blocks: Vec<Block>,
    /// Who takes no requests from them.
    pub blocked_by: Vec<BlockedBy>,
    /// What the security log has about them.
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

    use cuepoint_domain::personal_data::Part;
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
