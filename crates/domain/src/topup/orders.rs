//! The orders of a top-up at its provider, and the effects of the provider's answers.
//!
//! The provider takes a top-up's reference as its idempotency key, so the same order may be sent until an
//! answer arrives. A server first claims the top-up with a plan, and its lease keeps other servers from
//! ordering it. Without an answer the top-up stays pending: the provider may have received the order, and may
//! confirm it later.

use time::Duration;

use super::{Topup, TopupStatus};
use crate::text::PaymentUrl;
use crate::timestamp::Timestamp;

/// The maximum wait between two orders of a top-up.
const LONGEST_WAIT: Duration = Duration::HOUR;

/// The state of a top-up's orders at its provider.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Orders {
    /// The number of orders sent.
    pub attempts: u32,
    /// The time of the next order; `None` if there is none.
    pub next_at: Option<Timestamp>,
}

/// A deployment's terms for ordering top-ups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderTerms {
    /// The maximum number of orders without an answer; the top-up stays pending afterwards.
    pub max_attempts: u32,
    /// The wait after the first order without an answer. Each further wait is twice as long, up to an hour.
    pub retry_after: Duration,
    /// The lease during which no other server orders the top-up; longer than an order can take.
    pub lease: Duration,
}

impl Orders {
    /// The orders that a store keeps in two columns. A top-up that has ended is not ordered again, even if a
    /// server of an earlier version left a next order there.
    #[must_use]
    pub fn stored(status: TopupStatus, attempts: u32, next_at: Option<Timestamp>) -> Self {
        Self { attempts, next_at: next_at.filter(|_| status == TopupStatus::Pending) }
    }

    /// The same orders without a next one.
    #[must_use]
    pub(crate) const fn over(self) -> Self {
        Self { attempts: self.attempts, next_at: None }
    }
}

impl OrderTerms {
    /// The orders of a top-up claimed for the first time, by the request that opens it.
    #[must_use]
    pub fn first(&self, now: Timestamp) -> Orders {
        self.taken_up(Orders::default(), now)
    }

    fn taken_up(&self, orders: Orders, now: Timestamp) -> Orders {
        Orders { attempts: orders.attempts.saturating_add(1), next_at: Some(now.plus(self.lease)) }
    }

    /// The wait after this many orders without an answer.
    fn wait_after(&self, attempts: u32) -> Duration {
        let times = 2_i32.checked_pow(attempts.saturating_sub(1)).unwrap_or(i32::MAX);
        self.retry_after.checked_mul(times).map_or(LONGEST_WAIT, |wait| wait.min(LONGEST_WAIT))
    }
}

/// The next step of a top-up whose order is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextOrder {
    /// The top-up is claimed with these orders, and then ordered.
    Take(Orders),
    /// The attempts are exhausted, and the top-up keeps these orders.
    GiveUp(Orders),
}

/// The next step of a top-up now; `None` if no order is due.
#[must_use]
pub fn next_order(topup: &Topup, terms: &OrderTerms, now: Timestamp) -> Option<NextOrder> {
    let orders = topup.orders.filter(|orders| orders.next_at.is_some_and(|at| at <= now))?;
    let waits = topup.status == TopupStatus::Pending && topup.payment_url.is_none();
    waits.then(|| {
        if orders.attempts < terms.max_attempts {
            NextOrder::Take(terms.taken_up(orders, now))
        } else {
            NextOrder::GiveUp(orders.over())
        }
    })
}

/// The provider's answer to an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OrderReply {
    /// The order is accepted.
    Taken {
        /// The page on which the guest pays, if the provider named one.
        page: Option<PaymentUrl>,
    },
    /// The order is refused, and the provider never will take money for this reference.
    Refused,
}

/// The effect of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answered {
    /// The top-up records the page, if any, and these orders.
    Kept {
        /// The orders, without a next one.
        orders: Orders,
        /// The page on which the guest pays.
        page: Option<PaymentUrl>,
    },
    /// The top-up failed.
    Failed,
    /// The answer was already known, or the top-up has ended.
    Known,
    /// The answer contradicts an earlier one: nothing changes, and an operator must investigate.
    Contradiction,
}

/// Decides on the provider's answer, however late.
#[must_use]
pub fn answered(topup: &Topup, reply: &OrderReply) -> Answered {
    let orders = topup.orders.unwrap_or_default();
    match (topup.status, &topup.payment_url, reply) {
        (TopupStatus::Pending, None, OrderReply::Taken { page: None }) if orders.next_at.is_none() => {
            Answered::Known
        }
        (TopupStatus::Pending, None, OrderReply::Taken { page }) => {
            Answered::Kept { orders: orders.over(), page: page.clone() }
        }
        (TopupStatus::Pending, None, OrderReply::Refused) => Answered::Failed,
        (TopupStatus::Confirmed | TopupStatus::Reversed, _, OrderReply::Refused)
        | (TopupStatus::Pending, Some(_), OrderReply::Refused) => Answered::Contradiction,
        (TopupStatus::Failed | TopupStatus::Unknown(_), ..) | (_, _, OrderReply::Taken { .. }) => {
            Answered::Known
        }
    }
}

/// The orders of a top-up after the order with this number had no answer; `None` if they stay as they are,
/// because the top-up has ended, was claimed again or given up meanwhile, or already waits for the same time.
#[must_use]
pub fn unanswered(topup: &Topup, attempt: u32, terms: &OrderTerms, now: Timestamp) -> Option<Orders> {
    let latest = |orders: &Orders| orders.attempts == attempt && orders.next_at.is_some();
    let waits = topup.status == TopupStatus::Pending && topup.payment_url.is_none();
    let orders = topup.orders.filter(latest).filter(|_| waits)?;
    let again = attempt < terms.max_attempts;
    let next = Orders { next_at: again.then(|| now.plus(terms.wait_after(attempt))), ..orders };
    (next != orders).then_some(next)
}

#[cfg(test)]
mod tests;
