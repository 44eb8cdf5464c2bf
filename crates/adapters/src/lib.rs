//! Adapters of the domain's ports other than storage: the clock, security, messages to users, and providers;
//! the distribution of events to open streams; calls to URLs that users enter; calls of the command line to the API;
//! and logs and metrics.
//!
//! [`service`] has what the API and the background jobs share. No module knows a web server.

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can set the clock, and is not for release builds");

pub mod api_calls;
pub mod board_stream;
pub mod clock;
pub mod diagnosis;
pub mod endpoint_calls;
pub mod event_hub;
pub mod event_stream;
mod http_client;
pub mod job_queue;
pub mod link_template;
pub mod long_work;
pub mod networks;
pub mod notifier;
pub mod observability;
pub mod outgoing;
pub mod payouts;
pub mod personal_data_export;
pub mod request_ids;
pub mod runtime;
pub mod security;
pub mod service;
pub mod signed_messages;
pub mod topups;
