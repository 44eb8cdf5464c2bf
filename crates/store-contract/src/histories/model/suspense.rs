//! Charge-backs, erasures, and late money, as the HTTP contract specifies them.

use super::withdrawals::DAY;
use super::{Model, Person, Refusal, Seen};
use crate::harness::tables::{TOPUPS, transition};

impl Model {
    /// Reverses a top-up: the part that is no longer available becomes owed.
    pub(crate) fn reverse_topup(&mut self, place: usize) -> Result<Seen, Refusal> {
        let topup = self.topups[place].clone();
        match topup.status {
            "reversed" => {}
            "confirmed" => {
                let (available, ..) = self.people[topup.owner].balances;
                let has = topup.amount.min(available);
                self.entry(topup.owner, -has, 0, topup.amount - has);
                self.posting(topup.amount);
                self.topups[place].status = "reversed";
                self.topups[place].since = self.now;
            }
            // Its money in suspense is invisible here: the top-up failed.
            "suspended" | "settled" => return Err(transition(TOPUPS, "failed")),
            other => return Err(transition(TOPUPS, other)),
        }
        Ok(self.see_topup(place))
    }

    /// Applies the payment of a top-up, whose owner may have been erased.
    pub(crate) fn receive_late_money(&mut self, place: usize) -> Result<Seen, Refusal> {
        let topup = self.topups[place].clone();
        if !self.people[topup.owner].erased {
            return self.settle_topup(place, true);
        }
        if ["pending", "failed"].contains(&topup.status) {
            self.topups[place].status = "suspended";
            self.topups[place].ordering.next = None;
            self.posting(-topup.amount);
            self.posting(topup.amount);
        }
        Ok(self.see_topup(place))
    }

    /// Applies a status update about a top-up, paid with this many cents in excess; returns its outcome.
    pub(crate) fn receive_topup_update(&mut self, place: usize, update: &str, excess: i128) -> &'static str {
        let is_erased = self.people[self.topups[place].owner].erased;
        let status = self.topups[place].status;
        let answer = match (update, status) {
            ("confirmed", "failed") if !is_erased => return "status_contradiction",
            ("confirmed", _) if excess != 0 => return "amount_mismatch",
            ("confirmed", "pending" | "failed") => self.receive_late_money(place),
            ("failed", "pending") => self.settle_topup(place, false),
            ("confirmed", _) | ("failed", "failed") => return "known",
            ("reversed", "confirmed" | "reversed") if excess < 0 => {
                let back = self.topups[place].amount + excess;
                return if back > 0 { "partial_reversal" } else { "amount_mismatch" };
            }
            ("reversed", "confirmed" | "reversed") if excess > 0 => return "amount_mismatch",
            ("reversed", "confirmed") => self.reverse_topup(place),
            ("reversed", "reversed") => return "known",
            _ => return "status_contradiction",
        };
        answer.unwrap();
        "moved"
    }

    /// The top-ups whose money is, or was, in suspense.
    pub(crate) fn suspended_topups(&self) -> Vec<usize> {
        let places = 0..self.topups.len();
        places.filter(|place| ["suspended", "settled"].contains(&self.topups[*place].status)).collect()
    }

    /// Settles money in suspense.
    pub(crate) fn settle_suspense(&mut self, place: usize) -> Result<Seen, Refusal> {
        let topup = &mut self.topups[place];
        if topup.status == "settled" {
            return Err(Refusal::AlreadySettled);
        }
        topup.status = "settled";
        let amount = topup.amount;
        self.posting(-amount);
        self.posting(amount);
        Ok(self.see_topup(place))
    }

    /// Opens a pending top-up of the departing user.
    pub(crate) fn open_departing_topup(
        &mut self,
        amount: i128,
        ordered: bool,
        now: i64,
    ) -> Result<Seen, Refusal> {
        if ordered {
            self.open_ordered_topup(self.departing, amount, now)
        } else {
            self.open_topup(self.departing, amount, false)
        }
    }

    /// Erases a user, unless they have money or a pending top-up of the last seven days; returns the outcome. A new user
    /// takes the place of the departing one.
    pub(crate) fn erase(&mut self, who: usize, now: i64) -> &'static str {
        if self.people[who].balances != (0, 0, 0) {
            return "erasure: money left";
        }
        let pending = |topup: &&mut super::Topup| (topup.owner, topup.status) == (who, "pending");
        if self.topups.iter_mut().filter(pending).any(|topup| topup.made > now - 7 * DAY) {
            return "erasure: topup pending";
        }
        for topup in self.topups.iter_mut().filter(pending) {
            (topup.status, topup.ordering.next) = ("failed", None);
        }
        self.people[who].erased = true;
        if who != self.departing {
            self.guest_accounts.retain(|place| *place != who);
            return "erasure of a guest account: done";
        }
        self.departing = self.people.len();
        self.people.push(Person::default());
        "erasure: done"
    }

    fn see_topup(&self, place: usize) -> Seen {
        Seen::Topup { status: self.topups[place].status }
    }
}
