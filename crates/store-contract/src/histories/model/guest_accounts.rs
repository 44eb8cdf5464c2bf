//! Guest accounts: their creation, claim and deletion, and the limits of their top-ups.

use super::withdrawals::DAY;
use super::{Model, Person, Refusal};

/// The time after which an unused session ends.
const SESSION_SECONDS: i64 = 30 * DAY;

impl Model {
    pub(crate) fn create_guest(&mut self) {
        let session_ends = self.now + SESSION_SECONDS;
        self.guest_accounts.push(self.people.len());
        self.people.push(Person { is_guest: true, created: self.now, session_ends, ..Person::default() });
    }

    /// Refuses a top-up of a guest account above a limit.
    pub(super) fn admits_topup(&self, owner: usize, amount: i128) -> Result<(), Refusal> {
        let person = &self.people[owner];
        if !person.is_guest {
            return Ok(());
        }
        let own = || self.topups.iter().filter(|topup| topup.owner == owner);
        let (available, held, _) = person.balances;
        let pending: i128 = own().filter(|one| one.status == "pending").map(|one| one.amount).sum();
        let recent: i128 = own()
            .filter(|one| ["confirmed", "reversed"].contains(&one.status) && one.since >= self.now - DAY)
            .map(|one| one.amount)
            .sum();
        let (in_wallet, per_day) = self.terms.guest_topups;
        let sums = [("in wallet", available + held, in_wallet), ("per 24h", recent, per_day)];
        for (name, sum, most) in sums {
            if most.is_some_and(|most| sum + pending + amount > most) {
                return Err(Refusal::GuestLimit(name));
            }
        }
        Ok(())
    }

    /// Makes a guest account a member, if it has a session and the address is free; returns the outcome. Everything else
    /// of the account stays as it is.
    pub(crate) fn claim(&mut self, who: usize, is_taken: bool) -> &'static str {
        let now = self.now;
        let person = &mut self.people[who];
        if !person.is_guest || person.is_suspended || person.session_ends <= now {
            return "claim: no guest account";
        }
        if is_taken {
            return "claim: address taken";
        }
        (person.is_guest, person.stands_since) = (false, now);
        "claim: done"
    }

    /// Whether no operation names the user.
    fn is_unnamed(&self, who: usize) -> bool {
        let person = &self.people[who];
        !person.changed
            && person.adjusted.is_empty()
            && self.topups.iter().all(|one| one.owner != who)
            && self.requests.iter().all(|one| one.guest != who)
            && self.withdrawals.iter().all(|one| one.owner != who)
    }

    /// The guest accounts that were not used for a day and that no operation names.
    pub(crate) fn unused_guests(&self) -> Vec<usize> {
        let unused = |place: &usize| {
            let Person { is_guest, created, .. } = self.people[*place];
            is_guest && created < self.now - DAY && self.is_unnamed(*place)
        };
        self.guest_accounts.iter().copied().filter(unused).collect()
    }

    /// Deletes a user who is an unused guest account; returns whether they are one.
    pub(crate) fn delete_guest(&mut self, who: usize) -> bool {
        let is_unused = self.unused_guests().contains(&who);
        if is_unused {
            self.people[who].deleted = true;
            self.guest_accounts.retain(|place| *place != who);
        }
        is_unused
    }
}
