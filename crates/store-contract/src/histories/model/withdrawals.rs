//! The withdrawals of the model: limits, approvals, and every move.

use super::{Model, Person, Refusal, Seen, TXIDS, Terms, Withdrawal};

pub(super) const DAY: i64 = 24 * 60 * 60;
/// The time for which an operator who adjusted a wallet cannot judge its withdrawals.
const BARRED_SECONDS: i64 = 30 * DAY;

impl Model {
    fn withdrawn_since(&self, owner: usize, since: i64) -> i128 {
        self.withdrawn(owner, |made| made > since)
    }

    /// The sum of the owner's withdrawals of these times that may be paid.
    fn withdrawn(&self, owner: usize, made: impl Fn(i64) -> bool) -> i128 {
        let nothing = ["cancelled", "rejected", "failed"];
        let own = self.withdrawals.iter().filter(|one| one.owner == owner && made(one.made));
        own.filter(|one| !nothing.contains(&one.status)).map(|one| one.amount).sum()
    }

    /// The sum of the owner's withdrawals less than a day away from this time.
    fn withdrawn_around(&self, owner: usize, time: i64) -> i128 {
        self.withdrawn(owner, |made| (made - time).abs() < DAY)
    }

    /// Refuses an owner in debt.
    pub(super) fn owes_nothing(&self, owner: usize) -> Result<(), Refusal> {
        let (.., owed) = self.people[owner].balances;
        if owed > 0 { Err(Refusal::Owes { owed }) } else { Ok(()) }
    }

    /// The available money without the income that is clearing.
    fn cleared(&self, owner: usize) -> i128 {
        let person = &self.people[owner];
        let (available, ..) = person.balances;
        let Some(seconds) = self.terms.clearing_seconds else { return available };
        let recent = person.income.iter().filter(|(at, _)| *at > self.now - seconds);
        available - recent.map(|(_, amount)| amount).sum::<i128>().min(available)
    }

    pub(crate) fn open_withdrawal(&mut self, owner: usize, amount: i128, now: i64) -> Result<Seen, Refusal> {
        if self.people[owner].is_guest {
            return Err(Refusal::ClaimRequired);
        }
        let Terms { auto_approve_below, max_amount, max_per_24h, max_per_30d, .. } = self.terms;
        if max_amount.is_some_and(|most| amount > most) {
            return Err(Refusal::Limit("single"));
        }
        self.owes_nothing(owner)?;
        let day = self.withdrawn_since(owner, now - DAY) + amount;
        let month = self.withdrawn_since(owner, now - 30 * DAY) + amount;
        for (name, sum, most) in [("24h", day, max_per_24h), ("30d", month, max_per_30d)] {
            if most.is_some_and(|most| sum > most) {
                return Err(Refusal::Limit(name));
            }
        }
        self.affords(owner, amount)?;
        if amount > self.cleared(owner) {
            return Err(Refusal::Limit("cleared"));
        }
        self.entry(owner, -amount, amount, 0);
        let sum = self.withdrawn_around(owner, now) + amount;
        let status = if sum < auto_approve_below { "approved" } else { "pending" };
        self.withdrawals.push(Withdrawal {
            owner,
            amount,
            status,
            txid: None,
            attempts: 0,
            retry_at: None,
            approvals: Vec::new(),
            made: now,
        });
        Ok(self.see_withdrawal(self.withdrawals.len() - 1))
    }

    pub(super) fn see_withdrawal(&self, place: usize) -> Seen {
        let Withdrawal { owner, status, txid, ref approvals, .. } = self.withdrawals[place];
        let (txid, balances) = (txid.map(str::to_owned), self.people[owner].balances);
        Seen::Withdrawal { status, txid, approvals: approvals.len(), balances }
    }

    /// The statuses that a withdrawal can move to, other than rejected.
    pub(crate) fn onward_from(&self, place: usize) -> Vec<&'static str> {
        let mut edges = self.edges_by_hand(place);
        edges.retain(|to| *to != "rejected");
        edges
    }

    pub(crate) fn move_withdrawal(
        &mut self,
        place: usize,
        to: &'static str,
        by: usize,
        txid: bool,
        now: i64,
    ) -> Result<Seen, Refusal> {
        let Withdrawal { owner, status: current, txid: known, .. } = self.withdrawals[place];
        let judges = ["approved", "rejected", "failed"].contains(&to);
        let barred = judges && self.has_adjusted(by, owner, now);
        let named = match to {
            "broadcast" => Some(TXIDS[0]),
            "completed" if txid => Some(TXIDS[0]),
            _ => None,
        };
        let names_another = named.is_some() && named != known;
        if names_another && (current == to || (current, to) == ("broadcast", "completed")) {
            return Err(self.refused_now(place));
        }
        if current == to {
            return if barred { Err(Refusal::RecentAdjustment) } else { Ok(self.see_withdrawal(place)) };
        }
        if !self.edges_by_hand(place).contains(&to) {
            return Err(self.refused_by_hand(place, to));
        }
        let given = named.or(known);
        if to == "completed" && given.is_none() {
            return Err(Refusal::TxidMissing);
        }
        if barred {
            return Err(Refusal::RecentAdjustment);
        }
        if to == "approved" || (current, to) == ("approved", "processing") {
            self.owes_nothing(owner)?;
        }
        if to == "approved" {
            return Ok(self.approve(place, by, now));
        }
        self.reach(place, to, given);
        Ok(self.see_withdrawal(place))
    }

    /// Moves a withdrawal to another status, with its money.
    pub(super) fn reach(&mut self, place: usize, to: &'static str, txid: Option<&'static str>) {
        let Withdrawal { owner, amount, .. } = self.withdrawals[place];
        let withdrawal = &mut self.withdrawals[place];
        (withdrawal.status, withdrawal.txid, withdrawal.attempts, withdrawal.retry_at) = (to, txid, 0, None);
        match to {
            "rejected" | "cancelled" | "failed" => self.release(owner, amount),
            "completed" => {
                self.entry(owner, 0, -amount, 0);
                self.posting(amount);
            }
            _ => {}
        }
    }

    fn has_adjusted(&self, by: usize, wallet: usize, now: i64) -> bool {
        self.people[wallet].adjusted.iter().any(|(who, at)| *who == by && *at > now - BARRED_SECONDS)
    }

    /// Adds an approval; earlier ones count if their operator's status is unchanged and they adjusted
    /// nothing since.
    fn approve(&mut self, place: usize, by: usize, now: i64) -> Seen {
        let Withdrawal { owner, made, mut approvals, .. } = self.withdrawals[place].clone();
        approvals.retain(|(who, at)| {
            let Person { is_operator, is_suspended, stands_since, .. } = self.people[*who];
            is_operator && !is_suspended && stands_since <= *at && !self.has_adjusted(*who, owner, now)
        });
        if approvals.iter().all(|(who, _)| *who != by) {
            approvals.push((by, now));
        }
        let sum = self.withdrawn_around(owner, made);
        let two = self.terms.second_approval_above.is_some_and(|limit| sum > limit);
        if !two || approvals.len() > 1 {
            self.withdrawals[place].status = "approved";
        }
        self.withdrawals[place].approvals = approvals;
        self.see_withdrawal(place)
    }
}
