//! A screen of the venue: a phone, the booth or a display, which follows its page as the script does.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::stream::BoardStream;
use super::{LAST, Song, Venue};
use crate::harness::Browser;

/// The longest random wait before a part is read.
const WAIT: Duration = Duration::from_secs(2);
/// The silence after which a stream counts as lost.
const SILENCE: Duration = Duration::from_secs(35);
/// The time after which a refused part is read again.
const READ_AGAIN: Duration = Duration::from_secs(10);
/// The interval at which a screen looks whether the evening is over.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Phone,
    Display,
    Booth,
}

/// A screen with its open page.
pub(super) struct Screen<'a> {
    venue: &'a Venue,
    kind: Kind,
    browser: Browser,
    random: Rng,
    /// The digest of the part that it shows.
    digest: String,
    /// The songs whose change it has shown.
    seen: BTreeSet<String>,
}

impl<'a> Screen<'a> {
    pub(super) fn new(venue: &'a Venue, kind: Kind, browser: Browser, seed: u64) -> Self {
        let random = Rng::with_seed(seed);
        Self { venue, kind, browser, random, digest: String::new(), seen: BTreeSet::new() }
    }

    fn page(&self) -> String {
        let code = &self.venue.code;
        match self.kind {
            Kind::Phone => format!("/g/{code}"),
            Kind::Display => format!("/g/{code}/display"),
            Kind::Booth => "/booth".to_owned(),
        }
    }

    /// Opens the page with its style sheets, script and icon.
    pub(super) fn open(&mut self) {
        let begin = Instant::now();
        let page = self.browser.get(&self.page());
        self.venue.record.answered("page", page.status);
        assert_eq!(page.status, 200, "{page}");
        let assets: BTreeSet<&str> =
            page.text.split('"').filter(|text| text.starts_with("/assets/")).collect();
        assert!(assets.len() >= 4, "{assets:?}");
        for asset in assets {
            let file = self.browser.call("GET", asset).header("accept-encoding", "gzip").send();
            self.venue.record.answered("asset", file.status);
            assert_eq!(file.status, 200, "{asset}");
        }
        let (_, digest) = page.text.split_once("data-digest=\"").unwrap();
        digest.split('"').next().unwrap().clone_into(&mut self.digest);
        self.venue.record.arrived(begin.elapsed());
    }

    /// Follows the stream until the evening is over, and reads the part after each change.
    pub(super) fn follow(&mut self) {
        let mut stream = self.stream();
        let (mut heard_at, mut due) = (Instant::now(), None::<Instant>);
        while !self.venue.is_over.load(Ordering::Relaxed) {
            let until = Instant::now() + LOOK;
            match stream.version(due.map_or(until, |due| due.min(until))) {
                Ok(Some(newest)) => {
                    heard_at = Instant::now();
                    // Digests of guest pages end with the version. Other screens show more than it covers.
                    if self.kind != Kind::Phone || !self.digest.ends_with(&newest) {
                        let later = heard_at + self.wait();
                        due = Some(due.map_or(later, |due| due.min(later)));
                    }
                }
                Ok(None) if heard_at.elapsed() < SILENCE => {}
                silent_or_lost => {
                    self.venue.record.lost_stream(format!("{silent_or_lost:?}"));
                    due = Some(Instant::now() + self.wait());
                    (stream, heard_at) = (self.stream(), Instant::now());
                }
            }
            if due.is_some_and(|due| due <= Instant::now()) {
                due = (!self.read()).then(|| Instant::now() + READ_AGAIN);
            }
        }
    }

    fn wait(&mut self) -> Duration {
        WAIT.mul_f64(self.random.f64())
    }

    fn stream(&self) -> BoardStream {
        let (stream, status) = BoardStream::open(&self.venue.host, &self.venue.code).unwrap();
        self.venue.record.answered("stream", status);
        assert_eq!(status, 200, "a stream was refused");
        stream
    }

    /// Reads the part, unless the screen shows it already. Returns whether it was answered.
    fn read(&mut self) -> bool {
        let begin = Instant::now();
        let path = format!("{}/live?digest={}", self.page(), self.digest);
        let part = self.browser.send(self.browser.call("GET", &path).header("x-cuepoint-part", "1"));
        self.venue.record.read_part(begin.elapsed());
        self.venue.record.answered("part", part.status);
        if part.status != 200 {
            return part.status == 204;
        }
        part.header("x-cuepoint-digest").unwrap().clone_into(&mut self.digest);
        let (songs, shown) = match self.kind {
            Kind::Booth => (&self.venue.asked, part.text.as_str()),
            Kind::Display => (&self.venue.accepted, part.text.as_str()),
            // The guest's own requests come first.
            Kind::Phone => (&self.venue.accepted, part.text.split_once("id=\"next\"").unwrap().1),
        };
        let songs = songs.lock().unwrap().clone();
        for Song { title, at } in songs {
            if shown.contains(&title) && self.seen.insert(title.clone()) {
                self.venue.record.saw(at.elapsed(), title == LAST);
            }
        }
        true
    }
}
