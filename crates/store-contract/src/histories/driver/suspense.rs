//! Reversals of top-ups, erasures, and late money, run on the store and on the model.

use cuepoint_domain::operation::{Actor, plans};
use cuepoint_domain::ports::Erased;
use cuepoint_domain::privacy::ErasureRefusal;
use cuepoint_domain::topup::{
    Charge, PaidAmount, PaidCurrency, Payment, TopupUpdate, TopupUpdateDecision, decide_update,
};

use super::orders::TERMS;
use super::{HistoryDriver, equal, picked};
use crate::harness::scenario::{Refused, at, line, money, topup_of};
use crate::histories::commands::OPERATOR;
use crate::histories::observed::topup_status;

impl HistoryDriver<'_> {
    /// Reverses a top-up.
    pub(super) async fn reverse_topup(&mut self, pick: usize, keyed: bool) -> Result<(), String> {
        let Some(place) = picked(pick, self.topups.len()) else { return Ok(()) };
        let stored = self.scenario.stored_topup(self.topups[place]).await;
        let plan = plans::reverse_topup(self.metadata(OPERATOR, keyed), &stored);
        let answer = self.apply(plan.map_err(Refused::Reversal)).await;
        let model = self.model.reverse_topup(place);
        self.agree(answer, model)
    }

    /// Applies the provider's status update about a top-up, as the service does.
    pub(super) async fn settle_topup(
        &mut self,
        pick: usize,
        confirmed: bool,
        keyed: bool,
    ) -> Result<(), String> {
        let Some(place) = picked(pick, self.topups.len()) else { return Ok(()) };
        let stored = self.scenario.stored_topup(self.topups[place]).await;
        let owner = self.model.topups[place].owner;
        let metadata = self.metadata(owner, keyed);
        let late = confirmed && self.model.people[owner].erased;
        let plan = if late {
            plans::suspend_topup(metadata, &stored)
        } else {
            plans::settle_topup(metadata, &stored, confirmed)
        };
        let answer = self.apply(Ok(plan)).await;
        let model = match confirmed {
            true => self.model.receive_late_money(place),
            false => self.model.settle_topup(place, false),
        };
        self.agree(answer, model)
    }

    /// Delivers a status update about a top-up, paid with this many cents in excess.
    pub(super) async fn receive_topup_update(
        &mut self,
        pick: usize,
        name: &str,
        excess: i128,
    ) -> Result<(), String> {
        let Some(place) = picked(pick, self.topups.len()) else { return Ok(()) };
        let id = self.topups[place];
        let stored = self.scenario.stored_topup(id).await;
        let amount = PaidAmount::Sum(money(self.model.topups[place].amount + excess));
        let currency = Some(PaidCurrency::Own);
        let update = match name {
            "confirmed" => TopupUpdate::Confirmed(Payment { amount: Some(amount), currency }),
            "failed" => TopupUpdate::Failed,
            _ => TopupUpdate::Reversed { amount, currency },
        };
        let owner = self.model.topups[place].owner;
        let metadata = self.scenario.metadata(Actor::System, self.time());
        let decision = decide_update(&stored, update, self.model.people[owner].erased);
        let plan = match decision {
            TopupUpdateDecision::Settle { confirmed } => {
                Some(plans::settle_topup(metadata, &stored, confirmed))
            }
            TopupUpdateDecision::Suspend => Some(plans::suspend_topup(metadata, &stored)),
            TopupUpdateDecision::Reverse => Some(plans::reverse_topup(metadata, &stored).unwrap()),
            TopupUpdateDecision::Known | TopupUpdateDecision::Contradiction(_) => None,
            TopupUpdateDecision::Unknown | TopupUpdateDecision::Incomplete { .. } => {
                panic!("no history leads to {decision:?}")
            }
        };
        let came_to = match decision {
            TopupUpdateDecision::Known => "known",
            TopupUpdateDecision::Contradiction(contradiction) => contradiction.name(),
            _ => "moved",
        };
        if let Some(plan) = plan {
            self.apply(Ok(plan)).await.unwrap();
        }
        self.observed.insert(format!("topup update {came_to}"));
        equal("the outcome of an update", &came_to, &self.model.receive_topup_update(place, name, excess))?;
        let stored = self.scenario.stored_topup(id).await;
        equal("the status after an update", &topup_status(&stored), &self.model.topups[place].status)
    }

    /// Settles money in suspense.
    pub(super) async fn settle_suspense(&mut self, pick: usize, keyed: bool) -> Result<(), String> {
        let suspended = self.model.suspended_topups();
        let Some(place) = picked(pick, suspended.len()).map(|place| suspended[place]) else {
            return Ok(());
        };
        let stored = self.scenario.stored_topup(self.topups[place]).await;
        let (metadata, operator) = (self.metadata(OPERATOR, keyed), self.people[OPERATOR]);
        let plan = plans::settle_suspense(metadata, &stored, operator, line("sent back"));
        let answer = self.apply(plan.map_err(Refused::Suspense)).await;
        let model = self.model.settle_suspense(place);
        self.agree(answer, model)
    }

    /// Opens a pending top-up of the departing user.
    pub(super) async fn open_departing_topup(
        &mut self,
        cents: i128,
        ordered: bool,
        keyed: bool,
    ) -> Result<(), String> {
        let departing = self.model.departing;
        let charge = if ordered { Charge::Ordered(TERMS.first(self.time())) } else { Charge::Pending };
        let plan = self.topup_plan(departing, cents, charge, keyed).await;
        let answer = self.apply(Ok(plan)).await;
        self.topups.extend(answer.iter().map(|receipt| topup_of(receipt).id));
        let model = self.model.open_departing_topup(cents, ordered, self.now);
        self.agree(answer, model)
    }

    /// Erases a guest account, a member who claimed one, or the departing user, whose place a new user takes.
    pub(super) async fn erase(&mut self, who: usize) -> Result<(), String> {
        let departs = who == self.model.departing;
        let erased = match self.scenario.erase(self.people[who], self.now).await {
            Erased::Done if departs => "erasure: done",
            Erased::Done => "erasure of a guest account: done",
            Erased::Refused(ErasureRefusal::MoneyLeft) => "erasure: money left",
            Erased::Refused(ErasureRefusal::TopupPending) => "erasure: topup pending",
            other => panic!("not reached by any history: {other:?}"),
        };
        self.observed.insert(erased.to_owned());
        equal("an erasure", &erased, &self.model.erase(who, self.now))?;
        if erased == "erasure: done" {
            let next = self.scenario.stranger(false, at(0)).await;
            self.scenario.register(&next).await;
            self.people.push(next.id);
        }
        Ok(())
    }
}
