//! A venue behind one address with one hostile phone, at the quotas of production. While the phone sends sixty requests of
//! each kind a minute, everybody else can log in, register, claim and request. While it sends twenty of each kind a second,
//! only people with an account or a cookie can. The answers to all others say when to try again.
//!
//! `CUEPOINT_SOAK=10` has 300 guests and the hash cost of production, and each test lasts for five minutes. A regular run
//! has 12 guests, and lasts for three seconds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::guest_scene::Evening;
use crate::harness::{
    Answer, Browser, Client, End, PASSWORD, Server, default_hash_cost, leads_to, soak_times,
};
use crate::limits::known_browsers::{Phone, VENUE, api, first_request, log_in, post, request};

/// The guests of a regular run, and of the longest one.
const GUESTS: [usize; 2] = [12, 300];
/// The duration of a regular run, and of the longest one.
const LASTS: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(300)];
/// The attacks that run at the same time. In a regular run, other tests use the cores too, and slow attacks wait for their
/// turn; in the longest one, none waits.
const ATTACKS_AT_ONCE: [usize; 2] = [4, 60];
/// The run that is the longest one.
const MOST_TIMES: usize = 10;

/// A guest of the venue.
struct Visitor {
    email: String,
    /// A member's browser, which is known.
    member: Browser,
    /// The browser of a guest account.
    guest: Browser,
}

impl Visitor {
    fn arrive(server: &Server, evening: &Evening, number: usize) -> Self {
        let client = server.client();
        let visitor = Self {
            email: format!("ben-{number}@example.com"),
            member: Browser::new(&client),
            guest: Browser::new(&client),
        };
        let fields = [("name", "Ben"), ("email", visitor.email.as_str()), ("password", PASSWORD)];
        leads_to(&post(&visitor.member, VENUE, "/register", &fields));
        leads_to(&first_request(&visitor.guest, evening));
        visitor
    }

    /// The actions of people with an account or a cookie.
    fn go_on(&self, client: &Client, evening: &Evening, number: usize) {
        leads_to(&log_in(&self.member, VENUE, &self.email, PASSWORD));
        leads_to(&first_request(&self.member, evening));
        api(client, "/auth/login", &json!({"email": self.email, "password": PASSWORD})).data(200);
        leads_to(&request(&self.guest, evening, "Temptation"));
        let email = format!("mia-{number}@example.com");
        leads_to(&post(
            &self.guest,
            VENUE,
            "/claim",
            &[("name", "Mia"), ("email", &email), ("password", PASSWORD)],
        ));
    }
}

/// The actions of a newcomer: a registration, a login in another browser, a first request and a guest account.
fn newcomer(client: &Client, evening: &Evening, number: usize) -> Vec<Answer> {
    let new = || Browser::new(client);
    let email = format!("cyd-{number}@example.com");
    let fields = [("name", "Cyd"), ("email", email.as_str()), ("password", PASSWORD)];
    vec![
        post(&new(), VENUE, "/register", &fields),
        log_in(&new(), VENUE, &format!("ben-{number}@example.com"), PASSWORD),
        first_request(&new(), evening),
        api(client, "/auth/guest", &json!({})),
    ]
}

/// Plays the evening, and returns the answers to newcomers.
fn play(attacks_per_second: u32) -> Vec<Answer> {
    let is_long = usize::from(soak_times() >= MOST_TIMES);
    let (guests, lasts) = (GUESTS[is_long], LASTS[is_long]);
    let cost = default_hash_cost();
    let mut keys = vec![("gigs.max_open", "1000")];
    keys.extend(cost.into_iter().filter(|_| is_long == 1));
    let server = Server::counting(&keys);
    let evening = Evening::new(&server);
    let client = server.client();
    let booth = Browser::new(&client);
    leads_to(&log_in(&booth, VENUE, &evening.dj.email, PASSWORD));
    let visitors: Vec<Visitor> =
        (0..guests).map(|number| Visitor::arrive(&server, &evening, number)).collect();
    let (is_over, next) = (&AtomicBool::new(false), &AtomicUsize::new(0));
    let phone = &Phone::new(&server, &evening);
    let answers = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let _end = End(is_over);
        let began = Instant::now();
        let every = move |number: usize, interval: Duration| {
            let at = interval * u32::try_from(number).unwrap();
            thread::sleep((began + at).saturating_duration_since(Instant::now()));
        };
        for _ in 0..ATTACKS_AT_ONCE[is_long] {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    every(number, Duration::from_secs(1) / attacks_per_second);
                    if !is_over.load(Ordering::Relaxed) {
                        phone.attack(number);
                    }
                }
            });
        }
        for (number, visitor) in visitors.iter().enumerate() {
            every(number, lasts / u32::try_from(guests).unwrap());
            visitor.go_on(&client, &evening, number);
            answers.lock().unwrap().extend(newcomer(&client, &evening, number));
            // Full queues are another attack: the sandbox pays for the phone's requests.
            let path = format!("/gigs/{}/reject-guests", evening.gig["id"]);
            evening.dj.post(&path, &json!({"younger_than_minutes": 15})).data(202);
        }
        leads_to(&log_in(&booth, VENUE, &evening.dj.email, PASSWORD));
        assert_eq!(booth.send(booth.call("GET", "/booth").header("x-forwarded-for", VENUE)).status, 200);
    });
    answers.into_inner().unwrap()
}

/// Attack API4: one phone locks out everybody behind the address of a venue, with sixty of each kind a minute.
#[test]
fn a_phone_with_sixty_of_each_kind_a_minute_locks_nobody_out() {
    for answer in play(1) {
        assert!(matches!(answer.status, 200 | 201 | 303), "{answer}");
    }
}

/// Attack API4: one phone locks out everybody behind the address of a venue, with twenty of each kind a second.
#[test]
fn a_phone_with_twenty_of_each_kind_a_second_locks_no_account_out() {
    for answer in play(20) {
        let is_told = answer.header("retry-after").is_some();
        assert!(matches!(answer.status, 200 | 201 | 303) || (answer.status == 429 && is_told), "{answer}");
    }
}
