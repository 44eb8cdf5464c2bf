//! Payouts through a provider, run on the store and on the model.

use cuepoint_domain::operation::{Actor, plans};
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{Move, PayoutUpdate, PayoutUpdateDecision, decide_update};

use super::{HistoryDriver, equal};
use crate::harness::scenario::{Refused, at, line};
use crate::histories::commands::{OPERATOR, OTHER_OPERATOR};
use crate::histories::model::RETRY_SECONDS;
use crate::histories::observed::{balances, withdrawal_move};

/// A status update, with this transaction if it names one.
fn update(name: &str, txid: &str) -> PayoutUpdate {
    match name {
        "accepted" => PayoutUpdate::Accepted,
        "broadcast" => PayoutUpdate::Broadcast { txid: line(txid) },
        "completed" => PayoutUpdate::Completed { txid: line(txid) },
        "refused" => PayoutUpdate::Refused,
        other => panic!("unknown update: {other}"),
    }
}

impl HistoryDriver<'_> {
    /// Moves a withdrawal: its owner cancels it, and an operator other than the owner makes all other moves.
    pub(super) async fn move_withdrawal(
        &mut self,
        place: usize,
        to: &'static str,
        operator: usize,
        txid: bool,
        keyed: bool,
    ) -> Result<(), String> {
        let owner = self.model.withdrawals[place].owner;
        let who = match (to, operator) {
            ("cancelled", _) => owner,
            (_, operator) if operator != owner => operator,
            (_, OPERATOR) => OTHER_OPERATOR,
            _ => OPERATOR,
        };
        let stored = self.scenario.stored_withdrawal(self.withdrawals[place]).await;
        let second_above = self.scenario.withdrawals.second_approval_above;
        let next = withdrawal_move(to, self.people[who], second_above, txid);
        let plan = plans::move_withdrawal(self.metadata(who, keyed), &stored, next);
        let answer = self.apply(plan.map_err(Refused::Withdrawal)).await;
        let model = self.model.move_withdrawal(place, to, who, txid, self.now);
        self.agree(answer, model)
    }

    /// Sends a withdrawal to the payout provider, as the worker does.
    pub(super) async fn send(&mut self, place: usize) -> Result<(), String> {
        let stored = self.scenario.stored_withdrawal(self.withdrawals[place]).await;
        let next = Move::Send { now: self.time(), again_at: at(self.now + RETRY_SECONDS) };
        let plan = plans::move_withdrawal(self.scenario.metadata(Actor::System, self.time()), &stored, next);
        let answer = self.apply(plan.map_err(Refused::Withdrawal)).await;
        let model = self.model.send(place, self.now);
        self.agree(answer, model)
    }

    /// Delivers a status update about a withdrawal, in as many steps as it needs.
    pub(super) async fn receive_payout_update(
        &mut self,
        place: usize,
        name: &str,
        txid: &'static str,
    ) -> Result<(), String> {
        let id = self.withdrawals[place];
        let said = update(name, txid);
        let mut moved = false;
        let came_to = loop {
            let stored = self.scenario.stored_withdrawal(id).await;
            match decide_update(&stored, &said) {
                PayoutUpdateDecision::Move(next) => {
                    let metadata = self.scenario.metadata(Actor::System, self.time());
                    let plan = plans::move_withdrawal(metadata, &stored, next);
                    self.apply(plan.map_err(Refused::Withdrawal)).await.unwrap();
                    moved = true;
                }
                PayoutUpdateDecision::Known | PayoutUpdateDecision::ForOperator if moved => break "moved",
                PayoutUpdateDecision::Known => break "known",
                PayoutUpdateDecision::ForOperator => break "for operator",
                PayoutUpdateDecision::Contradiction(contradiction) => break contradiction.name(),
                PayoutUpdateDecision::Unknown => panic!("no history leads to a status of a newer version"),
            }
        };
        self.observed.insert(format!("payout update {came_to}"));
        equal("the outcome of an update", &came_to, &self.model.receive_payout_update(place, name, txid))?;
        let stored = self.scenario.stored_withdrawal(id).await;
        let model = &self.model.withdrawals[place];
        let owner = model.owner;
        equal("the status after an update", &stored.state.status().name(), &model.status)?;
        equal("the transaction after an update", &stored.state.txid().map(Line::as_str), &model.txid)?;
        let balance = balances(self.scenario.balance(self.people[owner]).await);
        equal("the wallet after an update", &balance, &self.model.people[owner].balances)
    }
}
