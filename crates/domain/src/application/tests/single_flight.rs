//! Single-flight, in simulated time.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};

use futures_util::future::{self, join_all};

use super::*;
use crate::application::single_flight::{SingleFlight, StillRunning};

const SCOPE: KeyScope = KeyScope([1; 32]);
const PATIENCE: Duration = Duration::seconds(4);

/// Simulated time, which advances whenever all futures wait.
#[derive(Clone, Default)]
struct Simulated(Arc<Mutex<Moment>>);

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
    fn now(&self) -> Duration {
        self.0.lock().unwrap().now
    }

    async fn sleep(&self, time: Duration) {
        self.sleep_until(self.after(time)).await;
    }

    fn after(&self, time: Duration) -> Deadline {
        Deadline(self.now().saturating_add(time))
    }

    fn patience(&self) -> Deadline {
        self.after(PATIENCE)
    }

    /// Runs a future to its end; time advances to the next deadline when no future can make progress.
    fn run<T>(&self, work: impl Future<Output = T>) -> T {
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

#[test]
fn those_of_one_scope_take_turns_in_their_order() {
    let (all, time, running, ended) =
        (SingleFlight::default(), Simulated::default(), Cell::new(0), Cell::new(0));
    let work = |number| {
        let (time, running, ended) = (&time, &running, &ended);
        async move {
            running.set(running.get() + 1);
            time.sleep(Duration::milliseconds(10)).await;
            assert_eq!((running.get(), ended.get()), (1, number));
            running.set(0);
            ended.set(number + 1);
        }
    };
    let runs = (0..50).map(|number| all.run(SCOPE, time.patience(), &time, work(number)));
    let answers = time.run(join_all(runs));
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!((ended.get(), all.len()), (50, 0));
}

#[test]
fn those_of_other_scopes_do_not_wait() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    {
        let mut first = pin!(all.run(SCOPE, time.patience(), &time, pending::<()>()));
        assert!(first.as_mut().now_or_never().is_none());
        let other = all.run(KeyScope([2; 32]), time.patience(), &time, async { 7 });
        assert_eq!(other.now_or_never(), Some(Ok(7)));
    }
    assert_eq!(all.len(), 0);
}

#[test]
fn who_waits_in_vain_is_told_so_in_time() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    let first = all.run(SCOPE, time.patience(), &time, time.sleep(Duration::seconds(60)));
    let twin = async {
        let answer = all.run(SCOPE, time.patience(), &time, async {}).await;
        (answer, time.now())
    };
    let (first, twin) = time.run(future::join(first, twin));
    assert!(first.is_ok(), "the first is not bounded here");
    assert_eq!(twin, (Err(StillRunning), PATIENCE));
    assert_eq!(all.len(), 0);
}

#[test]
fn the_time_of_who_waits_includes_its_own_work() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    let first = all.run(SCOPE, time.patience(), &time, time.sleep(Duration::seconds(3)));
    let twin = all.run(SCOPE, time.patience(), &time, async { time.sleep(Duration::seconds(2)).await });
    let (first, twin) = time.run(future::join(first, twin));
    assert!(first.is_ok());
    assert_eq!(twin, Err(StillRunning));
    assert_eq!(all.len(), 0);
}

#[test]
fn who_goes_away_gives_its_turn_to_the_next() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    let mut first = Box::pin(all.run(SCOPE, time.patience(), &time, pending::<()>()));
    let mut second = Box::pin(all.run(SCOPE, time.patience(), &time, pending::<()>()));
    let mut third = Box::pin(all.run(SCOPE, time.patience(), &time, async { 3 }));
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    assert!(third.as_mut().now_or_never().is_none());
    // One running command, and one waiting.
    drop(first);
    drop(second);
    assert_eq!(third.now_or_never(), Some(Ok(3)));
    assert_eq!(all.len(), 0);
}

#[test]
fn a_waiter_that_went_away_before_its_turn_is_skipped() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    let mut first = Box::pin(all.run(SCOPE, time.patience(), &time, pending::<()>()));
    let mut second = Box::pin(all.run(SCOPE, time.patience(), &time, pending::<()>()));
    let mut third = Box::pin(all.run(SCOPE, time.patience(), &time, async { 3 }));
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    assert!(third.as_mut().now_or_never().is_none());
    drop(second);
    drop(first);
    assert_eq!(third.now_or_never(), Some(Ok(3)));
    assert_eq!(all.len(), 0);
}
