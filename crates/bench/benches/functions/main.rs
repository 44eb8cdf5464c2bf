//! The cost of the pure functions that every request goes through.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure fails the benchmark")]

mod ledger;
mod money;
mod page;
mod queue;
mod token;

fn main() {
    divan::main();
}
