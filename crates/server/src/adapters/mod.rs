//! Adapters of the domain's ports other than storage: the clock, security, messages to users, and providers;
//! the distribution of events to open streams; and calls to URLs that users enter.

pub mod clock;
pub mod event_hub;
mod http_client;
pub mod job_queue;
pub mod notifier;
pub mod outgoing;
pub mod payouts;
pub mod request_ids;
pub mod runtime;
pub mod security;
pub mod topups;
pub mod webhooks;
