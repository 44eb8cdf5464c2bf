//! Background jobs: deliveries to webhook endpoints, expiry of requests, orders of top-ups, failures of top-ups of
//! erased users, payouts, positions of operations, retention.

mod abandoned_topups;
mod deliveries;
mod delivery_turn;
mod endpoint_secrets;
mod expiry;
mod payouts;
mod positions;
mod retention;
mod topup_orders;
mod undecryptable;

pub(super) use abandoned_topups::AbandonedTopups;
pub use deliveries::Deliveries;
pub use delivery_turn::TurnSummary;
pub use endpoint_secrets::{CheckedSecrets, WithoutKeys};
pub(super) use expiry::Expiry;
pub use payouts::{PayoutAttempt, PayoutUpdateOutcome, Payouts};
pub use positions::Positions;
pub use retention::Retention;
#[cfg(test)]
pub(super) use topup_orders::Claim;
pub(super) use topup_orders::ProviderRefused;
pub use topup_orders::TopupOrders;

pub use crate::application::order_observer::{OrderAttempt, OrderObserver, OrderOutcome};
