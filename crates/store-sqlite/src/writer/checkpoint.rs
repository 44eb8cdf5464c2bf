//! Checkpoints: the content of the write-ahead log is copied into the database between groups, after their
//! answers, and the log is emptied while no changes arrive.
//!
//! A reader keeps the part of the log behind its snapshot from being copied, and any part in use from being
//! overwritten. The writer does not wait for readers, except for a few milliseconds when the log has grown
//! large: the log grows until they have ended.

use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::connect::connection::with_busy_timeout;

/// The number of pages in the log after which it is copied: 4 MiB.
const COPY_AFTER: i64 = 1_024;
/// The number of pages in a copied log above which its reuse is worth a short wait for readers: 16 MiB.
const RESTART_ABOVE: i64 = 4 * COPY_AFTER;
/// The longest wait for readers, in milliseconds: most reads take less than one.
const READER_WAIT: u32 = 20;

/// The state of the log after a checkpoint.
#[derive(QueryableByName, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Log {
    /// 1 if another connection prevented a part of the checkpoint.
    #[diesel(sql_type = BigInt)]
    busy: i64,
    /// The number of pages in the log.
    #[diesel(sql_type = BigInt)]
    log: i64,
    /// The number of them that are copied.
    #[diesel(sql_type = BigInt)]
    checkpointed: i64,
}

impl Log {
    const fn remaining(self) -> i64 {
        self.log.saturating_sub(self.checkpointed)
    }
}

/// How far a checkpoint goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Only reads the state of the log.
    Noop,
    /// Copies what no reader prevents.
    Passive,
    /// Copies all, so that the next commit overwrites the log from its beginning.
    Restart,
    /// Copies all, and empties the log.
    Truncate,
}

/// Runs a checkpoint.
fn checkpoint(connection: &mut SqliteConnection, mode: Mode) -> QueryResult<Log> {
    let statement = match mode {
        Mode::Noop => "PRAGMA wal_checkpoint(NOOP)",
        Mode::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
        Mode::Restart => "PRAGMA wal_checkpoint(RESTART)",
        Mode::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
    };
    diesel::sql_query(statement).get_result(connection)
}

/// Copies as much of the log as readers permit.
pub(super) fn copy(connection: &mut SqliteConnection) -> QueryResult<()> {
    checkpoint(connection, Mode::Passive).map(|_| ())
}

/// Copies and empties the log, unless a reader uses it for longer than the connection's timeout.
pub(super) fn empty(connection: &mut SqliteConnection) -> QueryResult<()> {
    checkpoint(connection, Mode::Truncate).map(|_| ())
}

/// The checkpoints of a writer.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// The number of pages that the last attempt could not copy: the next one waits for as many new ones as
    /// the first did, so that a reader does not cause an attempt after every group.
    left: i64,
    /// Whether the log may have content.
    is_used: bool,
}

impl Checkpoints {
    /// Copies the log if it has grown.
    pub(super) fn after_group(&mut self, connection: &mut SqliteConnection) -> QueryResult<()> {
        self.is_used = true;
        let remaining = checkpoint(connection, Mode::Noop)?.remaining();
        self.left = self.left.min(remaining);
        if remaining < self.left.saturating_add(COPY_AFTER) {
            return Ok(());
        }
        // If it fails, the next attempt waits as well.
        self.left = remaining;
        let log = checkpoint(connection, Mode::Passive)?;
        self.left = log.remaining();
        if self.left == 0 && log.log > RESTART_ABOVE {
            with_busy_timeout(connection, READER_WAIT, |connection| checkpoint(connection, Mode::Restart))?;
        }
        Ok(())
    }

    /// Whether there is work while no changes arrive.
    pub(super) const fn is_due(&self) -> bool {
        self.is_used
    }

    /// Empties the log while no changes arrive.
    pub(super) fn idle(&mut self, connection: &mut SqliteConnection) -> QueryResult<()> {
        // If it fails, the next attempt follows the next commit.
        self.is_used = false;
        let log =
            with_busy_timeout(connection, READER_WAIT, |connection| checkpoint(connection, Mode::Truncate))?;
        self.is_used = log.busy != 0;
        self.left = log.remaining();
        Ok(())
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
    fn database() -> (TestDirectory, SqliteConnection, impl Fn() -> u64) {
        let directory = TestDirectory::create();
        let mut writer = directory.migrated();
        writer.batch_execute("CREATE TABLE filled (content BLOB)").unwrap();
        empty(&mut writer).unwrap();
        let log = log_path(&directory.path().join("test.db"));
        (directory, writer, move || std::fs::metadata(&log).unwrap().len())
    }

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
    fn a_grown_log_is_copied_and_reused() {
        let (_directory, mut writer, size) = database();
        let mut checkpoints = Checkpoints::default();
        let mut largest = 0;
        for round in 0..40 {
            fill(&mut writer, 200);
            checkpoints.after_group(&mut writer).unwrap();
            assert!(state(&mut writer).remaining() < COPY_AFTER, "round {round}");
            largest = largest.max(size());
        }
        assert!(largest > 4 << 20 && largest < 6 << 20, "{largest}");
    }

    #[test]
    fn a_held_snapshot_delays_no_group_and_the_log_shrinks_afterwards() {
        let (directory, mut writer, size) = database();
        let mut held = reader(&directory);
        fill(&mut writer, 10);
        held.batch_execute("BEGIN; SELECT count(*) FROM filled").unwrap();
        let mut checkpoints = Checkpoints::default();
        // So that a wait for the reader is longer than any sync of a busy disk.
        writer.batch_execute("PRAGMA busy_timeout = 60000").unwrap();
        for _ in 0..20 {
            fill(&mut writer, 500);
            let start = Instant::now();
            checkpoints.after_group(&mut writer).unwrap();
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        }
        assert!(size() > 20 << 20, "nothing behind the snapshot was overwritten");
        let start = Instant::now();
        checkpoints.idle(&mut writer).unwrap();
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        assert!(checkpoints.is_due(), "it is tried again");
        held.batch_execute("COMMIT").unwrap();
        checkpoints.idle(&mut writer).unwrap();
        assert!(!checkpoints.is_due());
        assert_eq!(size(), 0);
        assert_eq!(state(&mut writer).remaining(), 0);
    }

    #[test]
    fn a_log_in_use_is_not_copied_after_every_group() {
        let (directory, mut writer, _) = database();
        let mut held = reader(&directory);
        held.batch_execute("BEGIN; SELECT count(*) FROM filled").unwrap();
        let mut checkpoints = Checkpoints::default();
        let mut attempts = 0;
        for _ in 0..30 {
            fill(&mut writer, 100);
            let before = checkpoints.left;
            checkpoints.after_group(&mut writer).unwrap();
            attempts += u32::from(checkpoints.left != before);
        }
        assert!((2..=3).contains(&attempts), "{attempts} attempts for 3000 pages");
    }

    #[test]
    fn short_reads_do_not_let_the_log_grow() {
        let (directory, mut writer, size) = database();
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let mut reading = reader(&directory);
                scope.spawn({
                    let stop = &stop;
                    move || {
                        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                            reading.batch_execute("BEGIN; SELECT count(*) FROM ids; COMMIT").unwrap();
                        }
                    }
                });
            }
            let mut checkpoints = Checkpoints::default();
            let mut largest = 0;
            for _ in 0..200 {
                fill(&mut writer, 200);
                checkpoints.after_group(&mut writer).unwrap();
                largest = largest.max(size());
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(largest < 64 << 20, "{largest} bytes");
        });
    }
}
