//! The database file itself: its schema and its constraints.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed assumption fails its test"
)]
#![allow(clippy::inconsistent_digit_grouping, reason = "sums are written as dollars and cents: 100_00")]

mod append_only;
mod audit;
mod backup;
mod child;
mod crashes;
mod damage;
mod drift;
mod erasure_at_size;
mod fixtures;
mod full_disk;
mod in_use;
mod query_plans;
mod recovery;
mod redaction;
mod restart;
mod start;
mod suite;
mod sums;
mod types;
mod work_lists;
