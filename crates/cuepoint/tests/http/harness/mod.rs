//! The test harness: servers, clients, users, and the stores.

mod answer;
mod browser;
mod client;
mod database;
mod event_stream;
mod examples;
pub(crate) mod gig_scene;
pub(crate) mod guest_scene;
mod listening;
mod mail;
mod messages;
mod name_server;
mod objects;
mod people;
mod provider;
mod provider_scene;
mod proxy;
mod raw;
mod restored;
mod routes;
mod server;

pub(crate) use answer::{Answer, keys};
pub(crate) use browser::{Browser, DRAFT, GUEST, SESSION, escaped, field, is_page, leads_to, set_cookies};
pub(crate) use client::{Call, Client};
pub(crate) use database::Database;
pub(crate) use event_stream::{EventStream, Message as StreamMessage, Received};
pub(crate) use examples::{DOCUMENTED, Examples, bash, blocks, documents, section};
pub(crate) use listening::Listening;
pub(crate) use mail::{MailServer, Post};
pub(crate) use messages::{
    Message, NEW, OLD, STRANGE, TOPUPS, is_signed, is_stored_for_review, paid, payout_keys,
};
pub(crate) use name_server::NameServer;
pub(crate) use objects::object_of;
pub(crate) use people::{
    DJ, PASSWORD, PERSONAL_INFO, Person, REQUEST, WEBHOOK_URL, WITHDRAWAL, WITHDRAWAL_FACTS, cents, line,
    operator_keys, song,
};
pub(crate) use provider::{Provider, ReceivedRequest, Reply};
pub(crate) use provider_scene::ProviderScene;
pub(crate) use proxy::{Proxy, Traffic};
pub(crate) use raw::{RawConnection, answers, exchange};
pub(crate) use restored::Restored;
pub(crate) use routes::{ROUTES, Route, UNKNOWN_CODE};
pub(crate) use server::{
    LISTENING, Place, SHARED_KEY, Server, completed, default_hash_cost, once_servers_are_gone, run, run_at,
    run_with_input,
};

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

/// Says that the work of other threads is over when it is dropped, also by a failed assertion.
pub(crate) struct End<'a>(pub(crate) &'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The stores on which every suite runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Store {
    Memory,
    Sqlite,
    Postgres,
}

/// Declares a test per store for each function of a store, named after the store.
macro_rules! on_every_store {
    ($($test:ident),+ $(,)?) => {
        mod on_memory {
            $(#[test]
            fn $test() {
                super::$test($crate::harness::Store::Memory);
            })+
        }

        mod on_sqlite {
            $(#[test]
            fn $test() {
                super::$test($crate::harness::Store::Sqlite);
            })+
        }

        mod on_postgres {
            $(#[test]
            fn $test() {
                super::$test($crate::harness::Store::Postgres);
            })+
        }
    };
}

/// Amounts in both languages.
macro_rules! amount {
    ($english:literal, $german:literal) => {
        [concat!($english, "\u{a0}USD"), concat!($german, "\u{a0}USD")]
    };
}

/// Declares a test for each function of a store on the default store: for what no store can change, because the domain
/// or the API decides it and the contract of the ports holds on every store.
macro_rules! on_one_store {
    ($($test:ident),+ $(,)?) => {
        mod on_one_store {
            $(#[test]
            fn $test() {
                super::$test($crate::harness::default_store());
            })+
        }
    };
}

/// Declares a test for each function of a store on every store whose data outlives its process.
macro_rules! on_durable_stores {
    ($($test:ident),+ $(,)?) => {
        mod durable_on_sqlite {
            $(#[test]
            fn $test() {
                super::$test($crate::harness::Store::Sqlite);
            })+
        }

        mod durable_on_postgres {
            $(#[test]
            fn $test() {
                super::$test($crate::harness::Store::Postgres);
            })+
        }
    };
}

/// The store of tests that need only one: SQLite, or PostgreSQL while its statements are recorded.
pub(crate) fn default_store() -> Store {
    match env::var_os("CUEPOINT_TEST_STORE") {
        None => Store::Sqlite,
        Some(store) if store == "postgres" => Store::Postgres,
        Some(store) => panic!("CUEPOINT_TEST_STORE={} is no store", store.to_string_lossy()),
    }
}

/// The factor by which a soak run is longer than a regular one; `cargo xtask soak` sets it.
pub(crate) fn soak_times() -> usize {
    env::var_os("CUEPOINT_SOAK").map_or(1, |times| {
        let times = times.to_string_lossy().into_owned();
        times.parse().unwrap_or_else(|_| panic!("CUEPOINT_SOAK={times} is no number"))
    })
}

/// Sends these calls concurrently and returns the answers, in the order of the calls.
pub(crate) fn at_once(calls: Vec<Call>) -> Vec<Answer> {
    let start = Barrier::new(calls.len());
    let send = |call: Call| {
        start.wait();
        call.send()
    };
    thread::scope(|scope| {
        let send = &send;
        let threads: Vec<_> = calls.into_iter().map(|call| scope.spawn(move || send(call))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Polls until there is a value, for at most half a minute.
pub(crate) fn eventually<T>(what: &str, probe: impl FnMut() -> Option<T>) -> T {
    within(Duration::from_secs(30), what, probe)
}

/// Polls until there is a value, for at most this time.
pub(crate) fn within<T>(time: Duration, what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + time;
    loop {
        if let Some(answer) = probe() {
            return answer;
        }
        assert!(Instant::now() < end, "not within {time:?}: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
