//! What every suite needs: servers, clients, people, and the two stores.

mod answer;
mod client;
mod database;
mod mail;
mod messages;
mod people;
mod provider;
mod provider_scene;
mod proxy;
mod raw;
mod routes;
mod server;

pub(crate) use answer::{Answer, keys};
pub(crate) use client::{Call, Client};
pub(crate) use database::Database;
pub(crate) use mail::{MailServer, Post};
pub(crate) use messages::{Message, NEW, OLD, STRANGE, TOPUPS, is_signed, paid, payout_keys};
pub(crate) use people::{
    PASSWORD, PERSONAL_INFO, Person, REQUEST, WITHDRAWAL, cents, line, operator_keys, song,
};
pub(crate) use provider::{Heard, Provider, Reply};
pub(crate) use provider_scene::ProviderScene;
pub(crate) use proxy::{Proxy, Traffic};
pub(crate) use raw::{answers, exchange};
pub(crate) use routes::{ROUTES, Route};
pub(crate) use server::{Server, run};

use std::sync::Barrier;
use std::time::{Duration, Instant};
use std::{env, thread};

/// The stores that every suite runs on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Store {
    Memory,
    Postgres,
}

/// Turns functions of a store into a test for each store, whose name says which.
macro_rules! on_both_stores {
    ($($test:ident),+ $(,)?) => {
        mod on_memory {
            $(#[test]
            fn $test() {
                super::$test($crate::harness::Store::Memory);
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

/// How many times longer a long run is than one of every day; `cargo xtask soak` sets it.
pub(crate) fn soak_times() -> usize {
    env::var_os("CUEPOINT_SOAK").map_or(1, |times| {
        let times = times.to_string_lossy().into_owned();
        times.parse().unwrap_or_else(|_| panic!("CUEPOINT_SOAK={times} is no number"))
    })
}

/// Sends these calls at once and answers with what came back, in their order.
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

/// Asks again and again until there is an answer, for half a minute at most.
pub(crate) fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "not within half a minute: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
