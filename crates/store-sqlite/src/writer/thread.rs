//! The writer's thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use cuepoint_domain::operation::Plan;
use cuepoint_domain::ports::ApplyError;
use cuepoint_store_sql::answers::{answer_all, failed};
use cuepoint_store_sql::crash_points::{self, CrashPoint};
use cuepoint_store_sql::limits::{GROUP, WAIT};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::group::{SqliteCommitter, Verdicts, has_applied};
use super::job::{ChangeJob, PlanJob, WriterJob};
use super::readiness::WriterReadiness;
use crate::connect::failure::SqliteFailure;
use crate::telemetry;

/// The time without changes after which the rest of the write-ahead log is copied, and then emptied.
const IDLE_AFTER: Duration = Duration::from_secs(2);

/// Commits groups until the queue is closed and empty. The runtime only waits.
pub(super) fn run(
    mut waiting: mpsc::Receiver<WriterJob>,
    mut committer: SqliteCommitter,
    readiness: &WriterReadiness,
    runtime: &Runtime,
) {
    let mut jobs = Vec::new();
    loop {
        let received = if committer.database.is_idle_work_due() {
            runtime.block_on(async { timeout(IDLE_AFTER, waiting.recv_many(&mut jobs, GROUP)).await })
        } else {
            Ok(waiting.blocking_recv_many(&mut jobs, GROUP))
        };
        match received {
            Ok(0) => break,
            Ok(_) => {
                telemetry::queue_depth(waiting.len());
                commit(&mut committer, std::mem::take(&mut jobs), readiness);
                committer.database.after_group();
            }
            Err(_) => committer.database.idle(),
        }
    }
    committer.database.close();
}

/// Commits a group and answers its jobs.
fn commit(committer: &mut SqliteCommitter, group: Vec<WriterJob>, readiness: &WriterReadiness) {
    let (jobs, mut changes) = in_time(group);
    if jobs.is_empty() && changes.is_empty() {
        return;
    }
    let plans: Vec<&Plan> = jobs.iter().map(|job| &job.plan).collect();
    let done = commit_caught(committer, &plans, &mut changes);
    match &done {
        Ok(verdicts) if has_applied(verdicts) => readiness.applied(),
        Ok(_) => {}
        Err(failure) => readiness.failed(failure.refuses_plans()),
    }
    crash_points::at(CrashPoint::BeforeAnswer, plans);
    match done {
        Ok(verdicts) => {
            let answers = verdicts.into_iter().map(|verdict| match verdict {
                Ok(answer) => answer.map_err(ApplyError::Rejected),
                Err(failure) => failed(failure.to_string()),
            });
            answer_all(jobs.into_iter().map(|job| job.caller).zip(answers));
            changes.into_iter().for_each(|change| change.answer(None));
        }
        Err(failure) => {
            tracing::error!(error = %failure, plans = jobs.len(), changes = changes.len(), "a group failed");
            let failure = failure.to_string();
            answer_all(jobs.into_iter().map(|job| (job.caller, failed(failure.as_str()))));
            changes.into_iter().for_each(|change| change.answer(Some(&failure)));
        }
    }
}

/// Commits a group; a panic fails this group alone.
fn commit_caught(
    committer: &mut SqliteCommitter,
    plans: &[&Plan],
    changes: &mut [Box<dyn ChangeJob>],
) -> Result<Verdicts, SqliteFailure> {
    let done = catch_unwind(AssertUnwindSafe(|| committer.commit(plans, changes)));
    done.unwrap_or_else(|_| {
        committer.database.discard(&SqliteFailure::Panicked);
        Err(SqliteFailure::Panicked)
    })
}

/// The plans and changes of a group; those that waited too long are answered, and not applied.
fn in_time(group: Vec<WriterJob>) -> (Vec<PlanJob>, Vec<Box<dyn ChangeJob>>) {
    let (mut jobs, mut changes): (Vec<PlanJob>, Vec<Box<dyn ChangeJob>>) = (Vec::new(), Vec::new());
    for job in group {
        match job {
            WriterJob::Plan(job) if job.submitted.elapsed() < WAIT => jobs.push(*job),
            WriterJob::Plan(job) => {
                job.caller.answer(failed("the plan waited too long and was not applied"));
            }
            WriterJob::Change(_, change) if change.is_abandoned() => {}
            WriterJob::Change(submitted, change) if submitted.elapsed() < WAIT => changes.push(change),
            WriterJob::Change(_, change) => {
                change.answer(Some("the change waited too long and was not applied"));
            }
        }
    }
    (jobs, changes)
}
