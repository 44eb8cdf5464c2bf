//! Points at which a test may abort or stop the process, to verify that no work is lost or done twice, and that
//! other servers go on: while a plan is applied, while a store is copied, and at the first start in a data directory.
//!
//! Only with the feature `testing`, which a release build refuses: `CUEPOINT_CRASH_AT` names a point,
//! `CUEPOINT_CRASH_ON` a kind of plan, and the process aborts when the first plan of that kind that has a key, or
//! is the service's own, reaches that point. A step of a copy or of a start needs no kind of plan. With
//! `CUEPOINT_CRASH_BY=stop`, the process stops once, as by SIGSTOP, instead.

#[cfg(feature = "testing")]
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "testing")]
use cuepoint_domain::operation::Actor;
use cuepoint_domain::operation::Plan;

/// A point in a writer's work on one group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CrashPoint {
    /// The transaction is about to begin.
    BeforeLock,
    /// The named rows are locked.
    AfterLock,
    /// All rows of the lock set are read.
    AfterRead,
    /// The changes are written but not committed. A group that sends COMMIT with its writes does not reach it.
    AfterWrite,
    /// COMMIT is about to be sent, on PostgreSQL perhaps with the writes.
    BeforeCommit,
    /// The commit is confirmed.
    AfterCommit,
    /// The results are about to be returned.
    BeforeAnswer,
}

/// A step of a copy to another store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyStep {
    /// Every row is written to the target.
    Written,
    /// The target is compared and audited.
    Verified,
    /// The source is marked, and the target is about to be committed.
    Marked,
    /// The target is committed.
    Committed,
}

/// A step of the first start in a data directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StartStep {
    /// The directory exists.
    DirectoryCreated,
    /// The lock file exists, and is locked.
    Locked,
    /// The database file exists, and is empty.
    DatabaseCreated,
    /// SQLite has opened the database, and set its journal mode.
    Opened,
    MigrationApplied,
    /// All migrations are applied.
    Migrated,
    /// The file that records the use of the directory exists, and is empty.
    Recording,
    /// The use of the directory is recorded.
    Recorded,
    /// The currency is recorded.
    Settled,
    /// The signing keys exist.
    KeysCreated,
}

/// Aborts the process if a test requested it.
#[cfg(not(feature = "testing"))]
pub fn at_start(_: StartStep) {}

/// Aborts the process if a test requested it.
#[cfg(feature = "testing")]
pub fn at_start(step: StartStep) {
    let name = match step {
        StartStep::DirectoryCreated => "start_directory_created",
        StartStep::Locked => "start_locked",
        StartStep::DatabaseCreated => "start_database_created",
        StartStep::Opened => "start_opened",
        StartStep::MigrationApplied => "start_migration_applied",
        StartStep::Migrated => "start_migrated",
        StartStep::Recording => "start_recording",
        StartStep::Recorded => "start_recorded",
        StartStep::Settled => "start_settled",
        StartStep::KeysCreated => "start_keys_created",
    };
    crash_at(name);
}

/// Aborts the process if a test requested it.
#[cfg(not(feature = "testing"))]
pub fn at_copy(_: CopyStep) {}

/// Aborts the process if a test requested it.
#[cfg(feature = "testing")]
pub fn at_copy(step: CopyStep) {
    let name = match step {
        CopyStep::Written => "copy_written",
        CopyStep::Verified => "copy_verified",
        CopyStep::Marked => "copy_marked",
        CopyStep::Committed => "copy_committed",
    };
    crash_at(name);
}

/// Aborts the process if a test named this step.
#[cfg(feature = "testing")]
fn crash_at(name: &str) {
    if let Some(asked) = asked_for().filter(|asked| asked.point == name) {
        asked.crash();
    }
}

/// Aborts the process if a test requested it.
#[cfg(not(feature = "testing"))]
pub fn at<'a>(_: CrashPoint, _: impl IntoIterator<Item = &'a Plan>) {}

/// Aborts the process if a test requested it.
#[cfg(feature = "testing")]
pub fn at<'a>(point: CrashPoint, plans: impl IntoIterator<Item = &'a Plan>) {
    let Some(asked) = asked_for() else { return };
    let meant = |plan: &Plan| {
        let metadata = plan.metadata();
        (metadata.key.is_some() || metadata.actor == Actor::System) && plan.kind().name() == asked.kind
    };
    if point.name() == asked.point && plans.into_iter().any(meant) {
        asked.crash();
    }
}

#[cfg(feature = "testing")]
impl CrashPoint {
    const fn name(self) -> &'static str {
        match self {
            Self::BeforeLock => "before_lock",
            Self::AfterLock => "after_lock",
            Self::AfterRead => "after_read",
            Self::AfterWrite => "after_write",
            Self::BeforeCommit => "before_commit",
            Self::AfterCommit => "after_commit",
            Self::BeforeAnswer => "before_answer",
        }
    }
}

/// The point and the kind of plan at which to abort.
#[cfg(feature = "testing")]
struct Asked {
    point: String,
    kind: String,
    stops: bool,
}

/// Stops a process, and ends when it is stopped: the signal takes effect a moment after it was sent.
#[cfg(feature = "testing")]
const STOP: &str = r#"kill -s STOP "$1" && until grep -q "^State:.T" "/proc/$1/status"; do :; done"#;

#[cfg(feature = "testing")]
impl Asked {
    fn crash(&self) {
        static IS_OVER: AtomicBool = AtomicBool::new(false);
        if !self.stops {
            std::process::abort();
        }
        if IS_OVER.swap(true, Ordering::Relaxed) {
            return;
        }
        let own = std::process::id().to_string();
        // Its end is noticed only once this process is continued.
        let stopped = std::process::Command::new("sh").args(["-c", STOP, "sh", &own]).status();
        if !stopped.is_ok_and(|status| status.success()) {
            std::process::abort();
        }
    }
}

#[cfg(feature = "testing")]
#[expect(clippy::disallowed_methods, reason = "only tests set it, and it is not part of the configuration")]
fn asked_for() -> Option<&'static Asked> {
    static ASKED: std::sync::OnceLock<Option<Asked>> = std::sync::OnceLock::new();
    let ask = || {
        let point = std::env::var("CUEPOINT_CRASH_AT").ok()?;
        let kind = std::env::var("CUEPOINT_CRASH_ON").unwrap_or_else(|_| "open_withdrawal".to_owned());
        let stops = std::env::var("CUEPOINT_CRASH_BY").is_ok_and(|how| how == "stop");
        Some(Asked { point, kind, stops })
    };
    ASKED.get_or_init(ask).as_ref()
}
