//! Idle connections that read, each with its last snapshot.
//!
//! Beginning and ending a snapshot locks the WAL index, and all threads contend for it: together they cost more than a
//! short read. So a snapshot serves further reads until the next commit of the server's writer. Changes by another
//! process, which needs the data directory's lock, become visible a moment later.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use diesel::{QueryResult, RunQueryDsl, SqliteConnection};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::Access;
use super::failure::SqliteFailure;
use crate::statements::{BEGIN, COMMIT};

/// Maximum age of a snapshot for further reads, without a commit.
const REUSED_FOR: Duration = Duration::from_micros(200);
/// The maximum number of connections with a large cache: 128 MiB, however many cores there are.
const MOST_LARGE_CACHES: usize = 8;

/// A snapshot of the database.
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    generation: u64,
    began: Instant,
}

/// A connection that reads.
pub(crate) struct Reader {
    connection: SqliteConnection,
    /// The snapshot of its open transaction.
    snapshot: Option<Snapshot>,
    /// Its place among those with a large cache.
    place: Option<OwnedSemaphorePermit>,
}

impl Reader {
    fn has_snapshot(&self, generation: u64, now: Instant) -> bool {
        self.snapshot.is_some_and(|snapshot| {
            snapshot.generation == generation && now.saturating_duration_since(snapshot.began) < REUSED_FOR
        })
    }

    fn begin(&mut self, generation: u64, began: Instant) -> QueryResult<()> {
        self.end()?;
        BEGIN.execute(&mut self.connection)?;
        self.snapshot = Some(Snapshot { generation, began });
        Ok(())
    }

    fn end(&mut self) -> QueryResult<()> {
        match self.snapshot.take() {
            Some(_) => COMMIT.execute(&mut self.connection).map(drop),
            None => Ok(()),
        }
    }
}

/// The idle connections of a store that read.
pub(crate) struct Snapshots {
    /// Incremented when older snapshots must not be used for another read.
    generation: AtomicU64,
    /// Those with a large cache come last. `None` once closed.
    idle: Mutex<Option<Vec<Reader>>>,
    /// The places of connections with a large cache. Threads beyond one per core read too, but rarely at the same
    /// time: a large cache for each of their connections would only take memory.
    large_caches: Arc<Semaphore>,
}

impl fmt::Debug for Snapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshots").field("generation", &self.generation).finish_non_exhaustive()
    }
}

impl Default for Snapshots {
    fn default() -> Self {
        Self::with_large_caches(available_parallelism().map_or(1, usize::from).min(MOST_LARGE_CACHES))
    }
}

impl Snapshots {
    /// Connections of which at most this many have a large cache.
    fn with_large_caches(most: usize) -> Self {
        Self {
            generation: AtomicU64::new(0),
            idle: Mutex::new(Some(Vec::new())),
            large_caches: Arc::new(Semaphore::new(most)),
        }
    }

    /// Reads from one snapshot, over an idle connection or a new one. Every commit that was answered before is
    /// visible.
    ///
    /// # Errors
    /// When no connection can be opened, the work fails, or the store is closed.
    pub(crate) fn read<T>(
        &self,
        open: impl FnOnce(Access) -> Result<SqliteConnection, SqliteFailure>,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqliteFailure>,
    ) -> Result<T, SqliteFailure> {
        let mut reader = match self.take()? {
            Some(idle) => idle,
            None => {
                let place = Arc::clone(&self.large_caches).try_acquire_owned().ok();
                let access = if place.is_some() { Access::CachingReader } else { Access::Reader };
                Reader { connection: open(access)?, snapshot: None, place }
            }
        };
        // Before the snapshot, which may then contain more than the generation promises, but never less.
        let (generation, now) = (self.generation.load(Ordering::Acquire), Instant::now());
        if !reader.has_snapshot(generation, now) {
            reader.begin(generation, now)?;
        }
        let done = work(&mut reader.connection);
        if done.as_ref().err().is_none_or(SqliteFailure::blames_one) {
            self.keep(reader);
        }
        done
    }

    fn take(&self) -> Result<Option<Reader>, SqliteFailure> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(idle.as_mut().ok_or(SqliteFailure::Closed)?.pop())
    }

    /// Makes a connection idle, with its snapshot unless that is outdated.
    fn keep(&self, mut reader: Reader) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = self.generation.load(Ordering::Acquire);
        let is_outdated = reader.snapshot.is_some_and(|snapshot| snapshot.generation != generation);
        if (!is_outdated || reader.end().is_ok())
            && let Some(idle) = idle.as_mut()
        {
            // The last one is taken first.
            let place = if reader.place.is_some() { idle.len() } else { 0 };
            idle.insert(place, reader);
        }
    }

    /// Begins new snapshots for all later reads, after a possible commit.
    pub(crate) fn outdate(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The number of times that snapshots were outdated.
    #[cfg(test)]
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Ends the unused snapshots, and the others after their reads, so that the log can be copied and
    /// overwritten.
    pub(crate) fn end(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        self.outdate();
        if let Some(idle) = idle.as_mut() {
            idle.retain_mut(|reader| reader.end().is_ok());
        }
    }

    /// Closes all idle connections; later reads fail.
    pub(crate) fn close(&self) {
        drop(self.idle.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;

    use super::*;
    use crate::connect::connection::{open, value};
    use crate::testing::TestDirectory;

    /// The number that a read sees.
    fn seen(snapshots: &Snapshots, directory: &TestDirectory) -> String {
        let path = directory.path().join("test.db");
        let read = |connection: &mut SqliteConnection| {
            Ok(value(connection, "SELECT next FROM ids WHERE kind = 'users'")?)
        };
        snapshots.read(|access| Ok(open(&path, access)?), read).unwrap()
    }

    #[test]
    fn reads_see_all_earlier_commits() {
        let directory = TestDirectory::create();
        let (mut writer, snapshots) = (directory.migrated(), Snapshots::default());
        // So that the commits take less time than a snapshot may be used.
        writer.batch_execute("PRAGMA synchronous = OFF").unwrap();
        for next in 2..200 {
            writer.batch_execute(&format!("UPDATE ids SET next = {next} WHERE kind = 'users'")).unwrap();
            snapshots.outdate();
            assert_eq!(seen(&snapshots, &directory), next.to_string());
        }
    }

    #[test]
    fn commits_of_other_processes_become_visible() {
        let directory = TestDirectory::create();
        let (mut other, snapshots) = (directory.migrated(), Snapshots::default());
        assert_eq!(seen(&snapshots, &directory), "1");
        other.batch_execute("UPDATE ids SET next = 7 WHERE kind = 'users'").unwrap();
        let committed = Instant::now();
        while committed.elapsed() < REUSED_FOR {
            std::hint::spin_loop();
        }
        assert_eq!(seen(&snapshots, &directory), "7");
    }

    #[test]
    fn the_write_ahead_log_can_be_truncated_once_idle_snapshots_end() {
        let directory = TestDirectory::create();
        let (mut writer, snapshots) = (directory.migrated(), Snapshots::default());
        assert_eq!(seen(&snapshots, &directory), "1");
        writer.batch_execute("PRAGMA busy_timeout = 0; UPDATE ids SET next = 7").unwrap();
        let busy = |writer: &mut SqliteConnection| value(writer, "PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        assert_eq!(busy(&mut writer), "1");
        snapshots.end();
        assert_eq!(busy(&mut writer), "0");
        assert_eq!(seen(&snapshots, &directory), "7");
    }

    #[test]
    fn a_snapshot_in_use_ends_with_the_read_that_uses_it() {
        let directory = TestDirectory::create();
        let (mut writer, snapshots) = (directory.migrated(), Snapshots::default());
        let path = directory.path().join("test.db");
        writer.batch_execute("PRAGMA busy_timeout = 0").unwrap();
        let during = |connection: &mut SqliteConnection| {
            value(connection, "SELECT count(*) FROM ids")?;
            snapshots.end();
            Ok(())
        };
        snapshots.read(|access| Ok(open(&path, access)?), during).unwrap();
        writer.batch_execute("UPDATE ids SET next = 7").unwrap();
        assert_eq!(value(&mut writer, "PRAGMA wal_checkpoint(TRUNCATE)").unwrap(), "0");
    }

    #[test]
    fn connections_beyond_a_limit_have_small_caches_and_are_used_last() {
        let directory = TestDirectory::create();
        let (_writer, snapshots) = (directory.migrated(), Snapshots::with_large_caches(1));
        let path = directory.path().join("test.db");
        let read = |work: &dyn Fn(&mut SqliteConnection) -> Result<(), SqliteFailure>| {
            snapshots.read(|access| Ok(open(&path, access)?), work)
        };
        let uses = |size: &str, connection: &mut SqliteConnection| {
            assert_eq!(value(connection, "PRAGMA cache_size").unwrap(), size);
        };
        let concurrently = || {
            let first = |connection: &mut SqliteConnection| {
                uses("-16384", connection);
                read(&|other| {
                    uses("-2048", other);
                    Ok(())
                })
            };
            read(&first).unwrap();
        };
        concurrently();
        concurrently();
        // A connection that failed is closed, and leaves its place to another one.
        assert!(read(&|_| Err(SqliteFailure::Interrupted)).is_err());
        drop(snapshots.take());
        concurrently();
    }

    #[test]
    fn closed_stores_cannot_be_read() {
        let directory = TestDirectory::create();
        drop(directory.migrated());
        let snapshots = Snapshots::default();
        snapshots.close();
        let read = snapshots.read(|access| Ok(open(&directory.path().join("test.db"), access)?), |_| Ok(()));
        assert!(matches!(read, Err(SqliteFailure::Closed)));
    }
}
