//! A tip as an entity of plans and receipts.

use crate::entity_facts::EntityFacts;
use crate::ids::UserId;
use crate::ledger::Transfer;
use crate::tip::{Tip, transfers};

impl EntityFacts for Tip {
    fn owner(&self) -> Option<UserId> {
        Some(self.guest)
    }

    fn dj(&self) -> Option<UserId> {
        Some(self.dj)
    }

    fn shows_balance(&self) -> bool {
        true
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        self == loaded
    }

    fn history(&self) -> Option<Vec<Vec<Transfer>>> {
        transfers(self).map(|transfers| vec![transfers])
    }

    fn is_recorded_as(&self, then: &Self, _whole: bool, _opens: bool) -> bool {
        self == then
    }
}
