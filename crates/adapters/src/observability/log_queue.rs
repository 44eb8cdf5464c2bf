//! The queue between log events and standard error: a log consumer that stops reading blocks no request.
//!
//! An event appends its line to a bounded buffer. One thread writes the buffer in batches, and it alone waits
//! for the consumer. A line that does not fit into the buffer is lost and counted.

use std::cell::Cell;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// The capacity in bytes, including the batch being written.
const CAPACITY: usize = 2 * 1_024 * 1_024;
/// The time that a batch collects lines: a busy server makes a hundred system calls a second, not one per
/// line.
const COLLECTING: Duration = Duration::from_millis(10);
/// The time that process exit waits for the consumer.
const FLUSH: Duration = Duration::from_secs(1);
/// The largest buffer in bytes that is reused; a buffer that grew during a stall is freed.
const KEPT: usize = 64 * 1_024;

thread_local! {
    /// Whether this is the writer thread, whose report of lost lines is queued even if the buffer is full.
    static IS_WRITER: Cell<bool> = const { Cell::new(false) };
}

/// The callbacks for lost lines; the argument is their number.
pub struct OnLoss {
    /// Counts lost lines; called immediately for each loss.
    pub count: Box<dyn Fn(u64) + Send + Sync>,
    /// Logs the lines lost since the last report; called when writing succeeds again.
    pub report: Box<dyn Fn(u64) + Send + Sync>,
}

/// The log queue. Dropping it waits until it is empty, for at most one second.
pub struct LogQueue(Arc<Shared>);

/// A writer into a queue, which never waits for the consumer and never fails.
pub struct QueueWriter(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Lines are waiting, or the queue is ending.
    filled: Condvar,
    /// A batch was written or lost.
    settled: Condvar,
    on_loss: OnLoss,
}

#[derive(Default)]
struct State {
    /// Complete lines.
    waiting: Vec<u8>,
    /// The size in bytes of the batch being written.
    in_flight: usize,
    /// Whether a batch is being written or its loss reported.
    is_writing: bool,
    /// Whether batches are written without collecting.
    is_ending: bool,
    /// The lines lost since the last report.
    lost: u64,
}

impl LogQueue {
    /// Starts a queue in front of an output that may block or fail.
    ///
    /// # Errors
    /// When the operating system refuses another thread.
    pub fn start(output: impl Write + Send + 'static, on_loss: OnLoss) -> io::Result<Self> {
        let (state, filled, settled) = Default::default();
        let shared = Arc::new(Shared { state, filled, settled, on_loss });
        let writing = shared.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || writing.write_batches(output))?;
        Ok(Self(shared))
    }

    /// Returns a writer into this queue, which may outlive it.
    pub fn writer(&self) -> QueueWriter {
        QueueWriter(self.0.clone())
    }
}

impl Drop for LogQueue {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_ending = true;
        self.0.filled.notify_one();
        let is_unwritten = |state: &mut State| state.is_writing || !state.waiting.is_empty();
        drop(self.0.settled.wait_timeout_while(state, FLUSH, is_unwritten));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends complete lines if there is room.
    fn push(&self, lines: &[u8]) {
        let mut state = self.state();
        let size = state.waiting.len().saturating_add(state.in_flight).saturating_add(lines.len());
        if size > CAPACITY && !IS_WRITER.get() {
            self.lose(state, lines);
            return;
        }
        let was_empty = state.waiting.is_empty();
        state.waiting.extend_from_slice(lines);
        drop(state);
        // A writer that is collecting need not wake up for each line.
        if was_empty {
            self.filled.notify_one();
        }
    }

    fn lose(&self, mut state: MutexGuard<'_, State>, lines: &[u8]) {
        let lost = lines.iter().fold(0_u64, |lost, byte| lost.saturating_add(u64::from(*byte == b'\n')));
        state.lost = state.lost.saturating_add(lost);
        drop(state);
        if lost > 0 {
            (self.on_loss.count)(lost);
        }
    }

    /// Writes batches until the process ends.
    fn write_batches(&self, mut output: impl Write) {
        IS_WRITER.set(true);
        let (mut batch, mut is_torn) = (Vec::new(), false);
        loop {
            self.next(&mut batch);
            let mut rest = batch.as_slice();
            // A torn line, written only in part, must not swallow the next line.
            let begun = if is_torn { output.write_all(b"\n") } else { Ok(()) };
            let written = begun.and_then(|()| write_all(&mut output, &mut rest));
            if let Some((last, _)) = batch.strip_suffix(rest).and_then(<[u8]>::split_last) {
                is_torn = *last != b'\n';
            }
            let mut state = self.state();
            state.in_flight = 0;
            match written {
                Ok(()) => {
                    let lost = mem::take(&mut state.lost);
                    drop(state);
                    if lost > 0 {
                        (self.on_loss.report)(lost);
                    }
                }
                Err(_) => self.lose(state, rest),
            }
        }
    }

    /// Waits for lines, lets more of them collect, and takes them all.
    fn next(&self, batch: &mut Vec<u8>) {
        batch.clear();
        batch.shrink_to(KEPT);
        let mut state = self.state();
        state.is_writing = false;
        self.settled.notify_all();
        let is_empty = |state: &mut State| state.waiting.is_empty();
        let state = self.filled.wait_while(state, is_empty).unwrap_or_else(PoisonError::into_inner);
        let is_collecting = |state: &mut State| !state.is_ending;
        let collected = self.filled.wait_timeout_while(state, COLLECTING, is_collecting);
        let (mut state, _) = collected.unwrap_or_else(PoisonError::into_inner);
        mem::swap(&mut state.waiting, batch);
        state.in_flight = batch.len();
        state.is_writing = true;
    }
}

/// Writes everything; after a failure, `rest` is the unwritten part.
fn write_all(output: &mut impl Write, rest: &mut &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        match output.write(rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => *rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    output.flush()
}

impl QueueWriter {
    /// Queues complete lines, each with its line feed.
    pub fn push(&self, lines: &str) {
        self.0.push(lines.as_bytes());
    }
}

impl Write for &QueueWriter {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.0.push(lines);
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for QueueWriter {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::{self, Receiver, Sender};
    use std::time::Instant;

    use super::*;

    /// The reaction of the output to the next batch.
    enum Reply {
        Take,
        /// Accepts this many bytes, then fails.
        Fail(usize),
    }

    /// An output that passes on each write and then waits for the reply of the test.
    struct Output {
        seen: Sender<String>,
        replies: Receiver<Reply>,
        failing: bool,
    }

    impl Write for Output {
        fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
            if mem::take(&mut self.failing) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.seen.send(String::from_utf8(lines.to_vec()).unwrap()).unwrap();
            match self.replies.recv() {
                Ok(Reply::Take) => Ok(lines.len()),
                Ok(Reply::Fail(taken)) => {
                    self.failing = taken > 0;
                    if self.failing { Ok(taken) } else { Err(io::ErrorKind::BrokenPipe.into()) }
                }
                // The test has ended.
                Err(_) => Ok(lines.len()),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Scene {
        queue: LogQueue,
        writer: QueueWriter,
        seen: Receiver<String>,
        replies: Sender<Reply>,
        counted: Arc<AtomicU64>,
    }

    impl Scene {
        fn new() -> Self {
            let ((shows, seen), (replies, waits)) = (mpsc::channel(), mpsc::channel());
            let counted = Arc::new(AtomicU64::new(0));
            let (counter, reporting) = (counted.clone(), Arc::new(OnceLock::<QueueWriter>::new()));
            let reports = reporting.clone();
            let on_loss = OnLoss {
                count: Box::new(move |lost| {
                    counter.fetch_add(lost, Ordering::SeqCst);
                }),
                report: Box::new(move |lost| reports.get().unwrap().push(&format!("lost {lost}\n"))),
            };
            let output = Output { seen: shows, replies: waits, failing: false };
            let queue = LogQueue::start(output, on_loss).unwrap();
            assert!(reporting.set(queue.writer()).is_ok());
            Self { writer: queue.writer(), queue, seen, replies, counted }
        }

        /// Returns the next batch; the writer then waits for a reply.
        fn batch(&self) -> String {
            self.seen.recv_timeout(Duration::from_secs(30)).unwrap()
        }

        fn reply(&self, reply: Reply) {
            self.replies.send(reply).unwrap();
        }

        fn counted(&self) -> u64 {
            self.counted.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn lines_queued_during_a_write_are_written_together() {
        let scene = Scene::new();
        scene.writer.push("one\n");
        assert_eq!(scene.batch(), "one\n");
        scene.writer.push("two\n");
        scene.writer.push("three\n");
        scene.reply(Reply::Take);
        assert_eq!(scene.batch(), "two\nthree\n");
        assert_eq!(scene.counted(), 0);
    }

    #[test]
    fn a_full_queue_drops_lines_and_reports_them_later() {
        let scene = Scene::new();
        let line = format!("{}\n", "x".repeat(1_023));
        let fits = u64::try_from(CAPACITY / line.len()).unwrap();
        scene.writer.push(&line);
        assert_eq!(scene.batch(), line);
        // The batch being written takes up room too.
        for _ in 1..fits + 10 {
            scene.writer.push(&line);
        }
        assert_eq!(scene.counted(), 10);
        scene.reply(Reply::Take);
        let batch = scene.batch();
        assert!(batch.starts_with(&line), "{}", batch.len());
        let lines: u64 = batch.lines().count().try_into().unwrap();
        scene.reply(Reply::Take);
        let rest = if lines == fits { String::new() } else { scene.batch() };
        assert!(format!("{batch}{rest}").ends_with("x\nlost 10\n"), "{lines} of {fits}: {rest}");
        assert_eq!(scene.counted(), 10);
    }

    #[test]
    fn lines_lost_in_failed_writes_are_counted_and_reported() {
        let scene = Scene::new();
        scene.writer.push("one\ntwo\nthree\n");
        assert_eq!(scene.batch(), "one\ntwo\nthree\n");
        scene.reply(Reply::Fail(6));
        scene.writer.push("four\n");
        // The second line is torn, so that the next write starts a new line.
        assert_eq!(scene.batch(), "\n");
        scene.reply(Reply::Take);
        assert_eq!(scene.batch(), "four\n");
        assert_eq!(scene.counted(), 2);
        scene.reply(Reply::Fail(0));
        scene.writer.push("five\n");
        while scene.batch() == "\n" {
            scene.reply(Reply::Take);
        }
        scene.reply(Reply::Take);
        assert_eq!(scene.batch(), "lost 3\n");
        assert_eq!(scene.counted(), 3);
    }

    #[test]
    fn dropping_the_queue_flushes_it() {
        let scene = Scene::new();
        for reply in [Reply::Take, Reply::Take, Reply::Take] {
            scene.reply(reply);
        }
        scene.writer.push("one\n");
        assert_eq!(scene.batch(), "one\n");
        scene.writer.push("last\n");
        drop(scene.queue);
        assert_eq!(scene.seen.try_recv().unwrap(), "last\n");
    }

    #[test]
    fn dropping_the_queue_waits_one_second_for_a_blocked_output() {
        let scene = Scene::new();
        scene.writer.push("one\n");
        assert_eq!(scene.batch(), "one\n");
        let begin = Instant::now();
        drop(scene.queue);
        assert!((FLUSH..FLUSH * 5).contains(&begin.elapsed()), "{:?}", begin.elapsed());
    }
}
