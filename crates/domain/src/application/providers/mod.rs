//! Providers of payments and payouts: the orders that they get, and the messages that they send.
//!
//! - [`TopupOrders`], [`Payouts`]: orders of top-ups and withdrawals, repeated until the provider answers;
//! - [`ProviderInbox`]: incoming messages; those that contradict the ledger are stored for an operator;
//! - [`SandboxPayments`]: payments that a tester ends;
//! - `message_subject`: the row that a message is about.

mod inbox;
mod message_subject;
mod payouts;
mod sandbox;
mod topup_orders;

pub use inbox::{Contradicted, IncomingMessage, MessageOutcome, ProviderInbox};
pub use message_subject::ProviderMessageRefusal;
pub use payouts::{PayoutAttempt, PayoutUpdateOutcome, Payouts};
pub use sandbox::{SandboxOutcome, SandboxPayments};
#[cfg(test)]
pub(super) use topup_orders::Claim;
pub(super) use topup_orders::ProviderRefused;
pub use topup_orders::TopupOrders;
