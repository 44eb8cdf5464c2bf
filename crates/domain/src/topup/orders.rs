//! The orders of a top-up at its provider, and the effects of the provider's answers.
//!
//! The provider takes a top-up's reference as its idempotency key, so the same order may be sent until an answer comes.
//! Whoever orders takes the top-up up by a plan first, and nobody else orders it until that lease ends. Without an
//! answer the top-up stays pending: the provider may have the order all the same, and confirm it later.

use time::Duration;

use super::{Topup, TopupStatus};
use crate::text::PaymentUrl;
use crate::timestamp::Timestamp;

/// The longest wait between two orders of a top-up.
const LONGEST_WAIT: Duration = Duration::HOUR;

/// How a top-up is ordered at its provider.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Orders {
    /// How often it was ordered.
    pub attempts: u32,
    /// When it is ordered again; `None` where it is not.
    pub next_at: Option<Timestamp>,
}

/// What a deployment decides about ordering top-ups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OrderTerms {
    /// How often a top-up is ordered without an answer; it stays pending afterwards.
    pub max_attempts: u32,
    /// How long it waits after the first order without an answer. Each further wait is twice as long, up to an hour.
    pub retry_after: Duration,
    /// For how long whoever orders it keeps others from ordering it; longer than an order can be under way.
    pub lease: Duration,
}

impl Orders {
    /// The orders that a store keeps in two columns. A top-up that has ended is not ordered again, even if a server
    /// of an earlier version left a next order there.
    #[must_use]
    pub fn stored(status: TopupStatus, attempts: u32, next_at: Option<Timestamp>) -> Self {
        Self { attempts, next_at: next_at.filter(|_| status == TopupStatus::Pending) }
    }

    /// The same without another order.
    #[must_use]
    pub(crate) const fn over(self) -> Self {
        Self { attempts: self.attempts, next_at: None }
    }
}

impl OrderTerms {
    /// The orders of a top-up that is taken up for the first time: by whoever opens it.
    #[must_use]
    pub fn first(&self, now: Timestamp) -> Orders {
        self.taken_up(Orders::default(), now)
    }

    fn taken_up(&self, orders: Orders, now: Timestamp) -> Orders {
        Orders { attempts: orders.attempts.saturating_add(1), next_at: Some(now.plus(self.lease)) }
    }

    /// How long a top-up waits after this many orders without an answer.
    fn wait_after(&self, attempts: u32) -> Duration {
        let times = 2_i32.checked_pow(attempts.saturating_sub(1)).unwrap_or(i32::MAX);
        self.retry_after.checked_mul(times).map_or(LONGEST_WAIT, |wait| wait.min(LONGEST_WAIT))
    }
}

/// What becomes of a top-up whose next order is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextOrder {
    /// It is taken up, with these orders, and then ordered.
    Take(Orders),
    /// It was ordered often enough, and keeps these orders.
    GiveUp(Orders),
}

/// What becomes of a top-up now; `None` when no order of it is due.
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

/// What the provider answers to an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OrderReply {
    /// It has the order.
    Taken {
        /// Where the guest pays, where it named a page.
        page: Option<PaymentUrl>,
    },
    /// It has not, and never will take money for this reference.
    Refused,
}

/// What an answer comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answered {
    /// The top-up keeps the page, if there is one, and these orders.
    Kept {
        /// Without another order.
        orders: Orders,
        /// Where the guest pays.
        page: Option<PaymentUrl>,
    },
    /// It failed.
    Failed,
    /// It was known already, or the top-up has ended.
    Known,
    /// It contradicts what the provider said before: nothing changes, and somebody has to look at it.
    Contradiction,
}

/// What the provider's answer comes to, however late it is.
#[must_use]
pub fn answered(topup: &Topup, word: &OrderReply) -> Answered {
    let orders = topup.orders.unwrap_or_default();
    match (topup.status, &topup.payment_url, word) {
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

/// The orders of a top-up after its order of this number had no answer; `None` when they stay as they are, because it has
/// ended, was taken up again or was given up meanwhile, or because it waits for the same moment already.
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
