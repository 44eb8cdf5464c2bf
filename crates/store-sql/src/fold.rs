//! Application of a group of plans, one after the other.

use std::collections::HashSet;

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{self, Book, KeyScope, Plan, Receipt, Rejection, Verdict};
use cuepoint_domain::ports::Applied;

use crate::rows::Corrupt;
use crate::write_set::WriteSet;

/// The result of a group of plans.
#[derive(Debug, Default)]
pub struct Folded {
    /// The result of each plan, in their order.
    pub answers: Vec<Result<Applied, Rejection>>,
    /// The changes of all newly applied plans.
    pub writes: WriteSet,
}

/// Applies plans to a book one after the other: each sees the changes of those before it, and a rejection
/// changes nothing.
///
/// `own` are operations that an earlier attempt of the same call may have applied, with the reply to its
/// commit lost: a plan found applied under such an operation is fresh to its caller. Those are removed from
/// `own`.
///
/// # Errors
/// [`Corrupt`] if a receipt has no JSON form.
pub fn fold(
    book: &mut Book,
    plans: &[&Plan],
    own: &mut HashSet<OperationId>,
    currency: &Currency,
) -> Result<Folded, Corrupt> {
    let mut stored_keys: HashSet<KeyScope> = book.keys.keys().copied().collect();
    let mut folded = Folded { answers: Vec::with_capacity(plans.len()), writes: WriteSet::default() };
    for plan in plans {
        folded.answers.push(match operation::apply(book, plan) {
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

/// The result of a plan that was applied before: fresh to its caller if an earlier attempt of the same call
/// applied it.
fn replayed(receipt: Receipt, plan: &Plan, own: &mut HashSet<OperationId>) -> Applied {
    let operation = plan.metadata().operation;
    // Removed, so that a second occurrence of the same plan in a group is a replay.
    if receipt.operation == operation && own.remove(&operation) {
        Applied::Fresh(receipt)
    } else {
        Applied::Replayed(receipt)
    }
}
