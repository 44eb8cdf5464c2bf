//! The log and the metrics of a running server.

mod log_lines;
pub mod log_queue;
pub mod log_throttle;
pub mod logged_request;
pub mod metrics;
pub mod provider_log;
pub mod telemetry;
