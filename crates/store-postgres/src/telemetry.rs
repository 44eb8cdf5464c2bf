//! Metrics of the store.

use std::time::Duration;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// Transactions that applied plans.
const COMMITS: &str = "cuepoint_commits_total";
/// Plans per transaction.
const GROUP_SIZE: &str = "cuepoint_group_size";
/// Duration of a transaction.
const COMMIT_SECONDS: &str = "cuepoint_commit_seconds";
/// Plans that wait for their transaction.
pub(crate) const QUEUE_DEPTH: &str = "cuepoint_queue_depth";
/// Open connections of the pool.
pub(crate) const POOL_CONNECTIONS: &str = "cuepoint_pool_connections";
/// Connections of the pool in use.
pub(crate) const POOL_IN_USE: &str = "cuepoint_pool_connections_in_use";

/// Describes every metric to the installed recorder.
pub(crate) fn describe() {
    describe_counter!(COMMITS, "Transactions that applied plans.");
    describe_histogram!(GROUP_SIZE, Unit::Count, "Plans in one transaction.");
    describe_histogram!(COMMIT_SECONDS, Unit::Seconds, "Time from a transaction's start to its commit.");
    describe_gauge!(QUEUE_DEPTH, Unit::Count, "Plans that wait for their transaction.");
    describe_gauge!(POOL_CONNECTIONS, Unit::Count, "Open connections of the pool.");
    describe_gauge!(POOL_IN_USE, Unit::Count, "Connections of the pool that are in use.");
}

/// Records a transaction that applied this many plans.
pub(crate) fn committed(plans: usize, took: Duration) {
    metrics::counter!(COMMITS).increment(1);
    metrics::histogram!(GROUP_SIZE).record(number(plans));
    metrics::histogram!(COMMIT_SECONDS).record(took.as_secs_f64());
}

/// Sets a gauge to a count.
pub(crate) fn gauge(name: &'static str, count: usize) {
    metrics::gauge!(name).set(number(count));
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
