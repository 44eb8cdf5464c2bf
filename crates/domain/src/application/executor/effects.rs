//! Effects: work after a commit. Those of a plan follow from the plan, so that no use case can omit them;
//! other changes name theirs to [`Executor::perform`](super::Executor).

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::select;

use crate::application::environment::Environment;
use crate::application::executor::run_to_completion;
use crate::entity_ref::EntityRef;
use crate::operation::{Actor, Plan, PlanKind, Step, UserChange};
use crate::ports::{Deadline, Job};

/// The effects of a change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::application) struct Effects {
    revocations_changed: bool,
    jobs: Vec<Job>,
}

impl Effects {
    /// The effects of an applied plan. They are the same if the ledger replayed it; a command that is replayed
    /// by its key submits no plan.
    pub(in crate::application) fn of(plan: &Plan) -> Self {
        let revocations_changed = match plan.step() {
            Step::ChangeUser { change: UserChange::Status(_), .. } => true,
            Step::ChangeUser { change: UserChange::Profile(change), .. } => change.is_dj.is_set(),
            Step::Unchanged(_) | Step::Open(_) | Step::Move { .. } | Step::Judge(_) => false,
        };
        let jobs = match (plan.kind(), plan.reference()) {
            // The job that ends gigs for the service rejects their requests itself.
            (PlanKind::EndGig, EntityRef::Gig(gig)) if plan.metadata().actor != Actor::System => {
                vec![Job::ReleaseGig(gig)]
            }
            _ => Vec::new(),
        };
        Self { revocations_changed, jobs }
    }

    /// Whether there is nothing to do.
    pub(in crate::application) const fn is_empty(&self) -> bool {
        !self.revocations_changed && self.jobs.is_empty()
    }

    /// Requests a refresh of the revocation list, so that this server refuses the revoked tokens before it
    /// answers.
    pub(in crate::application) const fn revocations_changed(&mut self) {
        self.revocations_changed = true;
    }

    /// Adds a background job.
    pub(in crate::application) fn enqueue(&mut self, job: Job) {
        self.jobs.push(job);
    }

    /// Performs the effects. The refresh of the revocation list is a task of its own, for which the caller
    /// waits until the deadline: it runs to its end even then. A failure undoes nothing, since the change is
    /// committed; the adapters log it.
    pub(in crate::application) async fn perform(self, env: &Arc<Environment>, deadline: Option<Deadline>) {
        for job in self.jobs {
            drop(env.ports.jobs.enqueue(job));
        }
        if !self.revocations_changed {
            return;
        }
        let revocations = env.ports.revocations.clone();
        let refreshed =
            pin!(run_to_completion(&*env.ports.tasks, async move { revocations.refresh().await }));
        match deadline {
            None => drop(refreshed.await),
            Some(deadline) => drop(select(refreshed, env.ports.timer.sleep_until(deadline)).await),
        }
    }
}
