//! The times of checkpoints: the content of the write-ahead log is copied into the database beside the writer,
//! and the log is emptied while no changes arrive.
//!
//! A log is only overwritten from its beginning once all of it is copied, which a copy beside the writer never
//! reaches under load: when the log has grown large, the writer itself copies, between two groups, what was added
//! during the last copy.
//!
//! A reader keeps the part of the log behind its snapshot from being copied, and any part in use from being
//! overwritten. The writer does not wait for readers, except for a few milliseconds when the log has grown
//! large: the log grows until they have ended.

use std::path::Path;
use std::sync::Arc;

use diesel::prelude::*;

use super::checkpoint::{Log, Mode, checkpoint, copy, empty};
use super::copier::Copier;
use crate::connect::connection::with_busy_timeout;
use crate::connect::snapshots::Snapshots;

/// The number of new pages in the log that starts a copy: 16 MiB. A page that changed several times since
/// the last copy is copied once.
const COPY_AFTER: i64 = 4_096;
/// The size of the log, in pages, that makes its reuse worth a short wait: 32 MiB.
const RESTART_ABOVE: i64 = 2 * COPY_AFTER;
/// The size of the log, in pages, that makes the writer wait for the running copy: 64 MiB. Otherwise the
/// log would grow without limit on a disk that is slower than the changes.
const WAIT_ABOVE: i64 = 2 * RESTART_ABOVE;
/// The longest wait for readers, in milliseconds: most reads take less than one.
const READER_WAIT: u32 = 20;

/// The checkpoints of a writer.
#[derive(Debug)]
pub(super) struct Checkpoints {
    copier: Copier,
    /// The snapshots of short reads.
    snapshots: Arc<Snapshots>,
    /// The number of pages that the last attempt could not copy: the next one waits for as many new ones as
    /// the first did, so that a reader does not cause an attempt after every group.
    left: i64,
    /// Whether the log may have content.
    is_used: bool,
}

impl Checkpoints {
    /// The checkpoints of a database that the writer has open.
    ///
    /// # Errors
    /// When their thread cannot be started.
    pub(super) fn start(path: &Path, snapshots: Arc<Snapshots>) -> anyhow::Result<Self> {
        Ok(Self { copier: Copier::start(path)?, snapshots, left: 0, is_used: false })
    }

    /// Starts a copy of the log if it has grown.
    pub(super) fn after_group(&mut self, connection: &mut SqliteConnection) -> QueryResult<()> {
        self.is_used = true;
        let mut copied = self.copier.finished();
        if self.copier.is_copying() {
            if checkpoint(connection, Mode::Noop)?.log < WAIT_ABOVE {
                return Ok(());
            }
            copied = self.copier.wait();
        }
        if let Some(log) = copied {
            self.left = log.remaining();
            // More is left only while a reader keeps an old snapshot.
            if self.left < COPY_AFTER && log.log > RESTART_ABOVE {
                return self.restart(connection);
            }
        }
        let remaining = checkpoint(connection, Mode::Noop)?.remaining();
        self.left = self.left.min(remaining);
        if remaining >= self.left.saturating_add(COPY_AFTER) {
            // If it fails, the next attempt waits as well.
            self.left = remaining;
            self.snapshots.end();
            self.copier.copy();
        }
        Ok(())
    }

    /// Copies the rest of the log, so that the next commit overwrites it from its beginning.
    fn restart(&mut self, connection: &mut SqliteConnection) -> QueryResult<()> {
        self.left = self.copy_now(connection)?.remaining();
        // Snapshots that began during the copy; the later ones do not use the log.
        self.snapshots.end();
        if self.left == 0 {
            with_busy_timeout(connection, READER_WAIT, |connection| checkpoint(connection, Mode::Restart))?;
        }
        Ok(())
    }

    /// Copies as much of the log as long reads permit, after the running copy.
    pub(super) fn copy_now(&mut self, connection: &mut SqliteConnection) -> QueryResult<Log> {
        self.copier.wait();
        self.snapshots.end();
        copy(connection)
    }

    /// Whether there is work while no changes arrive.
    pub(super) const fn is_due(&self) -> bool {
        self.is_used
    }

    /// Has the rest of the log copied, and empties it once that is done; for the time while no changes arrive.
    pub(super) fn idle(&mut self, connection: &mut SqliteConnection) -> QueryResult<()> {
        self.copier.finished();
        if self.copier.is_copying() {
            return Ok(());
        }
        self.snapshots.end();
        self.left = checkpoint(connection, Mode::Noop)?.remaining();
        if self.left > 0 {
            self.copier.copy();
            return Ok(());
        }
        // If it fails, the next attempt follows the next commit.
        self.is_used = false;
        let log =
            with_busy_timeout(connection, READER_WAIT, |connection| checkpoint(connection, Mode::Truncate))?;
        self.is_used = log.busy != 0;
        Ok(())
    }

    /// Copies and empties the log for the last time, unless a reader uses it for longer than the connection's
    /// timeout.
    pub(super) fn finish(mut self, connection: &mut SqliteConnection) -> QueryResult<Log> {
        self.copy_now(connection)?;
        self.snapshots.end();
        empty(connection)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use diesel::connection::SimpleConnection;

    use super::*;
    use crate::connect::connection::{Access, open};
    use crate::connect::data_directory::log_path;
    use crate::testing::TestDirectory;

    /// A database with a table, its writer and the size of its log.
    fn database() -> (TestDirectory, SqliteConnection, Checkpoints, impl Fn() -> u64) {
        let directory = TestDirectory::create();
        let mut writer = directory.migrated();
        writer.batch_execute("CREATE TABLE filled (content BLOB)").unwrap();
        empty(&mut writer).unwrap();
        let path = directory.path().join("test.db");
        let (log, checkpoints) = (log_path(&path), Checkpoints::start(&path, Arc::default()).unwrap());
        (directory, writer, checkpoints, move || std::fs::metadata(&log).unwrap().len())
    }

    const COUNT: &str = "SELECT count(*) FROM ids";

    /// Commits about this many pages.
    fn fill(writer: &mut SqliteConnection, pages: u32) {
        let insert = format!("INSERT INTO filled VALUES (randomblob(4096 * {pages}))");
        writer.batch_execute(&insert).unwrap();
    }

    fn reader(directory: &TestDirectory) -> SqliteConnection {
        open(&directory.path().join("test.db"), Access::Reader).unwrap()
    }

    fn state(writer: &mut SqliteConnection) -> Log {
        checkpoint(writer, Mode::Noop).unwrap()
    }

    #[test]
    fn a_large_log_is_checkpointed_and_reused() {
        let (_directory, mut writer, mut checkpoints, size) = database();
        let mut largest = 0;
        for round in 0..60 {
            fill(&mut writer, 1_000);
            checkpoints.after_group(&mut writer).unwrap();
            checkpoints.copier.settle();
            assert!(state(&mut writer).remaining() < COPY_AFTER, "round {round}");
            largest = largest.max(size());
        }
        assert!(largest > 16 << 20 && largest < 24 << 20, "{largest}");
    }

    #[test]
    fn group_commits_do_not_wait_for_open_snapshots() {
        let (directory, mut writer, mut checkpoints, size) = database();
        let mut held = reader(&directory);
        fill(&mut writer, 10);
        held.batch_execute("BEGIN; SELECT count(*) FROM filled").unwrap();
        // So that a wait for the reader is longer than any sync of a busy disk.
        writer.batch_execute("PRAGMA busy_timeout = 60000").unwrap();
        for _ in 0..20 {
            fill(&mut writer, 2_000);
            let start = Instant::now();
            checkpoints.after_group(&mut writer).unwrap();
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        }
        assert!(size() > 80 << 20, "nothing behind the snapshot was overwritten");
        let start = Instant::now();
        idle(&mut checkpoints, &mut writer);
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        assert!(checkpoints.is_due(), "it is tried again");
        held.batch_execute("COMMIT").unwrap();
        idle(&mut checkpoints, &mut writer);
        assert!(!checkpoints.is_due());
        assert_eq!(size(), 0);
        assert_eq!(state(&mut writer).remaining(), 0);
    }

    /// Uses the time without changes until there is nothing to do now.
    fn idle(checkpoints: &mut Checkpoints, writer: &mut SqliteConnection) {
        for _ in 0..2 {
            checkpoints.copier.settle();
            checkpoints.idle(writer).unwrap();
        }
        checkpoints.copier.settle();
    }

    #[test]
    fn checkpoints_of_a_log_in_use_are_not_attempted_after_every_group() {
        let (directory, mut writer, mut checkpoints, _) = database();
        let mut held = reader(&directory);
        held.batch_execute("BEGIN; SELECT count(*) FROM filled").unwrap();
        let mut attempts = 0;
        for _ in 0..30 {
            fill(&mut writer, 400);
            checkpoints.after_group(&mut writer).unwrap();
            attempts += u32::from(checkpoints.copier.is_copying());
            checkpoints.copier.settle();
        }
        assert!((2..=3).contains(&attempts), "{attempts} attempts for 12000 pages");
    }

    #[test]
    fn the_log_size_is_bounded_while_short_reads_continue() {
        let (directory, mut writer, mut checkpoints, size) = database();
        let (path, snapshots) = (directory.path().join("test.db"), Arc::clone(&checkpoints.snapshots));
        let count = |connection: &mut SqliteConnection| Ok(connection.batch_execute(COUNT)?);
        let mut largest = 0;
        for _ in 0..60 {
            fill(&mut writer, 1_000);
            snapshots.outdate();
            // Its snapshot stays open until another read needs a newer one.
            snapshots.read(|access| Ok(open(&path, access)?), count).unwrap();
            checkpoints.after_group(&mut writer).unwrap();
            checkpoints.copier.settle();
            largest = largest.max(size());
        }
        assert!(largest < 64 << 20, "{largest} bytes");
    }

    #[test]
    fn the_writer_commits_during_a_checkpoint() {
        let (_directory, mut writer, mut checkpoints, size) = database();
        fill(&mut writer, 5_000);
        checkpoints.after_group(&mut writer).unwrap();
        assert!(checkpoints.copier.is_copying());
        // The snapshot of the commit may keep the running copy from copying anything.
        fill(&mut writer, 10);
        checkpoints.after_group(&mut writer).unwrap();
        idle(&mut checkpoints, &mut writer);
        assert_eq!((state(&mut writer).remaining(), size()), (0, 0), "the rest is copied later");
    }
}
