//! Tests of the HTTP contract against the real binary over a real socket, on the default store, and on every store
//! where the store matters.
//!
//! Every test starts its own servers on free ports, with its own database or data directory, and stops them
//! at its end.
//!
//! A folder holds a subject, and each of its files is a module of it without an entry. Cargo does not notice a new file
//! alone: save the `mod.rs` beside it, too.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may fail loudly, and reads nothing that a stranger sent"
)]

#[macro_use]
mod harness;

mod accounts;
mod events;
mod gigs;
mod guests;
mod limits;
mod money;
mod operating;
mod pages;
mod soak;
mod staff;
mod wire;
