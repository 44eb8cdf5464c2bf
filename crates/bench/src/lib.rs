//! Benchmarks of Cuepoint, compared with the limits of the platform it runs on.
//!
//! Reading order: [`seeding`] (the data), [`limits`], [`file_limits`] and [`operations`] (the rows that are
//! measured), [`load`] (requests and responses), [`processes`] (resource usage), [`run`] (the whole
//! sequence), [`table`], [`growth`], [`latency`], [`streams`], [`gigs`], [`pages`],
//! [`instructions`].

pub mod bare;
pub mod comparison;
pub mod context;
pub mod data_directory;
pub mod datasets;
pub mod document;
pub mod figures;
pub mod file_limits;
mod gig_scene;
pub mod gigs;
pub mod growth;
mod guest_accounts;
pub mod instructions;
pub mod latency;
pub mod limits;
pub mod load;
pub mod machine;
mod medians;
pub mod memory;
pub mod operations;
pub mod options;
pub mod pages;
pub mod pgbench;
pub mod postgres;
pub mod processes;
pub mod run;
pub mod seeding;
pub mod service;
mod single_calls;
pub mod storage_copy;
pub mod streams;
pub mod table;
pub mod tokens;
mod usage;
