//! Cuepoint as a service: HTTP, JSON, tokens and configuration around the domain's use cases.
//!
//! Reading order: [`config`] (what can be set), [`composition`] (what is put together), [`app`] (what the handlers
//! share), [`http`] (the contract), [`serve`] (start and stop).

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can set the clock, and is not for release builds");

pub mod adapters;
pub mod app;
pub mod cli;
pub mod composition;
pub mod config;
pub mod http;
pub mod jobs;
pub mod observability;
