//! A top-up as an entity of plans and receipts.

use crate::entity_facts::{EntityFacts, described, is_column_recorded};
use crate::ids::{OperationId, UserId};
use crate::ledger::Transfer;
use crate::topup::{Suspense, Topup, TopupStatus, history};
use crate::unknown::UnknownName;

impl Topup {
    /// The top-up as recorded by the operation that led to its current state, or otherwise as by the one before,
    /// except for fields that only that record knows.
    fn recorded_as(&self, then: &Self, whole: bool) -> Self {
        let Self { status, updated_at, suspense, .. } = self.clone();
        let (status, updated_at) = match status {
            TopupStatus::Reversed if !whole => (TopupStatus::Confirmed, then.updated_at),
            status => (status, updated_at),
        };
        let suspense = if whole { suspense } else { suspense.as_ref().map(Suspense::unsettled) };
        Self { status, updated_at, suspense, ..self.clone() }
    }
}

impl EntityFacts for Topup {
    fn owner(&self) -> Option<UserId> {
        Some(self.user)
    }

    fn shows_balance(&self) -> bool {
        false
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        (self.status, self.orders, &self.payment_url, &self.suspense)
            == (loaded.status, loaded.orders, &loaded.payment_url, &loaded.suspense)
    }

    fn transition(&self, after: &Self) -> String {
        if self.suspense != after.suspense {
            return described("top-up", self.id.get(), "suspense", "settled");
        }
        described("top-up", self.id.get(), self.status.name(), after.status.name())
    }

    fn unknown_status(&self) -> Option<UnknownName> {
        match self.status {
            TopupStatus::Unknown(status) => Some(status),
            _ => None,
        }
    }

    fn history(&self) -> Option<Vec<Vec<Transfer>>> {
        history(self)
    }

    fn operations_without_entries(&self) -> Vec<OperationId> {
        self.suspense.iter().flat_map(Suspense::operations).collect()
    }

    fn is_opening(&self, operation: OperationId, _place: usize) -> bool {
        self.opening == Some(operation)
    }

    fn is_recorded_as(&self, then: &Self, whole: bool, opens: bool) -> bool {
        let (opening, orders, page_code) = (then.opening, then.orders, then.page_code);
        is_column_recorded(self.opening, opening, opens)
            && is_column_recorded(self.orders, orders, opens)
            && is_column_recorded(self.page_code, page_code, opens)
            && Self { opening, orders, page_code, ..self.recorded_as(then, whole) } == *then
    }
}
