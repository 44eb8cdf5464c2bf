//! A venue on an evening: phones, a booth and two displays behind one address, with the quotas of production. All phones
//! arrive at once; then guests request songs, and the DJ answers in the booth. No page is refused or takes more than ten
//! seconds, and every screen shows the last change.
//!
//! `CUEPOINT_SOAK=10` has 300 phones, and 20 changes a minute for ten minutes. A regular run has 30 phones, and 20 changes
//! in 20 seconds.

mod record;
mod screen;
mod stream;

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use record::Record;
use screen::{Kind, Screen};

use crate::harness::guest_scene::Evening;
use crate::harness::{Browser, Client, End, Server, Store, leads_to, soak_times, within};

on_one_store!(every_screen_behind_one_address_shows_the_last_change_within_the_quotas_of_production);

/// The number of phones of a run.
const PHONES: usize = 30;
const DISPLAYS: usize = 2;
/// The number of changes of a run.
const CHANGES: usize = 20;
/// The largest run.
const MOST_TIMES: usize = 10;
/// The time from one change to the next in a long run, and in a regular one.
const PACE: Duration = Duration::from_secs(3);
const REGULAR_PACE: Duration = Duration::from_secs(1);
/// The promised time of a page with its style sheets, script and icon.
const PAGE_WITHIN: Duration = Duration::from_secs(10);
/// The time in which a screen has to show the last change, on a machine that does other work too.
const SEEN_WITHIN: Duration = Duration::from_secs(30);
/// The song of the last change.
const LAST: &str = "The last song";

/// A change of the evening.
#[derive(Clone, Copy)]
enum Change {
    /// The first request of a guest, with a new account.
    Ask,
    Accept,
    Reject,
    Play,
}

/// The changes, again and again: as many requests are answered as are made.
const CYCLE: [Change; 8] = [
    Change::Ask,
    Change::Ask,
    Change::Accept,
    Change::Ask,
    Change::Accept,
    Change::Play,
    Change::Reject,
    Change::Play,
];

/// A song on the evening, and when its change was sent.
#[derive(Clone)]
struct Song {
    title: String,
    at: Instant,
}

/// What all screens share.
struct Venue {
    code: String,
    client: Client,
    /// The address of the server, without the scheme.
    host: String,
    record: Record,
    /// The requested songs, which the booth shows.
    asked: Mutex<Vec<Song>>,
    /// The accepted songs, which all other screens show.
    accepted: Mutex<Vec<Song>>,
    is_over: AtomicBool,
}

/// The guests and the DJ, who make the changes.
struct Actors<'a> {
    venue: &'a Venue,
    evening: &'a Evening,
    phones: &'a [Browser],
    booth: &'a Browser,
    made: usize,
    asked: usize,
    waiting: VecDeque<(i64, String)>,
    playable: VecDeque<i64>,
}

impl Actors<'_> {
    /// Makes this many changes at this pace; the last one accepts the last song.
    fn act(mut self, changes: usize, pace: Duration) {
        let begin = Instant::now();
        for number in 0..changes {
            let due = begin + pace * u32::try_from(number).unwrap();
            thread::sleep(due.saturating_duration_since(Instant::now()));
            match changes - number {
                2 => self.ask(LAST.to_owned()),
                1 => {
                    let last = self.waiting.pop_back().unwrap();
                    self.accept(last);
                }
                _ => self.change(CYCLE[number % CYCLE.len()]),
            }
            self.made += 1;
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Ask => self.ask(format!("Song {:03}", self.asked)),
            Change::Accept => {
                let oldest = self.waiting.pop_front().unwrap();
                self.accept(oldest);
            }
            Change::Reject => {
                let (id, _) = self.waiting.pop_front().unwrap();
                self.tap("reject", id);
            }
            Change::Play => {
                let id = self.playable.pop_front().unwrap();
                self.tap("played", id);
            }
        }
    }

    /// Fills in the form of a phone that has no account yet, and reads the page to which it leads.
    fn ask(&mut self, title: String) {
        let phone = &self.phones[self.asked % self.phones.len()];
        let form = self.venue.record.page(|| self.evening.filled(phone, &title));
        self.venue.asked.lock().unwrap().push(Song { title: title.clone(), at: Instant::now() });
        let answer = self.evening.send(phone, &form);
        let (page, id) = leads_to(&answer).split_once("#request-").unwrap();
        assert_eq!(self.venue.record.page(|| phone.get(page)).status, 200);
        self.waiting.push_back((id.parse().unwrap(), title));
        self.asked += 1;
    }

    fn accept(&mut self, (id, title): (i64, String)) {
        self.venue.accepted.lock().unwrap().push(Song { title, at: Instant::now() });
        self.tap("accept", id);
        self.playable.push_back(id);
    }

    /// Sends a tap as the script of the booth does.
    fn tap(&self, answer: &str, id: i64) {
        let (key, ids) = (format!("{:032}-{answer}", self.made), id.to_string());
        let form = self.booth.form(&format!("/booth/{answer}"), &[("key", &key), ("ids", &ids)]);
        let answer = self.booth.send(form.header("x-cuepoint-part", "1"));
        assert_eq!(answer.status, 200, "{answer}");
    }
}

fn every_screen_behind_one_address_shows_the_last_change_within_the_quotas_of_production(store: Store) {
    let times = soak_times().min(MOST_TIMES);
    let pace = if times > 1 { PACE } else { REGULAR_PACE };
    let server = Server::configured(store, &[("rate_limits.enabled", "true")]);
    let evening = Evening::new(&server);
    let venue = Venue {
        code: evening.code.clone(),
        host: server.client().address.strip_prefix("http://").unwrap().to_owned(),
        client: server.client(),
        record: Record::default(),
        asked: Mutex::default(),
        accepted: Mutex::default(),
        is_over: AtomicBool::new(false),
    };
    let booth = Browser::logged_in(&venue.client, &evening.dj);
    let phones: Vec<Browser> =
        (0..PHONES * times).map(|_| Browser::new(&Client::new(&venue.client.address))).collect();
    let screens = phones.len() + DISPLAYS + 1;

    let open = Barrier::new(screens + 1);
    thread::scope(|scope| {
        let _end = End(&venue.is_over);
        let follow = |kind, browser: &Browser, seed| {
            let (venue, open, browser) = (&venue, &open, browser.clone());
            scope.spawn(move || {
                let mut screen = Screen::new(venue, kind, browser, seed);
                open.wait();
                screen.open();
                screen.follow();
            });
        };
        follow(Kind::Booth, &booth, 0);
        (1..).zip(&phones).for_each(|(seed, phone)| follow(Kind::Phone, phone, seed));
        let displays = (0..DISPLAYS).map(|_| Browser::new(&Client::new(&venue.client.address)));
        (1_000..).zip(displays).for_each(|(seed, display)| follow(Kind::Display, &display, seed));
        open.wait();
        within(PAGE_WITHIN, "every screen shows its page", || {
            (venue.record.opened() == screens).then_some(())
        });
        let actors = Actors {
            venue: &venue,
            evening: &evening,
            phones: &phones,
            booth: &booth,
            made: 0,
            asked: 0,
            waiting: VecDeque::new(),
            playable: VecDeque::new(),
        };
        actors.act(CHANGES * times, pace);
        within(SEEN_WITHIN, "every screen shows the last change", || {
            (venue.record.at_the_last_change() == screens).then_some(())
        });
    });
    let record = venue.record;
    eprintln!("{} phones, {} changes: {record}", phones.len(), CHANGES * times);
    assert_eq!(record.refusals(), [], "nothing is refused");
    assert!(record.slowest_page() <= PAGE_WITHIN, "a page took {:?}", record.slowest_page());
}
