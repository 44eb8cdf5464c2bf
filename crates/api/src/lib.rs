//! The HTTP API: its operations, their checks, and the JSON that they read and write.
//!
//! Reading order, along a request: [`routes`] (the router), `pipeline` (the checks of a request, in
//! order) with `admission` (tokens and quotas) and `reliance`, [`endpoint`] and [`declaration`] (the parts of an operation),
//! `call` and `command_call` (the handler's view of a request), [`operations`] (the operations by subject, with their
//! handlers), `mapping` (domain errors as API errors), [`wire`] (the format), [`openapi`] (the document). What happens to
//! every request before that is in `cuepoint_transport`; what several operations, events and webhooks show alike, in
//! `cuepoint_views`.

mod admission;
mod call;
mod command_call;
pub mod declaration;
pub mod endpoint;
mod mapping;
pub mod openapi;
pub mod operations;
mod pipeline;
mod reliance;
pub mod routes;
pub mod state;
pub mod wire;
