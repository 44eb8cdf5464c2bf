//! Operations of payment and payout systems.

pub mod messages;
