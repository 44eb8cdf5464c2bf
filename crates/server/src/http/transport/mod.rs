//! Connections and what bounds them: client addresses, networks, CORS, deadlines and rate limits.
//!
//! Nothing here knows an operation.

pub mod body_guard;
pub mod client_address;
pub mod connections;
pub mod cors;
pub mod deadline;
pub mod networks;
pub mod rate_limits;
pub mod refusals;
pub mod unread;
