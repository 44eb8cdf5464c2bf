//! Single-flight, in simulated time.

use std::cell::Cell;
use std::pin::pin;

use futures_util::future::{self, join_all};

use super::simulated_time::Simulated;
use super::*;
use crate::application::executor::single_flight::{SingleFlight, StillRunning};

const SCOPE: KeyScope = KeyScope([1; 32]);
const PATIENCE: Duration = Duration::seconds(4);

fn patience(time: &Simulated) -> Deadline {
    time.after(PATIENCE)
}

#[test]
fn commands_of_one_scope_run_one_at_a_time_in_order() {
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
    let runs = (0..50).map(|number| all.run(SCOPE, patience(&time), &time, work(number)));
    let answers = time.run(join_all(runs));
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!((ended.get(), all.len()), (50, 0));
}

#[test]
fn commands_of_different_scopes_do_not_wait_for_each_other() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    {
        let mut first = pin!(all.run(SCOPE, patience(&time), &time, pending::<()>()));
        assert!(first.as_mut().now_or_never().is_none());
        let other = all.run(KeyScope([2; 32]), patience(&time), &time, async { 7 });
        assert_eq!(other.now_or_never(), Some(Ok(7)));
    }
    assert_eq!(all.len(), 0);
}

#[test]
fn a_waiting_command_times_out_while_the_first_command_runs() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    let first = all.run(SCOPE, patience(&time), &time, time.sleep(Duration::seconds(60)));
    let twin = async {
        let answer = all.run(SCOPE, patience(&time), &time, async {}).await;
        (answer, time.now())
    };
    let (first, twin) = time.run(future::join(first, twin));
    assert!(first.is_ok(), "the first is not bounded here");
    assert_eq!(twin, (Err(StillRunning), PATIENCE));
    assert_eq!(all.len(), 0);
}

#[test]
fn the_timeout_of_a_waiting_command_includes_its_own_work() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    let first = all.run(SCOPE, patience(&time), &time, time.sleep(Duration::seconds(3)));
    let twin = all.run(SCOPE, patience(&time), &time, async { time.sleep(Duration::seconds(2)).await });
    let (first, twin) = time.run(future::join(first, twin));
    assert!(first.is_ok());
    assert_eq!(twin, Err(StillRunning));
    assert_eq!(all.len(), 0);
}

#[test]
fn a_cancelled_command_lets_the_next_command_run() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    let mut first = Box::pin(all.run(SCOPE, patience(&time), &time, pending::<()>()));
    let mut second = Box::pin(all.run(SCOPE, patience(&time), &time, pending::<()>()));
    let mut third = Box::pin(all.run(SCOPE, patience(&time), &time, async { 3 }));
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
fn a_cancelled_waiting_command_is_skipped() {
    let (all, time) = (SingleFlight::default(), Simulated::default());
    let mut first = Box::pin(all.run(SCOPE, patience(&time), &time, pending::<()>()));
    let mut second = Box::pin(all.run(SCOPE, patience(&time), &time, pending::<()>()));
    let mut third = Box::pin(all.run(SCOPE, patience(&time), &time, async { 3 }));
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    assert!(third.as_mut().now_or_never().is_none());
    drop(second);
    drop(first);
    assert_eq!(third.now_or_never(), Some(Ok(3)));
    assert_eq!(all.len(), 0);
}
