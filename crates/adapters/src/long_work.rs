//! Threads for long work, such as reports on gigs. Each DJ has one piece of work at a time, and the server has two.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{LongWork, LongWorkRefusal, Task};
use tokio::runtime::Handle;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::observability::logged_request::in_current_request;

/// The number of pieces of work that a server does at a time. Everybody can become a DJ, so that a limit for each DJ is not
/// enough.
const PLACES: usize = 2;
/// The number of pieces of work that a server does at a time for one DJ.
const PLACES_OF_DJ: usize = 1;
/// The time limit of waiting for a place. It is shorter than the five seconds of a request, so that the answer can name the
/// reason.
const PATIENCE: Duration = Duration::from_millis(4_500);
/// The time limit of a piece of work.
const WITHIN: Duration = Duration::from_secs(10);
/// The time, in seconds, after which a client that was refused tries again.
pub const RETRY_AFTER_SECONDS: u32 = 5;

/// Long work on the blocking threads of a runtime. Each piece of work needs a place of its DJ and a place of the server.
#[derive(Debug)]
pub struct LongWorkThreads {
    runtime: Handle,
    server: Arc<Semaphore>,
    djs: Mutex<HashMap<UserId, Weak<Semaphore>>>,
    patience: Duration,
}

/// The two places that a piece of work occupies.
struct Places {
    _dj: OwnedSemaphorePermit,
    _server: OwnedSemaphorePermit,
}

impl LongWorkThreads {
    /// Long work on the threads of this runtime.
    #[must_use]
    pub fn new(runtime: Handle) -> Self {
        Self { runtime, server: Arc::new(Semaphore::new(PLACES)), djs: Mutex::default(), patience: PATIENCE }
    }

    /// Waits for the place of the DJ first, and then for a place of the server. At most one piece of work of each DJ is
    /// therefore in the server's line.
    async fn places(&self, dj: UserId) -> Result<Places, AcquireError> {
        let dj = self.of_dj(dj).acquire_owned().await?;
        Ok(Places { _dj: dj, _server: Arc::clone(&self.server).acquire_owned().await? })
    }

    /// The place of a DJ. DJs without work are removed from the map.
    fn of_dj(&self, dj: UserId) -> Arc<Semaphore> {
        let mut djs = self.djs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = djs.get(&dj).and_then(Weak::upgrade) {
            return places;
        }
        djs.retain(|_, places| places.strong_count() > 0);
        let places = Arc::new(Semaphore::new(PLACES_OF_DJ));
        djs.insert(dj, Arc::downgrade(&places));
        places
    }
}

#[async_trait]
impl LongWork for LongWorkThreads {
    async fn in_turn_of(&self, dj: UserId, work: Task) -> Result<(), LongWorkRefusal> {
        let Ok(places) = timeout(self.patience, self.places(dj)).await else {
            tracing::debug!(%dj, "long work waited too long for its turn");
            return Err(LongWorkRefusal::Busy);
        };
        let places = places.map_err(|_| LongWorkRefusal::Interrupted)?;
        let (runtime, work) = (self.runtime.clone(), in_current_request(work));
        let done = self.runtime.spawn_blocking(move || {
            // The places are held until the work ends, even if the client has left.
            let _places = places;
            runtime.block_on(async { timeout(WITHIN, work).await })
        });
        match done.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(LongWorkRefusal::Interrupted),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use futures_util::FutureExt as _;
    use futures_util::future::{BoxFuture, join_all};

    use super::*;

    type Waits<'t> = BoxFuture<'t, Result<(), LongWorkRefusal>>;

    fn dj(number: i64) -> UserId {
        UserId::new(number).unwrap()
    }

    /// Work that blocks its thread until it is released.
    fn held(threads: &LongWorkThreads, number: i64) -> (mpsc::Sender<()>, Waits<'_>) {
        let (release, until) = mpsc::channel::<()>();
        let work = Box::pin(async move {
            let _ = until.recv();
        });
        let mut waits = threads.in_turn_of(dj(number), work);
        assert!(waits.as_mut().now_or_never().is_none());
        (release, waits)
    }

    fn is_waiting(waits: &mut Waits<'_>) -> bool {
        waits.as_mut().now_or_never().is_none()
    }

    /// The runtime of this test has one thread, as a web worker has.
    ///
    /// Attack API4: reports of a large gig that are read all the time, so that web workers answer nothing else.
    #[tokio::test]
    async fn long_work_of_a_dj_runs_one_at_a_time_and_two_for_the_server_beside_the_callers_thread() {
        let threads = LongWorkThreads::new(Handle::current());
        let (first, mut one) = held(&threads, 1);
        let (second, mut same) = held(&threads, 1);
        let (third, mut other) = held(&threads, 2);
        let (fourth, mut further) = held(&threads, 3);
        assert_eq!(threads.server.available_permits(), 0);
        // The thread of the callers is not blocked.
        tokio::task::yield_now().await;
        assert!(is_waiting(&mut one) && is_waiting(&mut same) && is_waiting(&mut other));
        drop(third);
        other.await.unwrap();
        // The free place of the server goes to DJ 3, not to the second piece of work of DJ 1.
        assert!(is_waiting(&mut further) && is_waiting(&mut same));
        assert_eq!(threads.server.available_permits(), 0);
        drop(first);
        one.await.unwrap();
        assert!(is_waiting(&mut same));
        drop((second, fourth));
        same.await.unwrap();
        further.await.unwrap();
        assert_eq!(threads.server.available_permits(), PLACES);
        threads.in_turn_of(dj(9), Box::pin(async {})).await.unwrap();
        assert_eq!(threads.djs.lock().unwrap().len(), 1, "places of DJs without work are forgotten");
    }

    #[tokio::test]
    async fn work_without_a_turn_is_refused_after_its_patience_and_takes_no_place() {
        let threads = LongWorkThreads { patience: Duration::ZERO, ..LongWorkThreads::new(Handle::current()) };
        let (release, one) = held(&threads, 1);
        let refused = join_all((1..4).map(|_| threads.in_turn_of(dj(1), Box::pin(async {})))).await;
        assert_eq!(refused, [Err(LongWorkRefusal::Busy); 3]);
        drop(release);
        one.await.unwrap();
        threads.in_turn_of(dj(1), Box::pin(async {})).await.unwrap();
    }

    #[tokio::test]
    async fn work_whose_caller_left_keeps_its_places_until_it_ends() {
        let threads = LongWorkThreads::new(Handle::current());
        let (release, one) = held(&threads, 1);
        drop(one);
        let (next, mut same) = held(&threads, 1);
        assert!(is_waiting(&mut same));
        drop((release, next));
        same.await.unwrap();
    }

    #[tokio::test]
    async fn long_work_that_panics_frees_its_places() {
        let threads = LongWorkThreads::new(Handle::current());
        let panics = Box::pin(async { panic!("as a bug would") });
        assert_eq!(threads.in_turn_of(dj(1), panics).await, Err(LongWorkRefusal::Interrupted));
        let (send, name) = mpsc::channel();
        let work = Box::pin(async move { send.send(thread::current().id()).unwrap() });
        threads.in_turn_of(dj(1), work).await.unwrap();
        assert_ne!(name.recv().unwrap(), thread::current().id());
    }
}
