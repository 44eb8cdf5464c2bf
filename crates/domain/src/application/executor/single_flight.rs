//! Single-flight: commands with one idempotency key run one after the other within a process.
//!
//! The storage alone already applies each key once. This avoids the race between repetitions, and answers a
//! repetition in time when it can wait no longer. A repetition at another server meets the first command in
//! the storage.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;
use futures_util::future::{Either, select};

use crate::operation::KeyScope;
use crate::ports::{Deadline, Timer};

/// The command waited for another one with its key, and did not finish by the deadline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::application) struct StillRunning;

/// The running commands, and those waiting for them in order of arrival; a finished command leaves no entry.
#[derive(Clone, Default)]
pub(in crate::application) struct SingleFlight {
    scopes: Arc<Mutex<HashMap<KeyScope, VecDeque<oneshot::Sender<Turn>>>>>,
}

/// The turn of a command; dropping it passes the turn to the next one of its scope.
struct Turn {
    all: SingleFlight,
    scope: KeyScope,
}

impl SingleFlight {
    /// Runs the work while no other work of its scope runs. Dropping the future passes its turn on.
    ///
    /// # Errors
    /// [`StillRunning`] when the work had to wait and did not finish by the deadline. It is dropped then; a
    /// plan that it submitted is still applied, with its effects, and is found under the same key.
    pub(in crate::application) async fn run<T>(
        &self,
        scope: KeyScope,
        deadline: Deadline,
        timer: &dyn Timer,
        work: impl Future<Output = T>,
    ) -> Result<T, StillRunning> {
        let waiting = match self.enter(scope) {
            Ok(_turn) => {
                // The first command is bounded by the deadline of its request.
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

    /// Takes the turn, or a place in its queue.
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

    /// Removes the next waiting command from the queue, or the scope if none waits.
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

    /// The number of scopes with a running command.
    #[cfg(test)]
    pub(in crate::application) fn len(&self) -> usize {
        self.lock().len()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(next) = self.all.next(self.scope) {
            // A receiver that was dropped in the meantime drops the turn, which passes it on.
            drop(next.send(Self { all: self.all.clone(), scope: self.scope }));
        }
    }
}
