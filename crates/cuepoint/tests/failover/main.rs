//! Failover: the real binary on a PostgreSQL with two synchronous standbys, while nodes are killed, promoted, moved,
//! stopped and brought back.
//!
//! `CUEPOINT_FAILOVER=10` kills the primary ten times and has everything else last longer; `cargo xtask failover` does
//! that and shows the tables. One scenario runs at a time.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may fail loudly, and reads nothing that a stranger sent"
)]

#[path = "../http/harness/mod.rs"]
#[expect(dead_code, unused_imports, unused_macros, reason = "the tests of HTTP use the rest")]
mod harness;

/// The scenarios. `cargo xtask ci --quick` leaves this module out by its name.
#[path = "."]
mod failovers {
    mod books;
    mod doctor;
    mod held_commit;
    mod host_name;
    mod killed_primary;
    mod load;
    mod lost_commits;
    mod moved_name;
    mod replicas;
    mod report;
    mod scene;
    mod witness;
    mod wrong_node;
}
