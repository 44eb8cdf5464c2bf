//! Connections and their limits: client addresses, CORS, deadlines and rate limits.
//!
//! This module knows no operation.

pub mod body_guard;
pub mod client_address;
pub mod connections;
pub mod cors;
pub mod deadline;
pub mod rate_limits;
pub mod refusals;
pub mod request_gate;
pub mod response_framing;
pub mod response_headers;
pub mod undrained_body;
