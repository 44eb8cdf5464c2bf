//! The outcomes of orders of top-ups, and the port that reports them.

use std::error::Error;

use crate::ports::Unavailable;
use crate::topup::{Topup, TopupStatus};

/// The outcome of an order.
#[derive(Debug)]
pub enum OrderOutcome {
    /// The provider accepted it, possibly with a page.
    Taken,
    /// The provider refused it: the top-up failed.
    Refused,
    /// The provider's answer was known already, or the top-up ended in the meantime.
    Known,
    /// The provider's answer contradicts an earlier one; the top-up has this status, and an operator has to
    /// review it.
    Contradiction(TopupStatus),
    /// There is no readable answer; it is ordered again later.
    Unanswered(Unavailable),
    /// There is no readable answer to the last attempt: the top-up stays pending.
    LastUnanswered(Unavailable),
}

/// The outcome of one attempt to order a top-up.
#[derive(Debug)]
pub enum OrderAttempt {
    /// Another server claimed it, or it is not due.
    Elsewhere,
    /// It was ordered the maximum number of times, and is not ordered again.
    GivenUp,
    Ordered(OrderOutcome),
    /// It could not be claimed, or its outcome not be stored, for this reason; it is ordered again later.
    Failed(Box<dyn Error + Send + Sync>),
}

/// Reports the outcomes of orders, for the log and the metrics.
pub trait OrderObserver: Send + Sync {
    /// Reports an attempt to order this top-up.
    fn observe(&self, topup: &Topup, attempt: &OrderAttempt);
}
