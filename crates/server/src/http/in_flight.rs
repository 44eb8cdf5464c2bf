//! Commands with a key that are running in this process: the same one sent again waits until the first has ended.
//!
//! The storage alone already does each key once; this spares a twin the race, and tells it in time when it cannot wait
//! any longer. A twin at another server meets the first one in the storage.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuepoint_domain::ledger::KeyScope;
use tokio::time::{Instant, timeout_at};

use crate::http::wire::error::{ApiError, Code};

/// Those of one scope: whose turn it is, first come, first served, and how many they are.
#[derive(Debug, Default)]
struct Twins {
    turn: Arc<tokio::sync::Mutex<()>>,
    count: usize,
}

/// The commands with a key that are running or waiting; nothing of those that have ended.
#[derive(Debug, Default)]
pub struct InFlight {
    scopes: Mutex<HashMap<KeyScope, Twins>>,
}

impl InFlight {
    /// Does the work when no other work of its scope is being done; dropping the future gives its turn away.
    ///
    /// # Errors
    /// [`Code::IdempotencyInFlight`] when it had to wait and is not done by `until`; what it has begun by then may still
    /// come about, and the same key finds it.
    pub async fn alone<T>(
        &self,
        scope: KeyScope,
        until: Instant,
        work: impl Future<Output = T>,
    ) -> Result<T, ApiError> {
        let place = self.enter(scope);
        if let Ok(_held) = place.turn.try_lock() {
            // The first is bounded by the deadline of its request.
            return Ok(work.await);
        }
        let waiting = async {
            let _held = place.turn.lock().await;
            work.await
        };
        timeout_at(until, waiting).await.map_err(|_| Code::IdempotencyInFlight.into())
    }

    fn enter(&self, scope: KeyScope) -> Place<'_> {
        let mut scopes = self.lock();
        let twins = scopes.entry(scope).or_default();
        twins.count = twins.count.saturating_add(1);
        Place { all: self, scope, turn: Arc::clone(&twins.turn) }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<KeyScope, Twins>> {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among those of one scope; the last to leave takes the scope away.
struct Place<'a> {
    all: &'a InFlight,
    scope: KeyScope,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut scopes = self.all.lock();
        if let Some(twins) = scopes.get_mut(&self.scope) {
            twins.count = twins.count.saturating_sub(1);
            if twins.count == 0 {
                scopes.remove(&self.scope);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::pending;
    use std::time::Duration;

    use futures_util::future::{FutureExt, join_all};
    use tokio::time::sleep;

    use super::*;

    const SCOPE: KeyScope = KeyScope([1; 32]);
    const PATIENCE: Duration = Duration::from_secs(4);

    fn until() -> Instant {
        let now = Instant::now();
        now.checked_add(PATIENCE).unwrap_or(now)
    }

    fn scopes(all: &InFlight) -> usize {
        all.lock().len()
    }

    #[tokio::test(start_paused = true)]
    async fn those_of_one_scope_take_turns_in_their_order() {
        let (all, running, ended) = (InFlight::default(), Cell::new(0), Cell::new(0));
        let work = |number| {
            let (running, ended) = (&running, &ended);
            async move {
                running.set(running.get() + 1);
                sleep(Duration::from_millis(10)).await;
                assert_eq!((running.get(), ended.get()), (1, number));
                running.set(0);
                ended.set(number + 1);
            }
        };
        let answers = join_all((0..50).map(|number| all.alone(SCOPE, until(), work(number)))).await;
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!((ended.get(), scopes(&all)), (50, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn those_of_other_scopes_do_not_wait() {
        let all = InFlight::default();
        let first = all.alone(SCOPE, until(), pending::<()>());
        let other = all.alone(KeyScope([2; 32]), until(), async { 7 });
        tokio::select! {
            biased;
            _ = first => unreachable!("it never ends"),
            answer = other => assert!(matches!(answer, Ok(7))),
        }
        assert_eq!(scopes(&all), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_in_vain_is_told_so_in_time() {
        let all = InFlight::default();
        let first = all.alone(SCOPE, until(), sleep(Duration::from_secs(60)));
        let start = Instant::now();
        let twin = async {
            let answer = all.alone(SCOPE, until(), async {}).await;
            (answer.map_err(|error| error.code), start.elapsed())
        };
        let (first, twin) = tokio::join!(first, twin);
        assert!(first.is_ok(), "the first is not bounded here");
        assert_eq!(twin, (Err(Code::IdempotencyInFlight), PATIENCE));
        assert_eq!(scopes(&all), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_who_waits_includes_its_own_work() {
        let all = InFlight::default();
        let first = all.alone(SCOPE, until(), sleep(Duration::from_secs(3)));
        let twin = all.alone(SCOPE, until(), async { sleep(Duration::from_secs(2)).await });
        let (first, twin) = tokio::join!(first, twin);
        assert!(first.is_ok());
        assert_eq!(twin.map_err(|error| error.code), Err(Code::IdempotencyInFlight));
    }

    #[tokio::test(start_paused = true)]
    async fn who_goes_away_gives_its_turn_to_the_next() {
        let all = InFlight::default();
        let mut first = Box::pin(all.alone(SCOPE, until(), pending::<()>()));
        let mut second = Box::pin(all.alone(SCOPE, until(), pending::<()>()));
        let mut third = Box::pin(all.alone(SCOPE, until(), async { 3 }));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        assert!(third.as_mut().now_or_never().is_none());
        // One that runs, and one that waits.
        drop(first);
        drop(second);
        assert!(matches!(third.await, Ok(3)));
        assert_eq!(scopes(&all), 0);
    }
}
