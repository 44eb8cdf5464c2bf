//! The program `cuepoint`: its configuration, background jobs and commands, and the wiring of all parts.
//!
//! Reading order: [`config`], [`composition`] (which puts the parts together), [`web_application`] (the handlers of a
//! worker), [`jobs`] (the background jobs), [`cli::serve`] (start and stop).

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can set the clock, and is not for release builds");

pub mod cli;
pub mod composition;
pub mod config;
pub mod jobs;
#[cfg(test)]
mod tests;
pub mod web_application;
