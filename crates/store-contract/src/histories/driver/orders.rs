//! Orders of top-ups, run on the store and on the model.

use cuepoint_domain::operation::{Actor, OperationMetadata, plans};
use cuepoint_domain::text::PaymentUrl;
use cuepoint_domain::topup::{
    Answered, Charge, NextOrder, OrderReply, OrderTerms, answered, next_order, unanswered,
};
use time::Duration;

use super::{HistoryDriver, equal, picked};
use crate::harness::scenario::topup_of;
use crate::histories::model::{FIRST_WAIT, LEASE, MAX_ATTEMPTS};

/// More than the number of due top-ups that all histories on one store leave.
const ALL: u32 = 1_000_000;

/// The order terms of a history.
pub(super) const TERMS: OrderTerms = OrderTerms {
    max_attempts: MAX_ATTEMPTS,
    retry_after: Duration::seconds(FIRST_WAIT),
    lease: Duration::seconds(LEASE),
};

impl HistoryDriver<'_> {
    /// Opens a top-up and orders it.
    pub(super) async fn order_topup(&mut self, who: usize, cents: i128, keyed: bool) -> Result<(), String> {
        let charge = Charge::Ordered(TERMS.first(self.time()));
        let plan = self.topup_plan(who, cents, charge, keyed).await;
        let answer = self.apply(Ok(plan)).await;
        self.topups.extend(answer.iter().map(|receipt| topup_of(receipt).id));
        let model = self.model.open_ordered_topup(who, cents, self.now);
        self.agree(answer, model)
    }

    /// Claims some of the history's due top-ups, the longest waiting first, as the background job does.
    pub(super) async fn take_up_topups(&mut self, limit: usize) -> Result<(), String> {
        let mut due = self.scenario.store.due_orders(self.time(), ALL).await.unwrap();
        due.retain(|topup| self.topups.contains(&topup.id));
        let mut expected = self.model.due_topups(self.now);
        expected.sort_by_key(|(next, place)| (*next, self.topups[*place]));
        let ids: Vec<_> = due.iter().map(|topup| topup.id).collect();
        equal("the due top-ups", &ids, &expected.iter().map(|(_, place)| self.topups[*place]).collect())?;
        for (stored, (_, place)) in due.into_iter().zip(expected).take(limit) {
            let next = next_order(&stored, &TERMS, self.time()).ok_or("a due top-up is not due")?;
            let (NextOrder::Take(orders) | NextOrder::GiveUp(orders)) = next;
            let gives_up = matches!(next, NextOrder::GiveUp(_));
            self.observed.insert(if gives_up { "topup given up" } else { "topup claimed" }.to_owned());
            let plan = plans::order_topup(self.system(), &stored, orders, None);
            let answer = self.apply(Ok(plan)).await;
            let model = self.model.take_up_topup(place, self.now);
            self.agree(answer, Ok(model))?;
        }
        Ok(())
    }

    /// Delivers the provider's answer to the newest order of a top-up.
    pub(super) async fn answer_order(&mut self, pick: usize, reply: &'static str) -> Result<(), String> {
        let ordered = |place: &usize| self.model.topup(*place).1.attempts > 0;
        let ordered: Vec<usize> = (0..self.topups.len()).filter(ordered).collect();
        let Some(place) = picked(pick, ordered.len()).map(|place| ordered[place]) else { return Ok(()) };
        let stored = self.scenario.stored_topup(self.topups[place]).await;
        let page = || PaymentUrl::new("https://pay.example.com/1").ok();
        let said = match reply {
            "page" => Some(OrderReply::Taken { page: page() }),
            "taken" => Some(OrderReply::Taken { page: None }),
            "refused" => Some(OrderReply::Refused),
            _ => None,
        };
        let plan = match said.map(|said| answered(&stored, &said)) {
            None => {
                let attempts = stored.orders.unwrap().attempts;
                unanswered(&stored, attempts, &TERMS, self.time())
                    .map(|orders| plans::order_topup(self.system(), &stored, orders, None))
            }
            Some(Answered::Kept { orders, page }) => {
                Some(plans::order_topup(self.system(), &stored, orders, page))
            }
            Some(Answered::Failed) => Some(plans::settle_topup(self.system(), &stored, false)),
            Some(Answered::Known | Answered::Contradiction) => None,
        };
        match (plan, self.model.answer_order(place, reply, self.now)) {
            (None, None) => Ok(()),
            (Some(plan), Some(model)) => {
                self.observed.insert(format!("order answered: {reply}"));
                let answer = self.apply(Ok(plan)).await;
                self.agree(answer, Ok(model))
            }
            (plan, model) => Err(format!("{reply}: the rules plan {plan:?}, the model says {model:?}")),
        }
    }

    fn system(&self) -> OperationMetadata {
        self.scenario.metadata(Actor::System, self.time())
    }
}
