//! The cost of the pure functions that every request goes through.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "whatever fails here fails the benchmark, and no client is there"
)]

mod ledger;
mod money;
mod page;
mod token;

fn main() {
    divan::main();
}
