//! Single-flight: commands with one idempotency key run one after the other within a process.
//!
//! The storage alone already applies each key once. This spares a repetition the race, and answers it in time when it
//! cannot wait any longer. A repetition at another server meets the first command in the storage.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;
use futures_util::future::{Either, select};

use crate::ledger::KeyScope;
use crate::ports::{Deadline, Timer};

/// The command had to wait for another one with its key, and was not done at the deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StillRunning;

/// The commands that run, and those that wait for them in the order of their arrival; nothing of those that ended.
#[derive(Clone, Default)]
pub(super) struct SingleFlight {
    scopes: Arc<Mutex<HashMap<KeyScope, VecDeque<oneshot::Sender<Turn>>>>>,
}

/// The turn of a command; the next one of its scope has it when this is dropped.
struct Turn {
    all: SingleFlight,
    scope: KeyScope,
}

impl SingleFlight {
    /// Does the work when no other work of its scope is being done. Dropping the future gives its turn away.
    ///
    /// # Errors
    /// [`StillRunning`] when it had to wait and is not done by the deadline. What it has begun by then may still take
    /// effect, and is found under the same key.
    pub(super) async fn run<T>(
        &self,
        scope: KeyScope,
        deadline: Deadline,
        timer: &dyn Timer,
        work: impl Future<Output = T>,
    ) -> Result<T, StillRunning> {
        let waiting = match self.enter(scope) {
            Ok(_turn) => {
                // The first is bounded by the deadline of its request.
                return Ok(work.await);
            }
            Err(waiting) => waiting,
        };
        let in_turn = pin!(async {
            let _turn = waiting.await.ok();
            work.await
        });
        match select(in_turn, timer.sleep_until(deadline)).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right(((), _)) => Err(StillRunning),
        }
    }

    /// The turn, or a place in the queue of those that wait for it.
    fn enter(&self, scope: KeyScope) -> Result<Turn, oneshot::Receiver<Turn>> {
        let mut scopes = self.lock();
        if let Some(queue) = scopes.get_mut(&scope) {
            let (sender, receiver) = oneshot::channel();
            queue.push_back(sender);
            return Err(receiver);
        }
        scopes.insert(scope, VecDeque::new());
        Ok(Turn { all: self.clone(), scope })
    }

    /// The next that waits; without one the scope is removed.
    fn next(&self, scope: KeyScope) -> Option<oneshot::Sender<Turn>> {
        let mut scopes = self.lock();
        let queue = scopes.get_mut(&scope)?;
        while let Some(next) = queue.pop_front() {
            if !next.is_canceled() {
                return Some(next);
            }
        }
        scopes.remove(&scope);
        None
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<KeyScope, VecDeque<oneshot::Sender<Turn>>>> {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many scopes have a command that runs.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(next) = self.all.next(self.scope) {
            // A receiver that is dropped meanwhile drops the turn, which passes it on.
            drop(next.send(Self { all: self.all.clone(), scope: self.scope }));
        }
    }
}
