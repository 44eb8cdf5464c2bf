//! Paying in: top-ups are opened, ordered at their provider, and ordered again until it answers.
//!
//! A top-up is committed before it is ordered, so that every order has a row, and every repetition of it the same
//! reference. The server that opens a top-up or takes one up has a lease on it, and orders it alone.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures_util::future::join_all;

use crate::access::{Action, Whose};
use crate::ids::TopupId;
use crate::ledger::{Origin, Outcome, Plan, Rejection};
use crate::money::Amount;
use crate::plans;
use crate::ports::{Applied, ApplyError, Intake, OrderAnswer, TopupProvider, Topups, Unavailable};
use crate::service::desk::{ATTEMPTS, Command, Desk, Obstacle};
use crate::topup::{
    Answered, Charge, NextOrder, OrderTerms, Topup, TopupStatus, answered, next_order, unanswered,
};

/// Top-ups ordered at once by a worker.
const BATCH: u32 = 16;

/// Why money is not paid in.
#[derive(Debug)]
pub enum TopupError {
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl From<Obstacle> for TopupError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

/// A top-up that was opened, now or before.
#[derive(Debug)]
pub struct Opened {
    /// What opening it came to.
    pub applied: Applied,
    /// The top-up, where the caller has it to order.
    pub to_order: Option<Topup>,
}

/// The outcome of taking up a top-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TakenUp {
    /// The caller has it to order.
    ToOrder(Topup),
    /// It was ordered often enough, and is not ordered again.
    GivenUp(Topup),
    /// It stands so: it is not to be ordered now, or somebody else orders it.
    Standing(Topup),
}

/// The outcome of an order.
#[derive(Debug)]
pub enum Ordered {
    /// The provider has it, and may have named a page.
    Taken,
    /// The provider refused it: the top-up failed.
    Refused,
    /// What the provider answered was known already, or the top-up has ended meanwhile.
    Known,
    /// The provider's answer contradicts what it said before; the top-up stands so, and somebody has to look at it.
    Contradiction(TopupStatus),
    /// There is no answer that can be read; it is ordered again later.
    Unanswered(Unavailable),
    /// There is no answer that can be read, and it was ordered often enough: it stays pending.
    LastUnanswered(Unavailable),
}

/// What a worker did about one top-up that was due.
#[derive(Debug)]
pub enum Worked {
    /// Somebody else took it up.
    Elsewhere,
    /// It was ordered often enough, and is not ordered again.
    GivenUp,
    /// It was ordered.
    Ordered(Ordered),
    /// It could not be taken up, or the answer not be kept; then it is ordered again later.
    Failed(Obstacle),
}

/// The use cases of opening top-ups and ordering them.
#[derive(Clone)]
pub struct TopupOrders {
    pub(super) desk: Desk,
    pub(super) topups: Arc<dyn Topups>,
    pub(super) provider: Arc<dyn TopupProvider>,
    pub(super) terms: OrderTerms,
}

impl TopupOrders {
    /// Opens a top-up of the caller's: confirmed where the provider has the money at once, else pending.
    ///
    /// # Errors
    /// [`TopupError`].
    pub async fn open(&self, command: &Command, amount: Amount) -> Result<Opened, TopupError> {
        command.may(Action::UseWallet, Whose::Own)?;
        let intake = self.provider.intake().map_err(Obstacle::from)?;
        let id = self.desk.ids.next_topup().await.map_err(Obstacle::from)?;
        let origin = self.desk.origin(command, self.desk.ids.operation());
        let charge = match intake {
            Intake::Confirmed => Charge::Confirmed,
            Intake::Announced => Charge::Pending,
            Intake::Ordered => Charge::Ordered(self.terms.first(origin.at)),
        };
        let plan = plans::open_topup(origin, id, command.caller.user, amount, charge);
        let applied = self.desk.apply(plan).await.map_err(Obstacle::from)?;
        let to_order = match (&applied, charge) {
            (Applied::Fresh(_), Charge::Ordered(_)) => Some(topup_of(&applied)?),
            _ => None,
        };
        Ok(Opened { applied, to_order })
    }

    /// Looks at a top-up again whose opening is repeated, and takes it up where its next order is due.
    ///
    /// # Errors
    /// [`TopupError`].
    pub async fn reopen(&self, id: TopupId) -> Result<TakenUp, TopupError> {
        let topup = self.stored(id).await?;
        if !self.is_ordered() {
            return Ok(TakenUp::Standing(topup));
        }
        Ok(self.take_up(topup).await?)
    }

    /// Whether top-ups are ordered at all.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        matches!(self.provider.intake(), Ok(Intake::Ordered))
    }

    /// Orders some of the top-ups that are due, and says what became of each; none when none is due.
    ///
    /// Any number of servers may do so at once: a top-up is taken up by a plan, which succeeds on one of them. If
    /// that server dies, the top-up is ordered again when the lease ends, under the same reference.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot be known what is due.
    pub async fn run(&self) -> Result<Vec<(Topup, Worked)>, Unavailable> {
        if !self.is_ordered() {
            return Ok(Vec::new());
        }
        let due = self.topups.due_orders(self.desk.now(), BATCH).await?;
        let working = due.into_iter().map(async |topup| {
            let worked = self.work(topup.clone()).await.unwrap_or_else(Worked::Failed);
            (topup, worked)
        });
        Ok(join_all(working).await)
    }

    async fn work(&self, due: Topup) -> Result<Worked, Obstacle> {
        match self.take_up(due).await? {
            TakenUp::ToOrder(topup) => Ok(Worked::Ordered(self.order(topup).await?.1)),
            TakenUp::GivenUp(_) => Ok(Worked::GivenUp),
            TakenUp::Standing(_) => Ok(Worked::Elsewhere),
        }
    }

    /// Takes a top-up up, unless it is not due or somebody else does.
    async fn take_up(&self, topup: Topup) -> Result<TakenUp, Obstacle> {
        let Some(next) = next_order(&topup, &self.terms, self.desk.now()) else {
            return Ok(TakenUp::Standing(topup));
        };
        let (NextOrder::Take(orders) | NextOrder::GiveUp(orders)) = next;
        match self.applied(plans::order_topup(self.origin(), &topup, orders, None)).await? {
            None => Ok(TakenUp::Standing(self.stored(topup.id).await?)),
            Some(taken) if matches!(next, NextOrder::Take(_)) => Ok(TakenUp::ToOrder(taken)),
            Some(given_up) => Ok(TakenUp::GivenUp(given_up)),
        }
    }

    /// Orders a top-up that the caller has taken up, and keeps what comes of it. Answers with how it stands then.
    ///
    /// # Errors
    /// [`Obstacle`], when what came of it cannot be kept: it is ordered again when the lease ends.
    pub async fn order(&self, taken: Topup) -> Result<(Topup, Ordered), Obstacle> {
        let attempt = taken.orders.unwrap_or_default().attempts;
        match self.provider.order(&taken).await {
            OrderAnswer::Said(word) => {
                let decide = |topup: &Topup| {
                    let origin = self.origin();
                    match answered(topup, &word) {
                        Answered::Kept { orders, page } => {
                            (Some(plans::order_topup(origin, topup, orders, page)), Ordered::Taken)
                        }
                        Answered::Failed => {
                            (Some(plans::settle_topup(origin, topup, false)), Ordered::Refused)
                        }
                        Answered::Known => (None, Ordered::Known),
                        Answered::Contradiction => (None, Ordered::Contradiction(topup.status)),
                    }
                };
                self.keep(taken, decide).await
            }
            OrderAnswer::Unknown(cause) => {
                let decide = |topup: &Topup| {
                    let orders = unanswered(topup, attempt, &self.terms, self.desk.now());
                    let plan = |orders| plans::order_topup(self.origin(), topup, orders, None);
                    (orders.map(plan), orders)
                };
                let (topup, orders) = self.keep(taken, decide).await?;
                let is_last = orders.is_some_and(|orders| orders.next_at.is_none());
                let ordered = if is_last { Ordered::LastUnanswered } else { Ordered::Unanswered };
                Ok((topup, ordered(cause)))
            }
        }
    }

    /// Applies what is decided about a top-up as it stands, if anything; decides again where it moved meanwhile.
    async fn keep<T>(
        &self,
        mut topup: Topup,
        decide: impl Fn(&Topup) -> (Option<Plan>, T),
    ) -> Result<(Topup, T), Obstacle> {
        for _ in 0..ATTEMPTS {
            let (plan, came_to) = decide(&topup);
            let Some(plan) = plan else { return Ok((topup, came_to)) };
            if let Some(kept) = self.applied(plan).await? {
                return Ok((kept, came_to));
            }
            topup = self.stored(topup.id).await?;
        }
        Err(Obstacle::Conflict)
    }

    /// The top-up as a plan leaves it; `None` where it moved since it was loaded.
    async fn applied(&self, plan: Plan) -> Result<Option<Topup>, Obstacle> {
        match self.desk.apply(plan).await {
            Ok(applied) => topup_of(&applied).map(Some),
            Err(ApplyError::Rejected(Rejection::Stale)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn stored(&self, id: TopupId) -> Result<Topup, Obstacle> {
        self.topups.topup(id).await?.ok_or(Obstacle::Broken("a top-up is gone"))
    }

    /// The origin of a change by the service itself.
    fn origin(&self) -> Origin {
        Origin::system(self.desk.ids.operation(), self.desk.now())
    }
}

/// The top-up that an applied plan is about.
fn topup_of(applied: &Applied) -> Result<Topup, Obstacle> {
    match &applied.receipt().outcome {
        Outcome::Topup(topup) => Ok(topup.clone()),
        _ => Err(Obstacle::Broken("a plan about a top-up came to something else")),
    }
}
