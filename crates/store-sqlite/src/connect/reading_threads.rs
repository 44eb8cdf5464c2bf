//! Threads for long reads, so that neither a web worker nor the runtime of the jobs waits for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, available_parallelism};

use anyhow::Context;
use tokio::sync::oneshot;

use super::failure::SqliteFailure;

/// The minimum and maximum number of threads; in between, there is one for each core.
const FEWEST: usize = 2;
pub(super) const MOST: usize = 8;

type Work = Box<dyn FnOnce() + Send>;

/// A few threads with one queue. They end when the queue is closed.
pub(crate) struct ReadingThreads {
    /// `None` once closed.
    queue: Mutex<Option<Sender<Work>>>,
}

impl ReadingThreads {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the system permits no more threads.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let (queue, waiting) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..available_parallelism().map_or(FEWEST, usize::from).clamp(FEWEST, MOST) {
            let waiting = Arc::clone(&waiting);
            let started = thread::Builder::new().name("reads".to_owned()).spawn(move || run(&waiting));
            started.context("a thread that reads cannot be started")?;
        }
        Ok(Self { queue: Mutex::new(Some(queue)) })
    }

    /// Does work on one of the threads. The work is skipped if nobody waits for its result when its turn comes.
    ///
    /// # Errors
    /// When the threads have ended, or the work panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, SqliteFailure> {
        let (caller, result) = oneshot::channel();
        let work = Box::new(move || {
            if !caller.is_closed() {
                let _ = caller.send(work());
            }
        });
        self.add(work)?;
        result.await.map_err(|_| SqliteFailure::Interrupted)
    }

    fn add(&self, work: Work) -> Result<(), SqliteFailure> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = queue.as_ref().ok_or(SqliteFailure::Closed)?;
        queue.send(work).map_err(|_| SqliteFailure::Closed)
    }

    /// Accepts no more work. The threads finish the queued work and end.
    pub(crate) fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Does the work of the queue until it is closed.
fn run(waiting: &Mutex<Receiver<Work>>) {
    loop {
        // The lock is released before the work begins.
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else { return };
        // After a panic the caller gets an error, and the thread continues.
        let _ = catch_unwind(AssertUnwindSafe(work));
    }
}
