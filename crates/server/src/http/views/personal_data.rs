//! All that is kept about a person, as they take it out.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::service::{Kept, Part};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::views::{
    ActiveSession, Block, Entry, LoginNetwork, MusicRequest, SecurityEvent, Topup, User, Withdrawal,
};

/// All that is kept about a person, each list whole and newest first.
#[derive(Serialize, ToSchema)]
pub struct PersonalData {
    /// The person.
    pub user: User,
    /// Where they are logged in.
    pub sessions: Vec<ActiveSession>,
    /// The networks from which they were logged in within the last 30 days.
    pub networks: Vec<LoginNetwork>,
    /// The requests that they made.
    pub requests_made: Vec<MusicRequest<'static>>,
    /// The requests addressed to them.
    pub requests_received: Vec<MusicRequest<'static>>,
    /// Their withdrawals.
    pub withdrawals: Vec<Withdrawal>,
    /// Their top-ups.
    pub topups: Vec<Topup>,
    /// Their wallet's entries.
    pub wallet_entries: Vec<Entry>,
    /// Whom they take no requests from.
    pub blocks: Vec<Block>,
    /// What the security log has about them.
    pub security_events: Vec<SecurityEvent>,
}

/// The key of a list.
#[must_use]
pub const fn part_name(part: Part) -> &'static str {
    match part {
        Part::Sessions => "sessions",
        Part::Networks => "networks",
        Part::RequestsMade => "requests_made",
        Part::RequestsReceived => "requests_received",
        Part::Withdrawals => "withdrawals",
        Part::Topups => "topups",
        Part::Entries => "wallet_entries",
        Part::Blocks => "blocks",
        Part::Events => "security_events",
    }
}

/// A row of a list, as JSON; `current` is the session in which it is asked for.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn row(kept: &Kept, current: SessionId, currency: &Currency) -> serde_json::Result<Vec<u8>> {
    match kept {
        Kept::Session(session) => serde_json::to_vec(&ActiveSession::new(session, current)),
        Kept::Network(_, known) => serde_json::to_vec(&LoginNetwork::new(known)),
        Kept::Request(request) => serde_json::to_vec(&MusicRequest::new(request, currency)),
        Kept::Withdrawal(withdrawal) => serde_json::to_vec(&Withdrawal::new(withdrawal, currency)),
        Kept::Topup(topup) => serde_json::to_vec(&Topup::new(topup, currency)),
        Kept::Entry(entry) => serde_json::to_vec(&Entry::new(entry, currency)),
        Kept::Block(block) => serde_json::to_vec(&Block::new(block)),
        Kept::Event(number, event) => serde_json::to_vec(&SecurityEvent::new(*number, event)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use utoipa::PartialSchema as _;

    use super::*;

    #[test]
    fn every_list_that_is_taken_out_is_described() {
        let described = serde_json::to_value(PersonalData::schema()).unwrap();
        let described: BTreeSet<_> = described["properties"].as_object().unwrap().keys().cloned().collect();
        let named = Part::ALL.map(|part| part_name(part).to_owned());
        assert_eq!(described, named.into_iter().chain(["user".to_owned()]).collect());
    }
}
