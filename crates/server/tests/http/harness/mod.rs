//! What every suite needs: servers, clients, people, and the two stores.

mod answer;
mod client;
mod database;
mod mail;
mod messages;
mod people;
mod provider;
mod proxy;
mod raw;
mod routes;
mod server;

pub(crate) use answer::{Answer, keys};
pub(crate) use client::{Call, Client};
pub(crate) use database::Database;
pub(crate) use mail::{MailServer, Post};
pub(crate) use messages::{Message, NEW, OLD, STRANGE, TOPUPS, is_signed, payout_keys};
pub(crate) use people::{
    PASSWORD, PERSONAL_INFO, Person, REQUEST, WITHDRAWAL, cents, line, operator_keys, song,
};
pub(crate) use provider::{Heard, Provider, Reply};
pub(crate) use proxy::{Proxy, Traffic};
pub(crate) use raw::exchange;
pub(crate) use routes::{ROUTES, Route};
pub(crate) use server::{Server, run};

use std::time::{Duration, Instant};

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

/// Asks again and again until there is an answer, for half a minute at most.
pub(crate) fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "not within half a minute: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
