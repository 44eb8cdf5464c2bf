//! An evening of one DJ and twenty guests, played over HTTP alone against a running service.
//!
//! It shows reports, waits and statements that look real, for screenshots, talks and load. It uses what an app uses,
//! and reads nothing of the service's code. At the end it checks that no money is held and that all sums agree, so it
//! is also a test of a deployment.
//!
//! - [`evening`]: what happens in which minute;
//! - `dj`, `guest`: what the persons do;
//! - `books`: the sums at the end;
//! - `cast`: names and songs;
//! - `api`, `answers`, `amount`: the client.

mod amount;
mod answers;
mod api;
mod books;
mod cast;
mod dj;
pub mod evening;
mod guest;
