//! Answers of a writer to callers on other threads.
//!
//! A web worker is a thread with a runtime of its own. To wake one of its tasks from another thread takes a system
//! call, so a worker's answers of one group go to a task on the worker's thread together, and that task wakes the
//! callers.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cuepoint_domain::ports::{Applied, ApplyError, Unavailable};
use tokio::runtime::{Handle, Id, RuntimeFlavor};
use tokio::sync::mpsc::{self, error::SendError};
use tokio::sync::oneshot;

/// The result of a plan.
pub type PlanAnswer = Result<Applied, ApplyError>;

/// The channel of a caller that waits for the result of a plan.
pub struct Caller {
    waiting: oneshot::Sender<PlanAnswer>,
    /// `None` if no runtime continues the caller on the thread where it began to wait.
    mailbox: Option<Arc<Mailbox>>,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}

/// An answer on its way to a caller.
struct Letter {
    caller: oneshot::Sender<PlanAnswer>,
    answer: PlanAnswer,
}

/// The queue of the task that delivers the answers of a thread.
type Mailbox = mpsc::UnboundedSender<Vec<Letter>>;

thread_local! {
    /// The mailbox of this thread, and the runtime of its task.
    static MAILBOX: RefCell<Option<(Id, Arc<Mailbox>)>> = const { RefCell::new(None) };
}

impl Caller {
    /// Creates the channel of a caller on this thread.
    #[must_use]
    pub fn new() -> (Self, oneshot::Receiver<PlanAnswer>) {
        let (waiting, answer) = oneshot::channel();
        (Self { waiting, mailbox: mailbox() }, answer)
    }

    /// Answers this caller alone; a cancelled one misses its answer, with no other effect.
    pub fn answer(self, answer: PlanAnswer) {
        Letter { caller: self.waiting, answer }.deliver();
    }
}

impl Letter {
    fn deliver(self) {
        // A panic in the waker of one caller does not concern the other callers.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(self.caller.send(self.answer))));
    }
}

/// The result of a plan that was not applied.
pub fn failed(why: impl Into<String>) -> PlanAnswer {
    Err(Unavailable::new(why.into()).into())
}

/// Answers the callers of a group, those on one thread together. A cancelled caller misses its answer, with no other
/// effect.
pub fn answer_all(answers: impl IntoIterator<Item = (Caller, PlanAnswer)>) {
    let mut by_thread: Vec<(Arc<Mailbox>, Vec<Letter>)> = Vec::new();
    for (Caller { waiting, mailbox }, answer) in answers {
        let letter = Letter { caller: waiting, answer };
        let Some(mailbox) = mailbox else {
            letter.deliver();
            continue;
        };
        match by_thread.iter_mut().find(|(other, _)| Arc::ptr_eq(other, &mailbox)) {
            Some((_, letters)) => letters.push(letter),
            None => by_thread.push((mailbox, vec![letter])),
        }
    }
    for (mailbox, letters) in by_thread {
        // The task of the mailbox would be one more to wake for a single letter.
        let undelivered = if letters.len() > 1 { mailbox.send(letters) } else { Err(SendError(letters)) };
        if let Err(SendError(letters)) = undelivered {
            letters.into_iter().for_each(Letter::deliver);
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
        let (mailbox, letters) = mpsc::unbounded_channel();
        runtime.spawn(deliver(letters));
        let mailbox = Arc::new(mailbox);
        *kept = Some((runtime.id(), Arc::clone(&mailbox)));
        Some(mailbox)
    })
}

/// Delivers letters until no caller and no thread has the mailbox.
async fn deliver(mut mailbox: mpsc::UnboundedReceiver<Vec<Letter>>) {
    while let Some(letters) = mailbox.recv().await {
        letters.into_iter().for_each(Letter::deliver);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Mutex;
    use std::task::{Context, Wake, Waker};
    use std::thread::{self, ThreadId};

    use tokio::runtime::Builder;

    use super::*;

    fn callers(count: usize) -> (Vec<Caller>, Vec<oneshot::Receiver<PlanAnswer>>) {
        (0..count).map(|_| Caller::new()).unzip()
    }

    /// Answers on another thread, as a writer does.
    fn answer_from_elsewhere(callers: Vec<Caller>) {
        let answered = move || answer_all(callers.into_iter().map(|caller| (caller, failed("no"))));
        thread::spawn(answered).join().unwrap();
    }

    /// Begins to wait for an answer.
    fn wait(answer: &mut oneshot::Receiver<PlanAnswer>, waker: Arc<impl Wake + Send + Sync + 'static>) {
        let waker = Waker::from(waker);
        assert!(Future::poll(Pin::new(answer), &mut Context::from_waker(&waker)).is_pending());
    }

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
        answer_from_elsewhere(callers);
        // Answers arrive in their order.
        last.await.unwrap().unwrap_err();
        assert_eq!(*woken.0.lock().unwrap(), [thread::current().id(); 2]);
        for mut answer in answers {
            answer.try_recv().unwrap().unwrap_err();
        }
    }

    #[tokio::test]
    async fn a_lone_caller_is_answered_at_once() {
        let (callers, mut answers) = callers(1);
        answer_from_elsewhere(callers);
        answers.pop().unwrap().try_recv().unwrap().unwrap_err();
    }

    #[test]
    fn callers_without_a_single_threaded_runtime_are_answered() {
        let several = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let (mut every, mut answers) = callers(2);
        let (others, their_answers) = several.block_on(async { callers(2) });
        every.extend(others);
        answers.extend(their_answers);
        answer_from_elsewhere(every);
        for answer in answers {
            answer.blocking_recv().unwrap().unwrap_err();
        }
    }

    #[test]
    fn callers_of_another_runtime_on_the_same_thread_are_answered() {
        let runtime = || Builder::new_current_thread().build().unwrap();
        let (first, second) = (runtime(), runtime());
        let (_idle, _) = first.block_on(async { callers(2) });
        second.block_on(async {
            let (callers, answers) = callers(2);
            answer_from_elsewhere(callers);
            for answer in answers {
                answer.await.unwrap().unwrap_err();
            }
        });
    }

    #[test]
    fn callers_are_answered_even_if_their_runtime_has_ended() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let (callers, answers) = runtime.block_on(async { callers(2) });
        drop(runtime);
        answer_from_elsewhere(callers);
        for mut answer in answers {
            answer.try_recv().unwrap().unwrap_err();
        }
    }

    #[tokio::test]
    async fn cancelled_and_panicking_callers_do_not_affect_others() {
        let (callers, mut answers) = callers(3);
        let last = answers.pop().unwrap();
        wait(answers.last_mut().unwrap(), Arc::new(PanickingWaker));
        answers.remove(0);
        answer_from_elsewhere(callers);
        last.await.unwrap().unwrap_err();
        answers.pop().unwrap().try_recv().unwrap().unwrap_err();
    }
}
