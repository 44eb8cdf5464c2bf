//! Orders of top-ups at their provider, repeated until it answers.
//!
//! A top-up is committed before it is ordered, so that every order has a row, and every repetition the same
//! reference. The server that opens or claims a top-up holds a lease on it, and orders it alone.

use std::sync::Arc;

use futures_channel::oneshot;
use futures_util::future::{Either, join_all, select};

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::{ATTEMPTS, FromReceipt as _, apply};
use crate::ids::TopupId;
use crate::operation::{Plan, Rejection, plans};
use crate::ports::{ApplyError, Deadline, Intake, OrderAnswer, OrderAttempt, OrderOutcome, Unavailable};
use crate::topup::{Answered, NextOrder, Topup, answered, next_order, unanswered};

/// The number of top-ups that a worker orders concurrently.
const BATCH: u32 = 16;

/// The outcome of claiming a top-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::application) enum Claim {
    /// This server holds the lease, and orders it.
    Order(Topup),
    /// It was ordered the maximum number of times, and is not ordered again.
    GivenUp(Topup),
    /// Its order is not due, or another server orders it.
    None(Topup),
}

/// The provider refused a top-up, which failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::application) struct ProviderRefused;

/// The orders of top-ups.
#[derive(Clone)]
pub struct TopupOrders {
    pub(in crate::application) env: Arc<Environment>,
}

impl TopupOrders {
    /// Orders a newly opened top-up, and returns its state afterwards. If the provider exceeds the deadline,
    /// returns the top-up as it was opened; the provider's answer is stored when it arrives.
    pub(in crate::application) async fn order_by(
        &self,
        topup: Topup,
        deadline: Deadline,
    ) -> Result<Result<Topup, ProviderRefused>, Failure> {
        let (sender, receiver) = oneshot::channel();
        let (this, ordered) = (self.clone(), topup.clone());
        self.env.ports.tasks.spawn(Box::pin(async move {
            // The receiver is gone if the request was answered at its deadline.
            drop(sender.send(this.order_observed(ordered).await));
        }));
        match select(receiver, self.env.ports.timer.sleep_until(deadline)).await {
            Either::Left((Ok(ordered), _)) => Ok(ordered),
            Either::Left((Err(oneshot::Canceled), _)) => {
                Err(Failure::Broken("an order ended without outcome"))
            }
            Either::Right(((), _)) => Ok(Ok(topup)),
        }
    }

    /// Continues a top-up whose opening is repeated: orders it if its next order is due.
    pub(in crate::application) async fn reopen(
        &self,
        id: TopupId,
        deadline: Deadline,
    ) -> Result<Result<Topup, ProviderRefused>, Failure> {
        let topup = self.stored(id).await?;
        if !self.is_ordered() {
            return Ok(Ok(topup));
        }
        match self.claim(topup).await? {
            Claim::Order(topup) => self.order_by(topup, deadline).await,
            Claim::GivenUp(topup) => {
                self.env.ports.orders.observe(&topup, &OrderAttempt::GivenUp);
                Ok(Ok(topup))
            }
            Claim::None(topup) => Ok(Ok(topup)),
        }
    }

    /// Orders a top-up and reports the outcome; returns the top-up's state afterwards.
    async fn order_observed(&self, topup: Topup) -> Result<Topup, ProviderRefused> {
        let (topup, attempt) = match self.order(topup.clone()).await {
            Ok((ordered, outcome)) => (ordered, OrderAttempt::Ordered(outcome)),
            Err(failure) => (topup, OrderAttempt::Failed(failure.into())),
        };
        self.env.ports.orders.observe(&topup, &attempt);
        match attempt {
            OrderAttempt::Ordered(OrderOutcome::Refused) => Err(ProviderRefused),
            _ => Ok(topup),
        }
    }

    /// Whether the provider needs orders.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.env.ports.topup_provider.intake() == Intake::Ordered
    }

    /// Orders some of the due top-ups and reports each; returns the number of claimed ones.
    ///
    /// Any number of servers may do so concurrently: a plan claims a top-up, and succeeds on one of them. If
    /// that server dies, the top-up is ordered again when the lease expires, under the same reference.
    ///
    /// # Errors
    /// [`Unavailable`] when the due top-ups cannot be read.
    pub async fn run(&self) -> Result<usize, Unavailable> {
        if !self.is_ordered() {
            return Ok(0);
        }
        let due = self.env.topups.due_orders(self.env.now(), BATCH).await?;
        let attempts = due.into_iter().map(async |topup| {
            let attempt = self
                .attempt(topup.clone())
                .await
                .unwrap_or_else(|failure| OrderAttempt::Failed(failure.into()));
            self.env.ports.orders.observe(&topup, &attempt);
            matches!(attempt, OrderAttempt::GivenUp | OrderAttempt::Ordered(_))
        });
        Ok(join_all(attempts).await.into_iter().filter(|taken_up| *taken_up).count())
    }

    async fn attempt(&self, due: Topup) -> Result<OrderAttempt, Failure> {
        match self.claim(due).await? {
            Claim::Order(topup) => Ok(OrderAttempt::Ordered(self.order(topup).await?.1)),
            Claim::GivenUp(_) => Ok(OrderAttempt::GivenUp),
            Claim::None(_) => Ok(OrderAttempt::Elsewhere),
        }
    }

    /// Takes a lease on a top-up, unless it is not due or another server holds one.
    pub(in crate::application) async fn claim(&self, topup: Topup) -> Result<Claim, Failure> {
        let Some(next) = next_order(&topup, &self.env.terms.topups, self.env.now()) else {
            return Ok(Claim::None(topup));
        };
        let (NextOrder::Take(orders) | NextOrder::GiveUp(orders)) = next;
        match self.applied(plans::order_topup(self.env.system(), &topup, orders, None)).await? {
            None => Ok(Claim::None(self.stored(topup.id).await?)),
            Some(taken) if matches!(next, NextOrder::Take(_)) => Ok(Claim::Order(taken)),
            Some(given_up) => Ok(Claim::GivenUp(given_up)),
        }
    }

    /// Orders a top-up that this server claimed, and stores the outcome. Returns the top-up's state
    /// afterwards.
    ///
    /// # Errors
    /// [`Failure`], when the outcome cannot be stored: it is ordered again when the lease expires.
    pub(in crate::application) async fn order(&self, taken: Topup) -> Result<(Topup, OrderOutcome), Failure> {
        let attempt = taken.orders.unwrap_or_default().attempts;
        match self.env.ports.topup_provider.order(&taken).await {
            OrderAnswer::Replied(reply) => {
                let decide = |topup: &Topup| {
                    let metadata = self.env.system();
                    match answered(topup, &reply) {
                        Answered::Kept { orders, page } => {
                            (Some(plans::order_topup(metadata, topup, orders, page)), OrderOutcome::Taken)
                        }
                        Answered::Failed => {
                            (Some(plans::settle_topup(metadata, topup, false)), OrderOutcome::Refused)
                        }
                        Answered::Known => (None, OrderOutcome::Known),
                        Answered::Contradiction => (None, OrderOutcome::Contradiction(topup.status)),
                    }
                };
                self.keep(taken, decide).await
            }
            OrderAnswer::Unknown(cause) => {
                let decide = |topup: &Topup| {
                    let orders = unanswered(topup, attempt, &self.env.terms.topups, self.env.now());
                    let plan = |orders| plans::order_topup(self.env.system(), topup, orders, None);
                    (orders.map(plan), orders)
                };
                let (topup, orders) = self.keep(taken, decide).await?;
                let is_last = orders.is_some_and(|orders| orders.next_at.is_none());
                let ordered = if is_last { OrderOutcome::LastUnanswered } else { OrderOutcome::Unanswered };
                Ok((topup, ordered(cause)))
            }
        }
    }

    /// Applies the decision about the current state of a top-up, if there is one; decides again after a
    /// conflict.
    async fn keep<T>(
        &self,
        mut topup: Topup,
        decide: impl Fn(&Topup) -> (Option<Plan>, T),
    ) -> Result<(Topup, T), Failure> {
        for _ in 0..ATTEMPTS {
            let (plan, came_to) = decide(&topup);
            let Some(plan) = plan else { return Ok((topup, came_to)) };
            if let Some(kept) = self.applied(plan).await? {
                return Ok((kept, came_to));
            }
            topup = self.stored(topup.id).await?;
        }
        Err(Failure::Conflict)
    }

    /// Applies a plan and returns the top-up; `None` after a conflict.
    async fn applied(&self, plan: Plan) -> Result<Option<Topup>, Failure> {
        match apply(&self.env, plan, None).await {
            Ok(applied) => Topup::from_receipt(applied.receipt().clone()).map(Some),
            Err(ApplyError::Rejected(Rejection::Stale)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn stored(&self, id: TopupId) -> Result<Topup, Failure> {
        self.env.topups.topup(id).await?.ok_or(Failure::Broken("a top-up is gone"))
    }
}
