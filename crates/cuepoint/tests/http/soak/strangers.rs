//! Strangers who become DJs, fill their gigs with the letter that grows most, and read reports and queues of these gigs
//! all the time. Other requests are answered meanwhile.
//!
//! `CUEPOINT_SOAK=10` has 20 DJs with 600 requests each, and 20 readers of pages, for two minutes. A regular run has two DJs
//! with 60 requests each, for two seconds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::gig_scene::open;
use crate::harness::{Browser, End, Person, Server, Store, soak_times};

on_durable_stores!(strangers_who_read_large_reports_leave_the_server_to_others);

/// The largest run. The promised times apply only to it.
const MOST_TIMES: usize = 10;
/// The numbers of a regular run.
const DJS: usize = 2;
const READERS: usize = 2;
const REQUESTS: usize = 60;
/// The number of open requests of each guest.
const OF_GUEST: usize = 60;
const LASTS: Duration = Duration::from_secs(2);
const LASTS_LONG: Duration = Duration::from_secs(120);
/// The promised time of a health check, and the number of checks in a thousand that keep it.
const ALIVE_WITHIN: Duration = Duration::from_millis(50);
const ALIVE_WITHIN_OF_THOUSAND: usize = 999;
/// The promised time of the slowest health check.
const ALIVE_AT_LAST: Duration = Duration::from_millis(500);

/// A DJ with a gig that is full of growing letters.
fn stranger(server: &Server, requests: usize) -> (Person, Value) {
    let dj = server.dj_at("0", "0");
    let gig = open(&dj, &json!({"title": "Friday", "max_open_per_guest": OF_GUEST}));
    let line = |end: usize| format!("{}{end}", "\u{fdfa}".repeat(250));
    for first in (0..requests).step_by(OF_GUEST) {
        let guest = server.guest();
        for number in first..requests.min(first + OF_GUEST) {
            let body = json!({
                "dj_id": dj.id, "song_title": line(number), "artist_name": line(0), "artist_type": "popular"
            });
            guest.post("/music/requests", &body).data(201);
        }
    }
    (dj, gig)
}

/// Repeats a call until the attack is over, and returns how long each took.
fn repeated(is_over: &AtomicBool, mut call: impl FnMut()) -> Vec<Duration> {
    let mut took = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let began = Instant::now();
        call();
        took.push(began.elapsed());
    }
    took.sort_unstable();
    took
}

/// Attack API4: many strangers with gigs whose reports take long, so that a server does not answer others.
fn strangers_who_read_large_reports_leave_the_server_to_others(store: Store) {
    let times = soak_times().min(MOST_TIMES);
    let server = Server::configured(store, &[("gigs.max_open", "1000")]);
    let strangers: Vec<_> = (0..DJS * times).map(|_| stranger(&server, REQUESTS * times)).collect();
    let (is_over, refused) = (AtomicBool::new(false), Mutex::new(0_usize));
    let alive = thread::scope(|scope| {
        let _end = End(&is_over);
        for (dj, gig) in &strangers {
            let paths = ["report", "queue"].map(|path| format!("/gigs/{}/{path}", gig["id"]));
            let (is_over, refused) = (&is_over, &refused);
            scope.spawn(move || {
                for path in paths.iter().cycle() {
                    let answer = dj.get(path);
                    assert!([200, 503].contains(&answer.status), "{answer}");
                    if answer.status == 503 {
                        assert!(answer.header("retry-after").is_some(), "{answer}");
                        *refused.lock().unwrap() += 1;
                    }
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        for number in 0..READERS * times {
            let code = strangers[number % strangers.len()].1["code"].as_str().unwrap().to_owned();
            let (client, is_over) = (server.client(), &is_over);
            scope.spawn(move || {
                let page = format!("/g/{code}");
                repeated(is_over, || assert_eq!(Browser::new(&client).get(&page).status, 200));
            });
        }
        let began = Instant::now();
        let lasts = if times < MOST_TIMES { LASTS } else { LASTS_LONG };
        repeated(&is_over, || {
            assert_eq!(server.client().outside("GET", "/health/live").send().status, 200);
            if began.elapsed() >= lasts {
                is_over.store(true, Ordering::Relaxed);
            }
        })
    });
    let refused = *refused.lock().unwrap();
    let slowest = alive.last().copied().unwrap_or_default();
    let usual = alive.get(alive.len() * ALIVE_WITHIN_OF_THOUSAND / 1_000).copied().unwrap_or_default();
    println!(
        "{} health checks, 99.9 % within {usual:?}, all within {slowest:?}; {refused} calls refused",
        alive.len()
    );
    assert!(
        times < MOST_TIMES || (usual <= ALIVE_WITHIN && slowest <= ALIVE_AT_LAST),
        "{usual:?}, {slowest:?}"
    );
}
