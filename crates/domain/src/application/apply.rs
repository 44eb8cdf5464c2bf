//! The only way of a plan to the ledger: it is applied, and its effects are performed.

use std::sync::Arc;

use futures_channel::oneshot;

use crate::application::jobs::Expiry;
use crate::application::{Effects, Environment};
use crate::ids::UserId;
use crate::ledger::{Plan, Rejection};
use crate::ports::{Applied, ApplyError, Deadline, Unavailable};

/// Applies a plan of a background job or of a provider's message, and performs its effects.
///
/// # Errors
/// [`ApplyError`].
pub(super) async fn apply(env: &Arc<Environment>, plan: Plan) -> Result<Applied, ApplyError> {
    submit(env, plan, None).await
}

/// Applies a plan of a command, and performs its effects; it waits for these until the deadline. If the plan
/// is short of funds, the payer's own overdue fees are released, and it is applied once more, even if another
/// server released them in the meantime.
///
/// # Errors
/// [`ApplyError`].
pub(super) async fn apply_command(
    env: &Arc<Environment>,
    plan: Plan,
    payer: Option<UserId>,
    deadline: Deadline,
) -> Result<Applied, ApplyError> {
    let Some(payer) = payer else { return submit(env, plan, Some(deadline)).await };
    match submit(env, plan.clone(), Some(deadline)).await {
        Err(ApplyError::Rejected(Rejection::InsufficientFunds { .. })) => {
            Expiry { env }.settle_own(payer).await?;
            submit(env, plan, Some(deadline)).await
        }
        applied => applied,
    }
}

/// Submits a plan to the ledger, which applies it even if this future is dropped. A plan with effects is
/// submitted by a task of its own, so that its effects follow even then; a plan without needs no task.
async fn submit(
    env: &Arc<Environment>,
    plan: Plan,
    deadline: Option<Deadline>,
) -> Result<Applied, ApplyError> {
    let effects = Effects::of(&plan);
    if effects.is_empty() {
        return env.ledger.apply(plan).await;
    }
    let (sender, receiver) = oneshot::channel();
    let task_env = env.clone();
    env.tasks.spawn(Box::pin(async move {
        let applied = task_env.ledger.apply(plan).await;
        if applied.is_ok() {
            effects.perform(&task_env, deadline).await;
        }
        // The receiver is gone if the caller dropped its future.
        drop(sender.send(applied));
    }));
    receiver.await.unwrap_or_else(|oneshot::Canceled| {
        Err(ApplyError::Unavailable(Unavailable::new("the service stopped while a plan was applied")))
    })
}
