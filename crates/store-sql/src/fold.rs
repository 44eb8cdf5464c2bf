//! A group of plans, applied one after the other.

use std::collections::HashSet;

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::ledger::{self, Book, KeyScope, Plan, Receipt, Rejection, Verdict};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Applied;

use crate::rows::Corrupt;
use crate::write_set::WriteSet;

/// What a group of plans came to.
#[derive(Debug, Default)]
pub struct Folded {
    /// The answer to each plan, in their order.
    pub answers: Vec<Result<Applied, Rejection>>,
    /// The changes of all plans that were applied now.
    pub writes: WriteSet,
}

/// Applies plans to a book one after the other: each sees what those before it changed, and a rejection
/// changes nothing.
///
/// `own` are operations that an earlier attempt of the same call may have applied, its answer to the commit
/// lost: a plan that is found to be applied under such an operation is fresh to its caller. Those are taken
/// out of `own`.
///
/// # Errors
/// [`Corrupt`] where a receipt has no JSON form.
pub fn fold(
    book: &mut Book,
    plans: &[&Plan],
    own: &mut HashSet<OperationId>,
    currency: &Currency,
) -> Result<Folded, Corrupt> {
    let mut stored_keys: HashSet<KeyScope> = book.keys.keys().copied().collect();
    let mut folded = Folded { answers: Vec::with_capacity(plans.len()), writes: WriteSet::default() };
    for plan in plans {
        folded.answers.push(match ledger::apply(book, plan) {
            Ok(Verdict::Fresh(receipt, changes)) => {
                let scope = changes.key.as_ref().map(|record| record.key.scope);
                folded.writes.add(&changes, scope.filter(|scope| stored_keys.remove(scope)), currency)?;
                Ok(Applied::Fresh(receipt))
            }
            Ok(Verdict::Replayed(receipt)) => Ok(replayed(receipt, plan, own)),
            Err(rejection) => Err(rejection),
        });
    }
    Ok(folded)
}

/// The answer to a plan that was applied before: fresh to its caller where an earlier attempt of the same
/// call applied it.
fn replayed(receipt: Receipt, plan: &Plan, own: &mut HashSet<OperationId>) -> Applied {
    let operation = plan.origin().operation;
    // Taken out, so that the same plan a second time in one group is a replay.
    if receipt.operation == operation && own.remove(&operation) {
        Applied::Fresh(receipt)
    } else {
        Applied::Replayed(receipt)
    }
}
