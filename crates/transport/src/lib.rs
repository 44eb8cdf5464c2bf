//! Connections of the web server: what happens to every request before a handler reads it.
//!
//! Reading order, along a request: [`web_server`] (workers and connections), [`worker_pulse`] (whether they take turns),
//! [`request_gate`] and `refusals` (the bytes of a connection), [`observe`] and `access_line` (request id, log line and
//! metrics), [`path_tree`] (routes), [`client_address`], [`rate_limits`] with [`request_limits`], [`request_body`], [`deadline`],
//! [`compression`], [`static_file`]. No module knows an operation. The crate of the handlers
//! states how a failure outside them is shown.

mod access_line;
mod body_guard;
pub mod client_address;
pub mod compression;
pub mod connections;
pub mod cors;
pub mod deadline;
pub mod observe;
pub mod path_tree;
pub mod rate_limits;
mod refusals;
pub mod request_body;
pub mod request_gate;
pub mod request_limits;
mod response_framing;
mod response_headers;
pub mod static_file;
mod undrained_body;
pub mod web_server;
pub mod worker_pulse;
