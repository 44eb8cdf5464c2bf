//! Tests of PostgreSQL itself: its tables, its migrations, groups of plans, and its absence.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a failure fails the test"
)]
#![allow(clippy::inconsistent_digit_grouping, reason = "sums are written as dollars and cents: 100_00")]

mod absence;
mod commits;
mod copy;
mod drift;
mod erasure_at_size;
mod finalize;
mod locks;
mod migrations;
mod migrator;
mod personal_data;
mod plans;
mod positions;
mod proxy;
mod reads;
mod recovery;
mod redaction;
mod released;
mod repetitions;
mod scenario;
mod servers;
mod service_role;
mod sql_files;
mod suite;
mod table_locks;
