//! Cuepoint as a service: HTTP, JSON, tokens and configuration around the domain's use cases.
//!
//! Reading order: [`config`] (what can be set), [`composition`] (what is put together), [`app`] (what the handlers
//! share), [`http`] (the contract), [`serve`] (start and stop).

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can set the clock, and is not for release builds");

mod accompanied;
pub mod app;
mod background;
pub mod cli;
pub mod clock;
pub mod composition;
pub mod config;
mod connections;
pub mod errands;
mod hourly;
pub mod http;
mod key_rotation;
mod ledger_verify;
pub mod log_queue;
pub mod metrics;
pub mod networks;
pub mod notifier;
pub mod payouts;
pub mod rate_limits;
mod refusals;
mod restore;
pub mod security;
pub mod self_check;
pub mod serve;
mod signals;
pub mod telemetry;
pub mod topups;
mod web_server;
pub mod webhooks;
