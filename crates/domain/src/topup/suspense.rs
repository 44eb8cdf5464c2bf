//! Money that arrives for an erased user's top-up: it waits outside the wallets until an operator settles it.

use thiserror::Error;

use super::{Topup, TopupStatus};
use crate::ids::{OperationId, UserId};
use crate::ledger::{Account, OutsideAccount, Transfer, TransferKind};
use crate::text::Line;
use crate::timestamp::Timestamp;

/// Money that arrived for a failed top-up after its owner was erased.
///
/// No wallet has an entry for it: the ledger audit finds its postings by these operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suspense {
    /// The operation that booked the money.
    pub operation: OperationId,
    /// The time of arrival.
    pub arrived_at: Timestamp,
    /// The settlement by an operator; `None` while the money waits.
    pub settlement: Option<SuspenseSettlement>,
}

/// An operator's settlement of money in suspense: it was returned or used outside the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuspenseSettlement {
    /// The operation that took the money out of suspense.
    pub operation: OperationId,
    /// The time; never before the arrival of the money.
    pub at: Timestamp,
    /// The operator.
    pub by: UserId,
    /// The operator's explanation.
    pub reason: Line,
}

/// Why money is not taken out of suspense.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SuspenseRefusal {
    /// No money arrived for this top-up after its owner was erased.
    #[error("no money is in suspense")]
    NothingThere,
    #[error("the money is settled already")]
    AlreadySettled,
}

impl Suspense {
    /// The operations that moved the money, in order.
    pub(crate) fn operations(&self) -> impl Iterator<Item = OperationId> {
        [Some(self.operation), self.settlement.as_ref().map(|settlement| settlement.operation)]
            .into_iter()
            .flatten()
    }

    /// The same suspense before its settlement.
    pub(crate) fn unsettled(&self) -> Self {
        Self { settlement: None, ..self.clone() }
    }
}

/// Books a confirmation for an erased user's top-up: the money goes into suspense, once. `None` if it is
/// already there, or arrived before the erasure.
#[must_use]
pub fn suspend(topup: &Topup, operation: OperationId, at: Timestamp) -> Option<(Suspense, Transfer)> {
    let waits = matches!(topup.status, TopupStatus::Pending | TopupStatus::Failed);
    (waits && topup.suspense.is_none()).then(|| {
        let suspense = Suspense { operation, arrived_at: at, settlement: None };
        (suspense, arrival(topup))
    })
}

/// Takes the money out of suspense, settled by this operator for this reason.
///
/// # Errors
/// [`SuspenseRefusal`].
pub fn settle_suspense(
    topup: &Topup,
    operation: OperationId,
    at: Timestamp,
    by: UserId,
    reason: Line,
) -> Result<(Suspense, Transfer), SuspenseRefusal> {
    let suspense = topup.suspense.as_ref().ok_or(SuspenseRefusal::NothingThere)?;
    if suspense.settlement.is_some() {
        return Err(SuspenseRefusal::AlreadySettled);
    }
    let at = at.max(suspense.arrived_at);
    let settlement = Some(SuspenseSettlement { operation, at, by, reason });
    Ok((Suspense { settlement, ..suspense.clone() }, departure(topup)))
}

/// The transfers of the operations that moved the money, in order.
pub(super) fn history(topup: &Topup, suspense: &Suspense) -> Vec<Vec<Transfer>> {
    let settled = suspense.settlement.as_ref().map(|_| vec![departure(topup)]);
    [Some(vec![arrival(topup)]), settled].into_iter().flatten().collect()
}

fn arrival(topup: &Topup) -> Transfer {
    let (debit, credit) =
        (Account::Outside(OutsideAccount::Topups), Account::Outside(OutsideAccount::Suspense));
    Transfer { debit, credit, amount: topup.amount, kind: TransferKind::Topup }
}

fn departure(topup: &Topup) -> Transfer {
    let Transfer { debit, credit, amount, .. } = arrival(topup);
    Transfer { debit: credit, credit: debit, amount, kind: TransferKind::Chargeback }
}
