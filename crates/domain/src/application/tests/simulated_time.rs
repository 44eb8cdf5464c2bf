//! Simulated time, and tasks that run in it.

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};

use futures_util::future;

use super::*;

/// Simulated time, which advances whenever all futures wait.
#[derive(Clone, Default)]
pub(super) struct Simulated(Arc<Mutex<Moment>>);

/// The current time, and the sleepers with later deadlines.
#[derive(Default)]
struct Moment {
    now: Duration,
    sleepers: BTreeMap<Duration, Vec<Waker>>,
}

#[async_trait]
impl Timer for Simulated {
    async fn sleep_until(&self, Deadline(until): Deadline) {
        future::poll_fn(|task| {
            let Moment { now, sleepers } = &mut *self.0.lock().unwrap();
            if *now >= until {
                return Poll::Ready(());
            }
            sleepers.entry(until).or_default().push(task.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Simulated {
    /// The time since the start.
    pub(super) fn now(&self) -> Duration {
        self.0.lock().unwrap().now
    }

    /// Waits for this time.
    pub(super) async fn sleep(&self, time: Duration) {
        self.sleep_until(self.after(time)).await;
    }

    /// The deadline after this time.
    pub(super) fn after(&self, time: Duration) -> Deadline {
        Deadline(self.now().saturating_add(time))
    }

    /// Runs a future to its end; time advances to the next deadline when no future can make progress.
    pub(super) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            let mut task = TaskContext::from_waker(Waker::noop());
            // Wake-ups go to joined futures, so that polling once more may be enough.
            for _ in 0..200 {
                if let Poll::Ready(done) = work.as_mut().poll(&mut task) {
                    return done;
                }
            }
            let Moment { now, sleepers } = &mut *self.0.lock().unwrap();
            let (until, wakers) = sleepers.pop_first().expect("something has to happen at last");
            *now = until;
            wakers.into_iter().for_each(Waker::wake);
        }
    }
}

/// Spawned tasks, which run only within [`Self::run`].
#[derive(Clone, Default)]
pub(super) struct SpawnedTasks(Arc<Mutex<Vec<Task>>>);

impl TaskSpawner for SpawnedTasks {
    fn spawn(&self, task: Task) {
        self.0.lock().unwrap().push(task);
    }
}

impl SpawnedTasks {
    /// The output of the work, once all tasks have ended as well.
    pub(super) async fn run<T>(&self, work: impl Future<Output = T>) -> T {
        let (mut work, mut running) = (pin!(future::maybe_done(work)), Vec::new());
        future::poll_fn(|context| {
            let done = work.as_mut().poll(context).is_ready();
            running.append(&mut self.0.lock().unwrap());
            running.retain_mut(|task: &mut Task| task.as_mut().poll(context).is_pending());
            let idle = running.is_empty() && self.0.lock().unwrap().is_empty();
            if done && idle { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        work.as_mut().take_output().expect("the work is done")
    }
}
