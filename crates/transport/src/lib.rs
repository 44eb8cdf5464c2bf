//! Connections of the web server: what holds of every request before a handler reads it.
//!
//! Reading order, along a request: [`web_server`] (workers and connections), [`request_gate`] and [`refusals`] (the
//! bytes of a connection), [`observe`] (request id, log line and metrics), [`client_address`], [`rate_limits`],
//! [`deadline`]. No module knows an operation, and none chooses the form of an answer: the API and pages state how they
//! show a failure.

pub mod body_guard;
pub mod client_address;
pub mod connections;
pub mod cors;
pub mod deadline;
pub mod observe;
pub mod rate_limits;
pub mod refusals;
pub mod request_gate;
pub mod response_framing;
pub mod response_headers;
pub mod undrained_body;
pub mod web_server;
