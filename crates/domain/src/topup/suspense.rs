//! Money that comes for a top-up whose owner was erased: it waits outside the wallets until an operator has dealt with it.

use super::{Topup, TopupStatus};
use crate::ids::{OperationId, UserId};
use crate::ledger::{Account, Origin, OutsideAccount, Transfer, TransferKind};
use crate::text::Line;
use crate::timestamp::Timestamp;

/// Money that came for a failed top-up after its owner was erased.
///
/// No wallet has an entry of it: the ledger audit finds its postings by these operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suspense {
    /// The operation that booked the money.
    pub operation: OperationId,
    /// When the money came.
    pub arrived_at: Timestamp,
    /// How an operator dealt with it; `None` while it waits.
    pub settlement: Option<SuspenseSettlement>,
}

/// How an operator dealt with money in suspense: it was given back outside, or a use was found for it there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuspenseSettlement {
    /// The operation that took the money out of suspense.
    pub operation: OperationId,
    /// When; never before the money came.
    pub at: Timestamp,
    /// The operator.
    pub by: UserId,
    /// What was done with the money.
    pub reason: Line,
}

/// Why money is not taken out of suspense.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuspenseRefusal {
    /// No money came for this top-up after its owner was erased.
    NothingThere,
    /// It was dealt with already.
    AlreadySettled,
}

impl Suspense {
    /// The operations that moved the money, in their order.
    pub(crate) fn operations(&self) -> impl Iterator<Item = OperationId> {
        [Some(self.operation), self.settlement.as_ref().map(|settlement| settlement.operation)]
            .into_iter()
            .flatten()
    }

    /// The same before an operator dealt with it.
    pub(crate) fn unsettled(&self) -> Self {
        Self { settlement: None, ..self.clone() }
    }
}

/// The effect of a confirmation for a top-up whose owner was erased: the money goes into suspense, once. `None` if it
/// is there already, or came before the erasure.
#[must_use]
pub fn suspend(topup: &Topup, origin: &Origin) -> Option<(Suspense, Transfer)> {
    let waits = matches!(topup.status, TopupStatus::Pending | TopupStatus::Failed);
    (waits && topup.suspense.is_none()).then(|| {
        let suspense = Suspense { operation: origin.operation, arrived_at: origin.at, settlement: None };
        (suspense, arrival(topup))
    })
}

/// Takes the money out of suspense again: this operator has dealt with it, for this reason.
///
/// # Errors
/// [`SuspenseRefusal`].
pub fn settle_suspense(
    topup: &Topup,
    origin: &Origin,
    by: UserId,
    reason: Line,
) -> Result<(Suspense, Transfer), SuspenseRefusal> {
    let suspense = topup.suspense.as_ref().ok_or(SuspenseRefusal::NothingThere)?;
    if suspense.settlement.is_some() {
        return Err(SuspenseRefusal::AlreadySettled);
    }
    let at = origin.at.max(suspense.arrived_at);
    let settlement = Some(SuspenseSettlement { operation: origin.operation, at, by, reason });
    Ok((Suspense { settlement, ..suspense.clone() }, departure(topup)))
}

/// The transfers of the operations that moved the money, in their order.
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
