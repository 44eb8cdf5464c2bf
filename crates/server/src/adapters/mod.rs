//! Adapters of the domain's ports other than storage: the clock, security, messages to users, and providers; and the
//! distribution of events to open streams.

pub mod clock;
pub mod event_hub;
pub mod job_queue;
pub mod notifier;
pub mod payouts;
pub mod request_ids;
pub mod runtime;
pub mod security;
pub mod topups;
pub mod webhooks;
