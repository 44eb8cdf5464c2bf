//! Effects: work after a commit, performed by the executor so that no use case can omit it.

use crate::ports::{Deadline, Job, JobQueue, Revocations};

/// The effects of a change, in order of execution: revocations, then jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    revocations_changed: bool,
    jobs: Vec<Job>,
}

impl Effects {
    /// The effects of a change of sessions, roles or suspensions.
    pub(super) fn of_revocation() -> Self {
        Self { revocations_changed: true, ..Self::default() }
    }

    /// Requests a refresh of the revocation list, so that this server refuses the revoked tokens before it
    /// answers.
    pub(super) fn revocations_changed(&mut self) {
        self.revocations_changed = true;
    }

    /// Adds a background job.
    pub(super) fn enqueue(&mut self, job: Job) {
        self.jobs.push(job);
    }

    /// Performs the effects. A failure undoes nothing, since the change is committed; the adapters log it.
    pub(super) async fn carry_out(
        self,
        revocations: &dyn Revocations,
        jobs: &dyn JobQueue,
        deadline: Deadline,
    ) {
        if self.revocations_changed {
            revocations.refresh(deadline).await;
        }
        for job in self.jobs {
            drop(jobs.enqueue(job));
        }
    }
}
