//! The outcomes of orders of top-ups, and the port that reports them.

use crate::application::Failure;
use crate::ports::Unavailable;
use crate::topup::{Topup, TopupStatus};

/// The outcome of an order.
#[derive(Debug)]
pub enum OrderOutcome {
    /// The provider has it, and may have named a page.
    Taken,
    /// The provider refused it: the top-up failed.
    Refused,
    /// What the provider answered was known already, or the top-up has ended meanwhile.
    Known,
    /// The provider's answer contradicts what it said before; the top-up stands so, and an operator has to look at it.
    Contradiction(TopupStatus),
    /// There is no answer that can be read; it is ordered again later.
    Unanswered(Unavailable),
    /// There is no answer that can be read, and it was ordered often enough: it stays pending.
    LastUnanswered(Unavailable),
}

/// The outcome of one attempt to order a top-up.
#[derive(Debug)]
pub enum OrderAttempt {
    /// Another server took it up, or it is not due.
    Elsewhere,
    /// It was ordered often enough, and is not ordered again.
    GivenUp,
    /// It was ordered.
    Ordered(OrderOutcome),
    /// It could not be taken up, or the answer not be kept; then it is ordered again later.
    Failed(Failure),
}

/// Reports the outcomes of orders, for the log and the metrics.
pub trait OrderObserver: Send + Sync {
    /// Reports an attempt to order this top-up.
    fn observe(&self, topup: &Topup, attempt: &OrderAttempt);
}
