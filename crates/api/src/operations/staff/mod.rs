//! Operations of operators and auditors.

pub mod audit;
pub mod corrections;
pub mod people;
pub mod provider_messages;
pub mod reason;
pub mod security_log;
pub mod topups;
pub mod webhook_endpoints;
pub mod withdrawals;
