//! Answers of a writer to callers on other threads.
//!
//! A web worker is a thread with a runtime of its own. To wake one of its tasks from another thread takes a system
//! call, so the wake-ups of a worker's callers of one group go to a task on the worker's thread together, and that task
//! wakes them. Each answer is in its place before, so that a caller whose time is over still finds it.

use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use cuepoint_domain::ports::{Applied, ApplyError, Unavailable};
use thiserror::Error;
use tokio::runtime::{Handle, Id, RuntimeFlavor};
use tokio::sync::mpsc::{self, error::SendError};

/// The result of a plan.
pub type PlanAnswer = Result<Applied, ApplyError>;

/// The writer ended without an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the writer has stopped")]
pub struct WriterStopped;

/// The place of an answer.
#[expect(clippy::large_enum_variant, reason = "nearly every place gets an answer")]
enum Place {
    /// The caller's waker, once it waits.
    Empty(Option<Waker>),
    Answered(PlanAnswer),
    /// The answer was taken, or there will be none.
    Closed,
}

type SharedPlace = Arc<Mutex<Place>>;

/// Replaces what is in a place.
fn replace(place: &Mutex<Place>, by: Place) -> Place {
    mem::replace(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), by)
}

/// The writer's end of the channel to a caller that waits for the result of a plan.
pub struct Caller {
    place: SharedPlace,
    /// `None` if no runtime continues the caller on the thread where it began to wait.
    mailbox: Option<Arc<Mailbox>>,
}

/// The caller's end: a future of the answer.
#[must_use]
pub struct Waiting(SharedPlace);

/// The queue of the task that wakes the callers of a thread.
type Mailbox = mpsc::UnboundedSender<Vec<Waker>>;

thread_local! {
    /// The mailbox of this thread, and the runtime of its task.
    static MAILBOX: RefCell<Option<(Id, Arc<Mailbox>)>> = const { RefCell::new(None) };
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").finish_non_exhaustive()
    }
}

impl Caller {
    /// Creates the channel of a caller on this thread.
    pub fn new() -> (Self, Waiting) {
        let place = SharedPlace::new(Mutex::new(Place::Empty(None)));
        (Self { place: Arc::clone(&place), mailbox: mailbox() }, Waiting(place))
    }

    /// Answers this caller alone; a cancelled one misses its answer, with no other effect.
    pub fn answer(self, answer: PlanAnswer) {
        self.put(answer).into_iter().for_each(wake);
    }

    /// Puts the answer in its place, and returns the waker of a caller that waits.
    fn put(&self, answer: PlanAnswer) -> Option<Waker> {
        match replace(&self.place, Place::Answered(answer)) {
            Place::Empty(waker) => waker,
            Place::Answered(_) | Place::Closed => None,
        }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Place::Empty(waker) = &mut *place {
            let waker = waker.take();
            *place = Place::Closed;
            drop(place);
            waker.into_iter().for_each(wake);
        }
    }
}

impl Future for Waiting {
    type Output = Result<PlanAnswer, WriterStopped>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Place::Empty(waker) = &mut *place {
            *waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        match mem::replace(&mut *place, Place::Closed) {
            Place::Answered(answer) => Poll::Ready(Ok(answer)),
            Place::Empty(_) | Place::Closed => Poll::Ready(Err(WriterStopped)),
        }
    }
}

fn wake(caller: Waker) {
    // A panic in the waker of one caller does not concern the other callers.
    let _ = catch_unwind(AssertUnwindSafe(|| caller.wake()));
}

/// The result of a plan that was not applied.
pub fn failed(why: impl Into<String>) -> PlanAnswer {
    Err(Unavailable::new(why.into()).into())
}

/// Answers the callers of a group, those on one thread together. A cancelled caller misses its answer, with no other
/// effect.
pub fn answer_all(answers: impl IntoIterator<Item = (Caller, PlanAnswer)>) {
    let mut by_thread: Vec<(Arc<Mailbox>, Vec<Waker>)> = Vec::new();
    for (caller, answer) in answers {
        let Some(waker) = caller.put(answer) else { continue };
        let Some(mailbox) = &caller.mailbox else {
            wake(waker);
            continue;
        };
        match by_thread.iter_mut().find(|(other, _)| Arc::ptr_eq(other, mailbox)) {
            Some((_, wakers)) => wakers.push(waker),
            None => by_thread.push((Arc::clone(mailbox), vec![waker])),
        }
    }
    for (mailbox, wakers) in by_thread {
        // The task of the mailbox would be one more to wake for a single caller.
        let unsent = if wakers.len() > 1 { mailbox.send(wakers) } else { Err(SendError(wakers)) };
        if let Err(SendError(wakers)) = unsent {
            wakers.into_iter().for_each(wake);
        }
    }
}

/// Returns the mailbox of this thread; `None` without a single-threaded runtime, since another thread may continue
/// the caller.
fn mailbox() -> Option<Arc<Mailbox>> {
    let runtime = Handle::try_current().ok()?;
    if runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
        return None;
    }
    MAILBOX.with_borrow_mut(|kept| {
        if let Some((id, mailbox)) = kept
            && *id == runtime.id()
            && !mailbox.is_closed()
        {
            return Some(Arc::clone(mailbox));
        }
        let (mailbox, wakers) = mpsc::unbounded_channel();
        runtime.spawn(wake_each(wakers));
        let mailbox = Arc::new(mailbox);
        *kept = Some((runtime.id(), Arc::clone(&mailbox)));
        Some(mailbox)
    })
}

/// Wakes callers until no caller and no thread has the mailbox.
async fn wake_each(mut mailbox: mpsc::UnboundedReceiver<Vec<Waker>>) {
    while let Some(wakers) = mailbox.recv().await {
        wakers.into_iter().for_each(wake);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;
    use std::thread::{self, ThreadId};

    use tokio::runtime::Builder;

    use super::*;

    fn callers(count: usize) -> (Vec<Caller>, Vec<Waiting>) {
        (0..count).map(|_| Caller::new()).unzip()
    }

    /// Answers on another thread, as a writer does.
    fn answer_from_elsewhere(callers: Vec<Caller>) {
        let answered = move || answer_all(callers.into_iter().map(|caller| (caller, failed("no"))));
        thread::spawn(answered).join().unwrap();
    }

    /// Begins to wait for an answer.
    fn wait(answer: &mut Waiting, waker: Arc<impl Wake + Send + Sync + 'static>) {
        assert!(Pin::new(answer).poll(&mut Context::from_waker(&Waker::from(waker))).is_pending());
    }

    /// What the caller finds now.
    fn found(mut answer: Waiting) -> Poll<Result<bool, WriterStopped>> {
        let found = Pin::new(&mut answer).poll(&mut Context::from_waker(Waker::noop()));
        found.map_ok(|answer| answer.is_ok())
    }

    const FOUND: Poll<Result<bool, WriterStopped>> = Poll::Ready(Ok(false));

    /// The threads that woke a caller.
    #[derive(Default)]
    struct WokenBy(Mutex<Vec<ThreadId>>);

    impl Wake for WokenBy {
        fn wake(self: Arc<Self>) {
            self.0.lock().unwrap().push(thread::current().id());
        }
    }

    struct PanickingWaker;

    impl Wake for PanickingWaker {
        fn wake(self: Arc<Self>) {
            panic!("a waker that panics");
        }
    }

    #[tokio::test]
    async fn callers_on_one_thread_are_woken_by_that_thread() {
        let (callers, mut answers) = callers(3);
        let last = answers.pop().unwrap();
        let woken = Arc::<WokenBy>::default();
        answers.iter_mut().for_each(|answer| wait(answer, Arc::clone(&woken)));
        let (last, ()) = tokio::join!(last, async { answer_from_elsewhere(callers) });
        // Callers are woken in the order of the group.
        last.unwrap().unwrap_err();
        assert_eq!(*woken.0.lock().unwrap(), [thread::current().id(); 2]);
    }

    #[tokio::test]
    async fn a_caller_can_read_its_answer_before_it_is_woken() {
        let (callers, mut answers) = callers(2);
        let woken = Arc::<WokenBy>::default();
        answers.iter_mut().for_each(|answer| wait(answer, Arc::clone(&woken)));
        answer_from_elsewhere(callers);
        assert!(woken.0.lock().unwrap().is_empty());
        assert!(answers.into_iter().all(|answer| found(answer) == FOUND));
    }

    #[tokio::test]
    async fn a_lone_caller_is_woken_at_once() {
        let (callers, mut answers) = callers(1);
        let woken = Arc::<WokenBy>::default();
        answers.iter_mut().for_each(|answer| wait(answer, Arc::clone(&woken)));
        answer_from_elsewhere(callers);
        assert_eq!(woken.0.lock().unwrap().len(), 1);
        assert!(answers.into_iter().all(|answer| found(answer) == FOUND));
    }

    #[test]
    fn callers_without_a_single_threaded_runtime_are_woken_at_once() {
        let several = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (mut every, mut answers) = callers(2);
        let (others, their_answers) = several.block_on(async { callers(2) });
        every.extend(others);
        answers.extend(their_answers);
        let woken = Arc::<WokenBy>::default();
        answers.iter_mut().for_each(|answer| wait(answer, Arc::clone(&woken)));
        answer_from_elsewhere(every);
        assert_eq!(woken.0.lock().unwrap().len(), 4);
    }

    #[test]
    fn callers_of_another_runtime_on_the_same_thread_are_answered() {
        let runtime = || Builder::new_current_thread().build().unwrap();
        let (first, second) = (runtime(), runtime());
        let (_idle, _) = first.block_on(async { callers(2) });
        second.block_on(async {
            let (callers, mut answers) = callers(2);
            let (one, other) = (answers.remove(0), answers.remove(0));
            let (one, other, ()) = tokio::join!(one, other, async { answer_from_elsewhere(callers) });
            one.unwrap().unwrap_err();
            other.unwrap().unwrap_err();
        });
    }

    #[test]
    fn callers_are_woken_even_if_their_runtime_has_ended() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let (callers, mut answers) = runtime.block_on(async { callers(2) });
        drop(runtime);
        let woken = Arc::<WokenBy>::default();
        answers.iter_mut().for_each(|answer| wait(answer, Arc::clone(&woken)));
        answer_from_elsewhere(callers);
        assert_eq!(woken.0.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn cancelled_and_panicking_callers_do_not_affect_others() {
        let (callers, mut answers) = callers(3);
        let last = answers.pop().unwrap();
        wait(answers.last_mut().unwrap(), Arc::new(PanickingWaker));
        drop(answers.remove(0));
        let (last, ()) = tokio::join!(last, async { answer_from_elsewhere(callers) });
        last.unwrap().unwrap_err();
        assert!(answers.into_iter().all(|answer| found(answer) == FOUND));
    }

    #[test]
    fn a_caller_without_an_answer_learns_that_the_writer_stopped() {
        let (callers, mut answers) = callers(1);
        let woken = Arc::<WokenBy>::default();
        answers.iter_mut().for_each(|answer| wait(answer, Arc::clone(&woken)));
        drop(callers);
        assert_eq!(woken.0.lock().unwrap().len(), 1);
        assert!(answers.into_iter().all(|answer| found(answer) == Poll::Ready(Err(WriterStopped))));
    }
}
