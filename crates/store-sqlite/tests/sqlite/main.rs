//! The database file itself: its schema and its constraints.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption fails its test"
)]

mod drift;
mod restart;
mod schema;
