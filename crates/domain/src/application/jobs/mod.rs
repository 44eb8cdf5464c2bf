//! Background jobs: expiry of requests, orders of top-ups, payouts, retention.

mod expiry;
mod payouts;
mod retention;
mod topup_orders;

pub(super) use expiry::Expiry;
pub use payouts::{PayoutAttempt, PayoutUpdateOutcome, Payouts};
pub use retention::Retention;
#[cfg(test)]
pub(super) use topup_orders::Claim;
pub(super) use topup_orders::ProviderRefused;
pub use topup_orders::TopupOrders;

pub use crate::application::order_observer::{OrderAttempt, OrderObserver, OrderOutcome};
