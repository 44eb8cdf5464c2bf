//! Guests of a venue who log in from one address while many networks guess passwords: all of them are logged in
//! within three minutes, and a right password from elsewhere is answered within three seconds. Passwords are
//! hashed at the cost of production, which `config/default.toml` sets, with the quotas of production.
//!
//! `CUEPOINT_SOAK=10` has ten times as many guests, guesses and networks: 300 guests, and 300 guesses a second from
//! 64 networks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Answer, Client, End, PASSWORD, Server, Store, default_hash_cost, soak_times};

on_one_store!(guests_behind_one_address_log_in_while_others_guess_passwords);

/// The number of guests of a run.
const GUESTS: usize = 30;
/// The number of guesses in a second of a run.
const GUESSES: usize = 30;
/// The largest run for which the times are promised.
const MOST_TIMES: usize = 10;
/// The number of networks that guess in the largest run.
const NETWORKS: usize = 64;
const GUESTS_WITHIN: Duration = Duration::from_secs(180);
const ELSEWHERE_WITHIN: Duration = Duration::from_secs(3);
/// The time from the first guess to the arrival of the guests.
const ALONE: Duration = Duration::from_secs(2);
const VENUE: &str = "192.0.2.1";

fn log_in(client: &Client, address: &str, email: &str, password: &str) -> Answer {
    let body = json!({"email": email, "password": password});
    client.call("POST", "/auth/login").json(&body).header("x-forwarded-for", address).send()
}

fn guest(number: usize) -> String {
    format!("guest-{number}@example.com")
}

/// Registers a user from an address of their own.
fn register(client: &Client, number: usize, email: &str) {
    let body = json!({"name": "Guest", "email": email, "password": PASSWORD});
    let address = format!("10.0.{}.{}", number / 200, number % 200);
    client.call("POST", "/auth/register").json(&body).header("x-forwarded-for", &address).send().data(201);
}

/// Guesses passwords of guests and of unknown users until the attack is over, at this rate regardless of the
/// answers, and counts the answers.
fn guess<'s>(
    scope: &'s Scope<'s, '_>,
    client: &'s Client,
    (times, is_over): (usize, &'s AtomicBool),
    [wrong, refused]: [&'s AtomicUsize; 2],
) {
    let (begin, interval) =
        (Instant::now(), Duration::from_secs(1) / u32::try_from(GUESSES * times).unwrap());
    for number in 0.. {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        scope.spawn(move || {
            let address = format!("203.0.113.{}", number % (NETWORKS * times / MOST_TIMES));
            let email = match number % 2 {
                0 => guest(number % (GUESTS * times)),
                _ => format!("nobody-{number}@example.com"),
            };
            let answer = log_in(client, &address, &email, "wrong horse");
            match answer.status {
                401 => wrong,
                429 | 503 => refused,
                _ => panic!("{answer}"),
            }
            .fetch_add(1, Ordering::Relaxed)
        });
        let next = begin + interval * u32::try_from(number + 1).unwrap();
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
}

/// Logs in as an app does that keeps to `Retry-After`, and returns the number of attempts.
fn arrive(client: &Client, number: usize) -> usize {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let answer = log_in(client, VENUE, &guest(number), PASSWORD);
        match answer.status {
            200 => return attempts,
            429 | 503 => {
                let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
                // Apps do not try again in the same millisecond.
                thread::sleep(Duration::from_secs(seconds) + Duration::from_millis(fastrand::u64(..500)));
            }
            _ => panic!("{answer}"),
        }
    }
}

/// Attack API4: keeping the cores busy with password hashes from many networks.
fn guests_behind_one_address_log_in_while_others_guess_passwords(store: Store) {
    let times = soak_times().min(MOST_TIMES);
    let keys = [("rate_limits.enabled", "true"), ("server.trusted_proxies", "127.0.0.1")];
    let server = Server::configured(store, &[keys, default_hash_cost()].concat());
    let client = server.client();
    let guests = GUESTS * times;
    (0..guests).for_each(|number| register(&client, number, &guest(number)));
    register(&client, guests, "ada@example.com");

    let (is_over, wrong, refused) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
    let (arrived, attempts) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (took, slowest) = (Mutex::new(Duration::ZERO), Mutex::new(Duration::ZERO));
    thread::scope(|scope| {
        let _end = End(&is_over);
        scope.spawn(|| guess(scope, &client, (times, &is_over), [&wrong, &refused]));
        thread::sleep(ALONE);
        let opened = Instant::now();
        for number in 0..guests {
            let (client, arrived, attempts, took) = (&client, &arrived, &attempts, &took);
            scope.spawn(move || {
                attempts.fetch_add(arrive(client, number), Ordering::Relaxed);
                *took.lock().unwrap() = opened.elapsed();
                arrived.fetch_add(1, Ordering::Relaxed);
            });
        }
        let mut probes = 0;
        while arrived.load(Ordering::Relaxed) < guests && opened.elapsed() < GUESTS_WITHIN || probes < 10 {
            let begin = Instant::now();
            let address = format!("198.51.{}.{}", 100 + probes / 200, probes % 200);
            log_in(&client, &address, "ada@example.com", PASSWORD).data(200);
            let mut slowest = slowest.lock().unwrap();
            *slowest = slowest.max(begin.elapsed());
            probes += 1;
            thread::sleep(Duration::from_millis(100));
        }
    });
    let (took, slowest) = (*took.lock().unwrap(), *slowest.lock().unwrap());
    eprintln!(
        "{guests} guests logged in within {took:?} and {attempts:?} attempts; the slowest login from elsewhere took \
         {slowest:?}; {wrong:?} guesses were checked, {refused:?} refused"
    );
    assert!(took <= GUESTS_WITHIN, "the guests were logged in after {took:?}");
    // In a regular run, other tests use the cores too.
    let bound = if times == MOST_TIMES { ELSEWHERE_WITHIN } else { ELSEWHERE_WITHIN * 2 };
    assert!(slowest <= bound, "a login from elsewhere took {slowest:?}");
    let checked = wrong.into_inner();
    assert!(checked > 0, "no guess was checked");
}
