//! What the screens of a venue experienced.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Times of one kind.
#[derive(Default)]
struct Times(Mutex<Vec<Duration>>);

impl Times {
    fn add(&self, time: Duration) {
        self.0.lock().unwrap().push(time);
    }

    fn sorted(&self) -> Vec<Duration> {
        let mut times = self.0.lock().unwrap().clone();
        times.sort_unstable();
        times
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = self.sorted();
        let Some(slowest) = times.last() else { return f.write_str("none") };
        let [p50, p99] = [50, 99].map(|percent| times[(times.len() - 1) * percent / 100]);
        write!(f, "{} (p50 {p50:.1?}, p99 {p99:.1?}, slowest {slowest:.1?})", times.len())
    }
}

/// The experience of all screens.
#[derive(Default)]
pub(super) struct Record {
    /// Arrivals: a page with all that it needs.
    arrivals: Times,
    /// Pages that a phone with its files reads again.
    pages: Times,
    /// Readings of a live part.
    parts: Times,
    /// From a change to the reading that shows it.
    seen: Times,
    /// The screens that show the last change.
    last: Times,
    /// The answers by kind and status.
    answers: Mutex<BTreeMap<(&'static str, u16), usize>>,
    /// The streams that ended early.
    lost_streams: Mutex<Vec<String>>,
}

impl Record {
    /// Times the reading of a page.
    pub(super) fn page<T>(&self, read: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let page = read();
        self.pages.add(begin.elapsed());
        page
    }

    pub(super) fn arrived(&self, time: Duration) {
        self.arrivals.add(time);
    }

    pub(super) fn read_part(&self, time: Duration) {
        self.parts.add(time);
    }

    pub(super) fn saw(&self, after: Duration, is_last: bool) {
        (if is_last { &self.last } else { &self.seen }).add(after);
    }

    pub(super) fn answered(&self, kind: &'static str, status: u16) {
        *self.answers.lock().unwrap().entry((kind, status)).or_default() += 1;
    }

    pub(super) fn lost_stream(&self, why: String) {
        self.lost_streams.lock().unwrap().push(why);
    }

    /// The number of screens that show their page.
    pub(super) fn opened(&self) -> usize {
        self.arrivals.0.lock().unwrap().len()
    }

    /// The number of screens that show the last change.
    pub(super) fn at_the_last_change(&self) -> usize {
        self.last.0.lock().unwrap().len()
    }

    /// The answers that refused something, such as 429 and 503, by kind and status.
    pub(super) fn refusals(&self) -> Vec<((&'static str, u16), usize)> {
        let answers = self.answers.lock().unwrap().clone();
        answers.into_iter().filter(|((_, status), _)| *status >= 400).collect()
    }

    pub(super) fn slowest_page(&self) -> Duration {
        [&self.arrivals, &self.pages].into_iter().flat_map(Times::sorted).max().unwrap_or_default()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { arrivals, pages, parts, seen, last, answers, lost_streams } = self;
        let (answers, lost) = (answers.lock().unwrap(), lost_streams.lock().unwrap());
        write!(
            f,
            "arrivals {arrivals}, pages {pages}, parts {parts}, changes seen {seen}, the last one {last}, answers \
             {answers:?}, lost streams {lost:?}"
        )
    }
}
