//! The thread that copies the write-ahead log into the database while the writer goes on, so that no group waits
//! for it.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use anyhow::Context;
use diesel::SqliteConnection;

use super::checkpoint::{self, Log};
use crate::connect::connection::{Access, open};

/// A handle to the thread, which ends when it is dropped.
#[derive(Debug)]
pub(super) struct Copier {
    /// `None` once the thread is to end.
    orders: Option<SyncSender<()>>,
    /// The state of the log after each copy; `None` if the copy failed.
    results: Receiver<Option<Log>>,
    is_copying: bool,
    /// The state of the log after the last copy, until it is taken.
    last: Option<Log>,
    thread: Option<JoinHandle<()>>,
}

impl Copier {
    /// Starts the thread, over a new connection to a database that the writer has open.
    ///
    /// # Errors
    /// When the database cannot be opened, or the thread cannot be started.
    pub(super) fn start(path: &Path) -> anyhow::Result<Self> {
        let connection = open(path, Access::Writer)?;
        // There is at most one order at a time.
        let (orders, ordered) = sync_channel(1);
        let (finished, results) = channel();
        let thread = Builder::new()
            .name("checkpoint".to_owned())
            .spawn(move || run(connection, &ordered, &finished))
            .context("the checkpoint thread cannot be started")?;
        Ok(Self { orders: Some(orders), results, is_copying: false, last: None, thread: Some(thread) })
    }

    /// Starts a copy, unless one is running.
    pub(super) fn copy(&mut self) {
        if self.is_copying {
            return;
        }
        self.is_copying = self.orders.as_ref().is_some_and(|orders| orders.try_send(()).is_ok());
        if !self.is_copying {
            tracing::error!("the checkpoint thread has ended");
        }
    }

    /// Whether a copy is running.
    pub(super) const fn is_copying(&self) -> bool {
        self.is_copying
    }

    /// The state of the log after a copy that has succeeded since the last call.
    pub(super) fn finished(&mut self) -> Option<Log> {
        match self.results.try_recv() {
            Ok(result) => {
                self.is_copying = false;
                self.last = result;
            }
            Err(TryRecvError::Disconnected) => self.is_copying = false,
            Err(TryRecvError::Empty) => {}
        }
        self.last.take()
    }

    /// Waits for the running copy, and returns the state of the log after it, as [`Self::finished`] does.
    pub(super) fn wait(&mut self) -> Option<Log> {
        if self.is_copying {
            self.last = self.results.recv().ok().flatten();
            self.is_copying = false;
        }
        self.last.take()
    }

    /// Waits for the running copy, without taking its result.
    #[cfg(test)]
    pub(super) fn settle(&mut self) {
        self.last = self.wait();
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        drop(self.orders.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the checkpoint thread has failed");
        }
    }
}

/// Copies the log for each order. The connection is never opened again, so that it stays with the files that the
/// writer has open, also after one of them was deleted or replaced.
fn run(mut connection: SqliteConnection, orders: &Receiver<()>, results: &Sender<Option<Log>>) {
    for () in orders {
        let copied = checkpoint::copy(&mut connection);
        let log = copied.inspect_err(|error| tracing::warn!(%error, "a checkpoint failed")).ok();
        if results.send(log).is_err() {
            break;
        }
    }
}
