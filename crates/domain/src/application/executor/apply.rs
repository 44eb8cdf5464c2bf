//! The only path of a plan to the ledger: the plan is applied, and its effects are performed.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::executor::{Effects, run_to_completion};
use crate::operation::Plan;
use crate::ports::{Applied, ApplyError, Deadline, Unavailable};

/// Applies a plan, and performs its effects; waits for these until the deadline, if there is one.
///
/// The ledger applies a submitted plan even if this future is dropped. A plan with effects is submitted by a
/// task of its own, so that its effects follow even then; a plan without effects is applied directly.
///
/// # Errors
/// [`ApplyError`].
pub(in crate::application) async fn apply(
    env: &Arc<Environment>,
    plan: Plan,
    deadline: Option<Deadline>,
) -> Result<Applied, ApplyError> {
    let effects = Effects::of(&plan);
    if effects.is_empty() {
        return env.ledger.apply(plan).await;
    }
    let task_env = env.clone();
    let applied = run_to_completion(&*env.ports.tasks, async move {
        let applied = task_env.ledger.apply(plan).await;
        if applied.is_ok() {
            effects.perform(&task_env, deadline).await;
        }
        applied
    });
    applied.await.unwrap_or_else(|| {
        Err(ApplyError::Unavailable(Unavailable::new("the service stopped while a plan was applied")))
    })
}
