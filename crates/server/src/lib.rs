//! The Cuepoint service: HTTP, JSON, tokens and configuration around the use cases of the domain.
//!
//! Reading order: [`config`], [`composition`] (which puts the parts together), [`app`] (the shared state), [`http`]
//! (the contract), [`jobs`] (the background jobs), [`cli::serve`] (start and stop).

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can set the clock, and is not for release builds");

pub mod adapters;
pub mod app;
pub mod cli;
pub mod composition;
pub mod config;
pub mod http;
pub mod jobs;
pub mod networks;
pub mod observability;
