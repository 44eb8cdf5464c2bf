//! The log and the metrics of a running server.

pub mod hourly;
pub mod log_queue;
pub mod metrics;
pub mod telemetry;
