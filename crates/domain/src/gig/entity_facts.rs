//! A gig as an entity of plans, and its record in receipts.

use crate::entity_facts::{EntityFacts, described};
use crate::gig::{Gig, GigRecord, GigStatus};
use crate::ids::UserId;

impl EntityFacts for Gig {
    /// None, because no plan about a gig moves money.
    fn owner(&self) -> Option<UserId> {
        None
    }

    fn dj(&self) -> Option<UserId> {
        Some(self.dj)
    }

    fn shows_balance(&self) -> bool {
        false
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        self == loaded
    }

    fn transition(&self, after: &Self) -> String {
        let status = |gig: &Self| if gig.ended_at.is_some() { GigStatus::Ended } else { GigStatus::Open };
        described("gig", self.id.get(), status(self).name(), status(after).name())
    }

    fn is_recorded_as(&self, _then: &Self, _whole: bool, _opens: bool) -> bool {
        false
    }
}

impl EntityFacts for GigRecord {
    fn owner(&self) -> Option<UserId> {
        None
    }

    fn dj(&self) -> Option<UserId> {
        Some(self.dj)
    }

    fn shows_balance(&self) -> bool {
        false
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        self == loaded
    }

    fn is_recorded_as(&self, then: &Self, _whole: bool, _opens: bool) -> bool {
        self == then
    }
}
