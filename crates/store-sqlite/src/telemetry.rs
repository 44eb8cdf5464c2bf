//! Metrics of the store, named as those of the PostgreSQL store where they measure the same.

use std::fs;
use std::path::Path;
use std::time::Duration;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

/// Transactions that applied plans.
const COMMITS: &str = "cuepoint_commits_total";
/// Plans per transaction.
const GROUP_SIZE: &str = "cuepoint_group_size";
/// Duration of a transaction.
const COMMIT_SECONDS: &str = "cuepoint_commit_seconds";
/// Plans and other changes that wait for their transaction.
const QUEUE_DEPTH: &str = "cuepoint_queue_depth";
/// Size of the write-ahead log.
const WAL_BYTES: &str = "cuepoint_wal_bytes";

/// Describes every metric to the installed recorder.
pub(crate) fn describe() {
    describe_counter!(COMMITS, "Transactions that applied plans.");
    describe_histogram!(GROUP_SIZE, Unit::Count, "Plans in one transaction.");
    describe_histogram!(COMMIT_SECONDS, Unit::Seconds, "Time from a transaction's start to its commit.");
    describe_gauge!(QUEUE_DEPTH, Unit::Count, "Plans and other changes that wait for their transaction.");
    describe_gauge!(WAL_BYTES, Unit::Bytes, "Size of the write-ahead log of the SQLite database.");
}

/// Records a transaction that applied this many plans.
pub(crate) fn committed(plans: usize, took: Duration) {
    metrics::counter!(COMMITS).increment(1);
    metrics::histogram!(GROUP_SIZE).record(number(plans));
    metrics::histogram!(COMMIT_SECONDS).record(took.as_secs_f64());
}

/// Records the number of waiting jobs.
pub(crate) fn queue_depth(jobs: usize) {
    metrics::gauge!(QUEUE_DEPTH).set(number(jobs));
}

/// Records the size of the write-ahead log at a path, in steps of 1 KiB; a missing one is empty.
pub(crate) fn wal_size(log: &Path) {
    let kibibytes = fs::metadata(log).map_or(0, |log| log.len().div_ceil(1_024));
    metrics::gauge!(WAL_BYTES).set(f64::from(u32::try_from(kibibytes).unwrap_or(u32::MAX)) * 1_024.0);
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
