//! The adapters of the domain's ports, apart from storage: the clock, security, messages to people and providers.

pub mod clock;
pub mod job_queue;
pub mod notifier;
pub mod payouts;
pub mod runtime;
pub mod security;
pub mod topups;
pub mod webhooks;
