//! A withdrawal as an entity of plans and receipts.

use crate::entity_facts::{EntityFacts, described, is_column_recorded};
use crate::ids::{OperationId, UserId};
use crate::ledger::Transfer;
use crate::unknown::UnknownName;
use crate::withdrawal::{Withdrawal, WithdrawalState, history};

impl Withdrawal {
    /// Whether the two images agree in all fields that no move changes.
    pub(crate) fn is_same_but_for_its_state(&self, then: &Self) -> bool {
        let (state, updated_at, opening) = (then.state.clone(), then.updated_at, then.opening);
        is_column_recorded(self.opening, opening, false)
            && Self { state, updated_at, opening, approvals: then.approvals.clone(), ..self.clone() } == *then
    }
}

impl EntityFacts for Withdrawal {
    fn owner(&self) -> Option<UserId> {
        Some(self.user)
    }

    fn shows_balance(&self) -> bool {
        true
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        (&self.state, &self.approvals, self.updated_at)
            == (&loaded.state, &loaded.approvals, loaded.updated_at)
    }

    fn transition(&self, after: &Self) -> String {
        let (from, to) = (self.state.status(), after.state.status());
        if from == to {
            return format!("withdrawal {} still {}", self.id, from.name());
        }
        described("withdrawal", self.id.get(), from.name(), to.name())
    }

    fn unknown_status(&self) -> Option<UnknownName> {
        match self.state {
            WithdrawalState::Unknown { status, .. } => Some(status),
            _ => None,
        }
    }

    fn history(&self) -> Option<Vec<Vec<Transfer>>> {
        Some(history(self))
    }

    fn is_where_its_money_is(&self) -> bool {
        matches!(
            self.state,
            WithdrawalState::Completed { .. }
                | WithdrawalState::Cancelled
                | WithdrawalState::Rejected
                | WithdrawalState::Failed { .. }
        )
    }

    fn is_opening(&self, _operation: OperationId, place: usize) -> bool {
        place == 0
    }

    fn is_recorded_as(&self, then: &Self, whole: bool, opens: bool) -> bool {
        is_column_recorded(self.opening, then.opening, opens)
            && (!whole || (&self.state, self.updated_at) == (&then.state, then.updated_at))
            && self.is_same_but_for_its_state(then)
    }
}
