//! The log and the metrics of a running server.

pub mod log_queue;
pub mod log_throttle;
pub mod metrics;
pub mod telemetry;
