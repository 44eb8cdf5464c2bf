//! The part of a group before its writes: locks, reads, and the verdict of each plan.

use std::collections::HashSet;

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{Plan, Rejection};
use cuepoint_domain::ports::Applied;
use cuepoint_store_sql::crash_points::{self, CrashPoint};
use cuepoint_store_sql::{Folded, GroupLockSet, WriteSet, fold};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use futures_util::future::try_join4;
use tokio::sync::Notify;

use super::{load, proof};
use crate::connect::failure::DatabaseFailure;
use crate::connect::kept_plans;

/// The result of each plan of a group.
pub(super) type Answers = Vec<Result<Applied, Rejection>>;

/// What a group needs beside its plans.
#[derive(Clone, Copy)]
pub(super) struct GroupContext<'a> {
    /// Whether the plans of the connection's statements are made anew.
    pub(super) discards_plans: bool,
    pub(super) currency: &'a Currency,
    pub(super) feature_level: FeatureLevel,
    /// Notified when the database has replied to the locks and reads.
    pub(super) progress: &'a Notify,
}

/// A group with the verdict of each plan; nothing is written yet.
pub(super) struct DecidedGroup {
    pub(super) answers: Answers,
    pub(super) writes: WriteSet,
}

/// Begins a transaction, locks, reads and checks: everything before the writes.
///
/// The locks are pipelined after `BEGIN`, and the reads after the locks: the server executes the statements
/// of a connection in order, and each statement sees what was committed when it began. If one fails, so do
/// all after it.
///
/// With `prove`, something is written to the log even if no plan changes anything. A plan that is found
/// applied under its own operation, listed in `own`, was applied by an earlier attempt of this very call.
pub(super) async fn decide(
    connection: &AsyncPgConnection,
    plans: &[&Plan],
    prove: bool,
    own: &mut HashSet<OperationId>,
    GroupContext { discards_plans, currency, feature_level, progress }: GroupContext<'_>,
) -> Result<DecidedGroup, DatabaseFailure> {
    crash_points::at(CrashPoint::BeforeLock, plans.iter().copied());
    let set = GroupLockSet::of(plans.iter().copied());
    // One message, since the locks follow it before its reply.
    let begin_and_discard = discards_plans.then(|| format!("BEGIN; {}", kept_plans::DISCARD));
    let begin = begin_and_discard.as_deref().unwrap_or("BEGIN");
    let begin = async { Ok((&mut &*connection).batch_execute(begin).await?) };
    let lock = async {
        let locked = load::lock(&set, connection).await?;
        crash_points::at(CrashPoint::AfterLock, plans.iter().copied());
        Ok(locked)
    };
    let proving = async {
        if prove {
            (&mut &*connection).batch_execute(&proof::statement()).await?;
        }
        Ok(())
    };
    // Futures are polled, and statements sent, in this order.
    let ((), mut loaded, read, ()) = try_join4(begin, lock, load::read(&set, connection), proving).await?;
    progress.notify_one();
    crash_points::at(CrashPoint::AfterRead, plans.iter().copied());
    loaded.extend(read);
    let mut book = loaded.book(feature_level, currency)?;
    let Folded { answers, writes } = fold(&mut book, plans, own, currency)?;
    Ok(DecidedGroup { answers, writes })
}
