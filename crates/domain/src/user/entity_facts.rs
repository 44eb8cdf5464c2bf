//! A user as an entity of plans and receipts.

use crate::entity_facts::EntityFacts;
use crate::ids::UserId;
use crate::user::User;

impl EntityFacts for User {
    fn owner(&self) -> Option<UserId> {
        Some(self.id)
    }

    fn shows_balance(&self) -> bool {
        true
    }

    fn is_present(&self) -> bool {
        Self::is_present(self)
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        self == loaded
    }

    fn is_recorded_as(&self, _then: &Self, _whole: bool, _opens: bool) -> bool {
        false
    }
}
