//! Connections that read.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::Unavailable;
use diesel::{Connection, SqliteConnection};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use super::connection::{Access, open};
use super::failure::SqliteFailure;
use super::file_identity::FileIdentity;
use super::reading_threads::ReadingThreads;
use super::snapshots::Snapshots;

/// The maximum number of concurrent long reads; further reads wait.
const LONG_READS: u32 = 2;
/// Time that a closing store waits for long reads to end.
const LONG_READS_END_WITHIN: Duration = Duration::from_secs(5);
/// The number of skipped rows above which a page of a list is a long read.
const FAR: i64 = 10_000;
/// Deadline of a page that is read on a thread of its own, with the wait for a place.
const PAGE_WITHIN: Duration = Duration::from_millis(4_500);

/// The connections that read. A short read takes an idle one, or opens one if none is idle: there are at most as
/// many as threads that read at once, since a read never waits.
pub(crate) struct Readers {
    path: PathBuf,
    /// The identity of the file since the start.
    identity: Mutex<FileIdentity>,
    snapshots: Arc<Snapshots>,
    /// The threads of reads for which no caller's thread waits.
    threads: ReadingThreads,
    /// The places of long reads.
    long: Arc<Semaphore>,
    /// Whether long reads are to end early, because the store is closing.
    ending: AtomicBool,
}

impl Readers {
    /// Readers of the open database at a path.
    ///
    /// # Errors
    /// When the file cannot be found, or no threads can be started.
    pub(crate) fn of(path: PathBuf, snapshots: Arc<Snapshots>) -> anyhow::Result<Self> {
        let identity = Mutex::new(FileIdentity::of(&path, Instant::now())?);
        let places = usize::try_from(LONG_READS).unwrap_or(1);
        Ok(Self {
            path,
            identity,
            snapshots,
            threads: ReadingThreads::start()?,
            long: Arc::new(Semaphore::new(places)),
            ending: AtomicBool::new(false),
        })
    }

    /// Reads from one snapshot, on this thread. Every commit that was answered before is visible.
    ///
    /// # Errors
    /// [`Unavailable`] when a statement fails or a row is invalid.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqliteFailure>,
    ) -> Result<T, Unavailable> {
        Ok(self.snapshots.read(|access| self.open(access), work)?)
    }

    /// Reads as [`Self::read`] does, on one of a few threads: for a short read on which other work of the caller's
    /// thread is not to wait.
    ///
    /// # Errors
    /// [`Unavailable`] as for [`Self::read`], and after a deadline.
    pub(crate) async fn read_elsewhere<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqliteFailure> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let readers = Arc::clone(self);
        let read = self.threads.run(move || readers.read(work));
        timeout(PAGE_WITHIN, read).await.unwrap_or(Err(SqliteFailure::Deadline))?
    }

    /// Begins new snapshots for all later reads, which see every commit so far, even if it was not answered yet.
    pub(crate) fn outdate_snapshots(&self) {
        self.snapshots.outdate();
    }

    /// Reads from one snapshot on a thread and a connection of its own; for work that takes longer than a
    /// request may block its thread. Commits continue, but the write-ahead log grows until the end.
    ///
    /// The work is to end early when the given function returns false: its result is not wanted any more.
    ///
    /// # Errors
    /// [`Unavailable`] when a statement fails, a row is invalid, or the store is closed meanwhile.
    pub(crate) async fn read_on_own_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut SqliteConnection, &dyn Fn() -> bool) -> Result<T, SqliteFailure> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let place = Arc::clone(&self.long).acquire_owned().await.map_err(|_| SqliteFailure::Closed)?;
        let (caller, result) = oneshot::channel();
        let readers = Arc::clone(self);
        // Not a thread of the runtime, which would wait for it before the process ends.
        let started = thread::Builder::new().name("long read".to_owned()).spawn(move || {
            let is_wanted = || !caller.is_closed() && !readers.ending.load(Ordering::Relaxed);
            let done = readers.open(Access::Reader).and_then(|mut connection| {
                snapshot(&mut connection, |connection| work(connection, &is_wanted))
            });
            let _ = caller.send(done);
            // The connection is closed before the place is free.
            drop(place);
        });
        started.context("the thread of a long read cannot be started").map_err(SqliteFailure::from)?;
        Ok(result.await.map_err(|_| SqliteFailure::Interrupted)??)
    }

    /// Reads a page of a list from one snapshot: on this thread, or on one of its own if many rows come
    /// before it.
    ///
    /// # Errors
    /// [`Unavailable`] as for [`Self::read`].
    pub(crate) async fn list<T: Send + 'static>(
        self: &Arc<Self>,
        asked: PageRequest,
        work: impl FnOnce(&mut SqliteConnection) -> Result<Rows<T>, SqliteFailure> + Send + 'static,
    ) -> Result<Rows<T>, Unavailable> {
        if asked.offset().is_some_and(|offset| offset <= FAR) {
            return self.read(work);
        }
        self.page_on_own_thread(work).await
    }

    /// Reads a page as [`Self::read_on_own_thread`] does, in time for the answer to a request, also while other long reads
    /// have every place.
    ///
    /// # Errors
    /// [`Unavailable`] as for [`Self::read_on_own_thread`], and after the deadline.
    pub(crate) async fn page_on_own_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqliteFailure> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let read = self.read_on_own_thread(move |connection, _| work(connection));
        timeout(PAGE_WITHIN, read).await.unwrap_or(Err(SqliteFailure::Deadline.into()))
    }

    /// Opens a connection, provided that it leads to the same file.
    fn open(&self, access: Access) -> Result<SqliteConnection, SqliteFailure> {
        // Before as well, since SQLite would apply the log of the first file to another one.
        self.ensure_same_file()?;
        let connection = open(&self.path, access)?;
        self.ensure_same_file()?;
        Ok(connection)
    }

    /// Accepts no more long reads, and ends the running ones early, so that the write-ahead log can be
    /// emptied.
    pub(crate) async fn end_long_reads(&self) {
        self.ending.store(true, Ordering::Relaxed);
        if timeout(LONG_READS_END_WITHIN, self.long.acquire_many(LONG_READS)).await.is_err() {
            tracing::warn!("a long read has not ended in time");
        }
        self.long.close();
    }

    fn ensure_same_file(&self) -> Result<(), SqliteFailure> {
        let mut identity = self.identity.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(identity.ensure_now(Instant::now())?)
    }

    /// Closes all connections; later reads fail.
    pub(crate) fn close(&self) {
        self.threads.close();
        self.snapshots.close();
    }
}

/// Runs work on one snapshot, whose end cannot fail it: after a damaged page was met, a commit is refused.
fn snapshot<T>(
    connection: &mut SqliteConnection,
    work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqliteFailure>,
) -> Result<T, SqliteFailure> {
    let mut done = None;
    let ended = connection.transaction(|connection| {
        done = Some(work(connection));
        Ok::<(), SqliteFailure>(())
    });
    done.unwrap_or_else(|| Err(ended.err().unwrap_or(SqliteFailure::Interrupted)))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use cuepoint_domain::money::Currency;
    use cuepoint_domain::operation::Position;
    use cuepoint_domain::ports::{OperationLog, WebhookEndpoints};
    use cuepoint_domain::timestamp::Timestamp;
    use futures_util::FutureExt;

    use super::*;
    use crate::SqliteStore;
    use crate::connect::reading_threads::MOST;
    use crate::testing::TestDirectory;

    /// On a runtime with one thread, like that of a web worker.
    #[tokio::test]
    async fn long_reads_do_not_block_the_calling_thread() {
        let directory = TestDirectory::create();
        // As in a server: SQLite refuses the second of two concurrent connections to a file that none has open.
        let _writer = directory.migrated();
        let readers = Arc::new(Readers::of(directory.path().join("test.db"), Arc::default()).unwrap());
        let (release, until) = mpsc::channel::<()>();
        let held = readers.read_elsewhere(move |_| {
            until.recv().unwrap();
            Ok(())
        });
        let other = async {
            // Also while one of the threads is busy.
            readers.read_elsewhere(|_| Ok(())).await.unwrap();
            release.send(()).unwrap();
        };
        let (held, ()) = tokio::join!(held, other);
        held.unwrap();
        readers.close();
        assert!(readers.read_elsewhere(|_| Ok(())).await.is_err(), "a closed store reads nothing");
    }

    #[tokio::test]
    async fn reading_events_or_finding_webhook_work_does_not_block_the_calling_thread() {
        let directory = TestDirectory::create();
        let currency = Currency::new("EUR", 2).unwrap();
        let store = SqliteStore::open(directory.path(), currency).unwrap();
        let held: Vec<_> = (0..MOST)
            .map(|_| {
                let (release, until) = mpsc::channel::<()>();
                let hold = move |_: &mut SqliteConnection| Ok(until.recv().is_err());
                let mut held = store.readers.read_elsewhere(hold).boxed();
                assert!(held.as_mut().now_or_never().is_none());
                (release, held)
            })
            .collect();
        let page = async { store.operations(None, Position::START, 10).await.map(drop) };
        let search = async { store.endpoints_with_work(Timestamp::from_unix_micros(0), 10).await.map(drop) };
        let mut reads = [page.boxed(), search.boxed()];
        for read in &mut reads {
            assert!(read.as_mut().now_or_never().is_none(), "the caller's thread reads");
        }
        for (release, held) in held {
            drop(release);
            assert!(held.await.unwrap());
        }
        for read in reads {
            read.await.unwrap();
        }
    }

    #[tokio::test]
    async fn pages_time_out_while_long_reads_use_every_thread() {
        let directory = TestDirectory::create();
        drop(directory.migrated());
        let readers = Arc::new(Readers::of(directory.path().join("test.db"), Arc::default()).unwrap());
        let mut held = Vec::new();
        for _ in 0..LONG_READS {
            let (release, until) = mpsc::channel::<()>();
            let readers = Arc::clone(&readers);
            let (started, running) = oneshot::channel();
            let read = tokio::spawn(async move {
                let hold = move |_: &mut SqliteConnection, _: &dyn Fn() -> bool| {
                    let _ = started.send(());
                    let _ = until.recv();
                    Ok(())
                };
                readers.read_on_own_thread(hold).await
            });
            running.await.unwrap();
            held.push((release, read));
        }
        let start = Instant::now();
        readers.page_on_own_thread(|_| Ok(())).await.unwrap_err();
        assert!(start.elapsed() < PAGE_WITHIN + Duration::from_millis(400), "{:?}", start.elapsed());
        for (release, read) in held {
            drop(release);
            read.await.unwrap().unwrap();
        }
        readers.page_on_own_thread(|_| Ok(())).await.unwrap();
    }
}
