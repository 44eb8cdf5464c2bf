//! A plain model of the money: whole cents in lists, moved as the life cycles of the HTTP contract specify.
//!
//! It uses no plan, no book and no rule of the domain, so that the two implementations are independent.

mod gigs;
mod guest_accounts;
mod orders;
mod payouts;
mod queue_room;
mod ratings;
mod suspense;
mod withdrawals;

pub(crate) use gigs::{Gig, LONGEST_SECONDS};
pub(crate) use orders::{FIRST_WAIT, LEASE, MAX_ATTEMPTS, Ordering};
pub(crate) use payouts::RETRY_SECONDS;
pub(crate) use ratings::RATED_WITHIN_SECONDS;

use crate::harness::refusal::Refusal;
use crate::harness::tables::{REQUESTS, edges, transition};

const PENDING_SECONDS: i64 = 15 * 60;
const ACCEPTED_SECONDS: i64 = 60 * 60;

/// The transactions that status updates report; operators report the first one.
pub(crate) const TXIDS: [&str; 2] = ["f00d", "beef"];

/// Available, held and owed.
pub(crate) type Balances = (i128, i128, i128);

/// The terms of a deployment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) commission_bps: i128,
    pub(crate) auto_approve_below: i128,
    pub(crate) second_approval_above: Option<i128>,
    pub(crate) max_amount: Option<i128>,
    pub(crate) max_per_24h: Option<i128>,
    pub(crate) max_per_30d: Option<i128>,
    pub(crate) most_open_per_dj: Option<u32>,
    /// The maximum numbers of open requests in a gig, and of all requests.
    pub(crate) in_gig: (u32, u32),
    /// The time after which income can be withdrawn.
    pub(crate) clearing_seconds: Option<i64>,
    /// The maximum of what a guest account has after a top-up, and of its top-ups in 24 hours.
    pub(crate) guest_topups: (Option<i128>, Option<i128>),
}

/// The result of an accepted command.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Seen {
    Request { status: &'static str, fee: i128, since: i64 },
    Rating { stars: i64, since: i64 },
    Gig { status: &'static str },
    Tip { cents: i128, commission: i128, balances: Balances },
    Withdrawal { status: &'static str, txid: Option<String>, approvals: usize, balances: Balances },
    Topup { status: &'static str },
    Adjustment { balances: Balances },
    Profile { dj: Option<Dj>, balances: Balances },
}

/// A DJ's prices and counters.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Dj {
    pub(crate) online: bool,
    pub(crate) upcoming: i128,
    pub(crate) popular: i128,
    pub(crate) played: i64,
    pub(crate) stars: i64,
    pub(crate) ratings: i64,
}

/// A user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Person {
    pub(crate) balances: Balances,
    pub(crate) entries: u64,
    pub(crate) dj: Option<Dj>,
    pub(crate) erased: bool,
    pub(crate) is_operator: bool,
    pub(crate) is_suspended: bool,
    /// The time of the last change of their status.
    pub(crate) stands_since: i64,
    /// The times and amounts of their top-ups and earnings.
    pub(crate) income: Vec<(i64, i128)>,
    /// The operators who adjusted their wallet, with the times.
    pub(crate) adjusted: Vec<(usize, i64)>,
    /// Whether an operation changed their profile or their status.
    pub(crate) changed: bool,
    /// Whether it is a guest account.
    pub(crate) is_guest: bool,
    /// The creation of a guest account, which was last used then.
    pub(crate) created: i64,
    /// The end of the session of a guest account.
    pub(crate) session_ends: i64,
    /// Whether it was a guest account that was deleted.
    pub(crate) deleted: bool,
}

/// A request, as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) guest: usize,
    pub(crate) dj: usize,
    fee: i128,
    commission: i128,
    status: &'static str,
    ends: Option<i64>,
    since: i64,
    /// The time of the request.
    made: i64,
    /// The gig in which it was made.
    gig: Option<usize>,
    /// Whether it counted as a guest's when it was made.
    counts_as_guest: bool,
    /// Whether a request with a fee took its place.
    pub(crate) is_displaced: bool,
    /// The stars of its rating, with the time.
    rating: Option<(i64, i64)>,
}

/// A withdrawal.
#[derive(Clone, Debug)]
pub(crate) struct Withdrawal {
    pub(crate) owner: usize,
    amount: i128,
    pub(crate) status: &'static str,
    pub(crate) txid: Option<&'static str>,
    /// The number of orders sent to the provider, and the time of the next one.
    attempts: u32,
    retry_at: Option<i64>,
    /// The approving operators, with the times.
    pub(crate) approvals: Vec<(usize, i64)>,
    made: i64,
}

/// A top-up.
#[derive(Clone, Debug)]
pub(crate) struct Topup {
    pub(crate) owner: usize,
    pub(crate) amount: i128,
    pub(crate) status: &'static str,
    ordering: Ordering,
    made: i64,
    /// The time of its last change of status.
    since: i64,
}

/// The whole state, each list in order of creation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) terms: Terms,
    /// The time of the history.
    pub(crate) now: i64,
    pub(crate) people: Vec<Person>,
    /// The user who is erased next.
    pub(crate) departing: usize,
    /// The guest accounts that were neither deleted nor erased, and the members who claimed one.
    pub(crate) guest_accounts: Vec<usize>,
    pub(crate) requests: Vec<Request>,
    pub(crate) withdrawals: Vec<Withdrawal>,
    pub(crate) topups: Vec<Topup>,
    pub(crate) gigs: Vec<Gig>,
    pub(crate) adjustments: usize,
    pub(crate) tips: usize,
    /// Postings to accounts other than wallets.
    pub(crate) postings: u64,
    /// The sum of those postings: platform and external accounts.
    pub(crate) elsewhere: i128,
}

/// Rounds to the nearest whole cent, half to even.
fn half_even(numerator: i128, denominator: i128) -> i128 {
    let down = numerator / denominator;
    match (2 * (numerator - down * denominator)).cmp(&denominator) {
        std::cmp::Ordering::Less => down,
        std::cmp::Ordering::Greater => down + 1,
        std::cmp::Ordering::Equal => down + down % 2,
    }
}

impl Request {
    /// The visible status, and its time.
    pub(crate) fn seen(&self, now: i64) -> (&'static str, i64) {
        match self.ends {
            Some(ends) if ends <= now => ("expired", ends),
            _ => (self.status, self.since),
        }
    }

    /// The expiry of a request, if it has passed and the request is stored as still holding its fee.
    pub(crate) fn overdue(&self, now: i64) -> Option<i64> {
        self.ends.filter(|ends| *ends <= now)
    }

    fn end(&mut self, status: &'static str, now: i64) {
        (self.status, self.since, self.ends) = (status, now, None);
    }
}

impl Model {
    /// Moves money within, into or out of a wallet as one entry; none for zero.
    fn entry(&mut self, who: usize, available: i128, held: i128, owed: i128) {
        if (available, held, owed) != (0, 0, 0) {
            let person = &mut self.people[who];
            let (a, h, o) = person.balances;
            person.balances = (a + available, h + held, o + owed);
            person.entries += 1;
        }
    }

    /// Credits a wallet, or debits it if `amount` is negative: a credit pays the debt first.
    fn credit(&mut self, who: usize, amount: i128) {
        let (.., owed) = self.people[who].balances;
        let pays = amount.clamp(0, owed);
        self.entry(who, amount - pays, 0, -pays);
    }

    /// Credits income, which clears later.
    fn credit_income(&mut self, who: usize, amount: i128) {
        self.credit(who, amount);
        self.people[who].income.push((self.now, amount));
    }

    /// Makes held money available again; it pays the debt first.
    fn release(&mut self, who: usize, amount: i128) {
        let (.., owed) = self.people[who].balances;
        let pays = amount.min(owed);
        self.entry(who, amount - pays, -amount, -pays);
    }

    /// Moves money into or out of an account other than a wallet; none for zero.
    fn posting(&mut self, amount: i128) {
        if amount != 0 {
            self.elsewhere += amount;
            self.postings += 1;
        }
    }

    fn affords(&self, who: usize, amount: i128) -> Result<(), Refusal> {
        let (available, ..) = self.people[who].balances;
        if amount > available { Err(Refusal::Funds { available }) } else { Ok(()) }
    }

    pub(crate) fn open_topup(
        &mut self,
        owner: usize,
        amount: i128,
        confirmed: bool,
    ) -> Result<Seen, Refusal> {
        self.admits_topup(owner, amount)?;
        let (ordering, made) = (Ordering::default(), self.now);
        self.topups.push(Topup { owner, amount, status: "pending", ordering, made, since: made });
        if confirmed {
            self.settle_topup(self.topups.len() - 1, true)
        } else {
            Ok(Seen::Topup { status: "pending" })
        }
    }

    pub(crate) fn settle_topup(&mut self, place: usize, confirmed: bool) -> Result<Seen, Refusal> {
        let Topup { owner, amount, status, .. } = self.topups[place].clone();
        if status == "pending" {
            self.topups[place].status = if confirmed { "confirmed" } else { "failed" };
            self.topups[place].ordering.next = None;
            self.topups[place].since = self.now;
            if confirmed {
                self.credit_income(owner, amount);
                self.posting(-amount);
            }
        }
        Ok(Seen::Topup { status: self.topups[place].status })
    }

    pub(crate) fn adjust(
        &mut self,
        who: usize,
        cents: i128,
        operator: usize,
        now: i64,
    ) -> Result<Seen, Refusal> {
        self.affords(who, -cents)?;
        self.credit(who, cents);
        self.posting(-cents);
        self.adjustments += 1;
        self.people[who].adjusted.push((operator, now));
        Ok(Seen::Adjustment { balances: self.people[who].balances })
    }

    pub(crate) fn change_dj(
        &mut self,
        who: usize,
        online: Option<bool>,
        upcoming: Option<i128>,
        popular: Option<i128>,
    ) -> Result<Seen, Refusal> {
        let person = &mut self.people[who];
        match &mut person.dj {
            Some(dj) => {
                dj.online = online.unwrap_or(dj.online);
                dj.upcoming = upcoming.unwrap_or(dj.upcoming);
                dj.popular = popular.unwrap_or(dj.popular);
            }
            None if online.is_some() || upcoming.is_some() || popular.is_some() => {
                return Err(Refusal::NotADj);
            }
            None => {}
        }
        person.changed = true;
        Ok(Seen::Profile { dj: person.dj.clone(), balances: person.balances })
    }

    /// A suspended DJ is offline; restoring them does not bring them online.
    pub(crate) fn change_suspension(&mut self, who: usize, suspend: bool, now: i64) -> Result<Seen, Refusal> {
        let person = &mut self.people[who];
        let mut is_changed = person.is_suspended != suspend;
        if suspend || is_changed {
            person.session_ends = person.session_ends.min(now);
        }
        (person.is_suspended, person.changed) = (suspend, true);
        if let Some(dj) = person.dj.as_mut().filter(|dj| suspend && dj.online) {
            dj.online = false;
            is_changed = true;
        }
        person.stands_since = if is_changed { now } else { person.stands_since };
        Ok(Seen::Profile { dj: person.dj.clone(), balances: person.balances })
    }

    pub(crate) fn change_role(&mut self, who: usize, operator: bool, now: i64) -> Result<Seen, Refusal> {
        let person = &mut self.people[who];
        if person.is_operator != operator {
            (person.is_operator, person.stands_since) = (operator, now);
        }
        Ok(Seen::Profile { dj: person.dj.clone(), balances: person.balances })
    }

    pub(crate) fn open_request(
        &mut self,
        guest: usize,
        dj: usize,
        popular: bool,
        offer: Option<i128>,
        now: i64,
    ) -> Result<Seen, Refusal> {
        let asked = self.people[dj].dj.clone().filter(|_| guest != dj).ok_or(Refusal::NoSuchDj)?;
        let price = if popular { asked.popular } else { asked.upcoming };
        let fee = offer.unwrap_or(price);
        if fee < price {
            return Err(Refusal::FeeBelowPrice(price));
        }
        if !asked.online {
            return Err(Refusal::DjOffline);
        }
        if fee > 0 {
            self.owes_nothing(guest)?;
        }
        let with_them = self.requests.iter().filter(|one| (one.guest, one.dj) == (guest, dj));
        let open = with_them.filter(|one| ["pending", "accepted"].contains(&one.seen(now).0)).count();
        let gig = self.open_gig_of(dj);
        let limits = [self.terms.most_open_per_dj, gig.map(|gig| self.gigs[gig].most)];
        let most = limits.into_iter().flatten().min();
        if let Some(most) = most.filter(|most| open >= usize::try_from(*most).unwrap()) {
            return Err(Refusal::TooManyOpen(most));
        }
        let displaced = gig.map(|gig| self.room(gig, guest, fee)).transpose()?.flatten();
        self.affords(guest, fee)?;
        let counts_as_guest = self.counts_as_guest(guest);
        if let Some(displaced) = displaced {
            self.requests[displaced].end("rejected", now);
            self.requests[displaced].is_displaced = true;
        }
        self.entry(guest, -fee, fee, 0);
        let ends = Some(now + if gig.is_some() { gigs::PENDING_SECONDS } else { PENDING_SECONDS });
        self.requests.push(Request {
            guest,
            dj,
            fee,
            commission: 0,
            status: "pending",
            ends,
            since: now,
            made: now,
            gig,
            counts_as_guest,
            is_displaced: false,
            rating: None,
        });
        self.see(self.requests.len() - 1, now)
    }

    fn see(&self, place: usize, now: i64) -> Result<Seen, Refusal> {
        let (status, since) = self.requests[place].seen(now);
        Ok(Seen::Request { status, fee: self.requests[place].fee, since })
    }

    /// Expires an overdue request and releases its fee.
    pub(crate) fn sweep(&mut self, place: usize, now: i64) -> Result<Seen, Refusal> {
        let request = self.requests[place].clone();
        if let Some(ends) = request.overdue(now) {
            self.requests[place].end("expired", ends);
            self.release(request.guest, request.fee);
        }
        self.see(place, now)
    }

    /// The statuses that a request can move to from its visible status.
    pub(crate) fn edges_of_request(&self, place: usize, now: i64) -> Vec<&'static str> {
        edges(REQUESTS, self.requests[place].seen(now).0)
    }

    pub(crate) fn move_request(&mut self, place: usize, to: &'static str, now: i64) -> Result<Seen, Refusal> {
        let Request { guest, dj, fee, commission, gig, made, .. } = self.requests[place];
        let (current, _) = self.requests[place].seen(now);
        if current == to {
            return self.see(place, now);
        }
        let (.., mover) = *REQUESTS.iter().find(|(_, target, _)| *target == to).unwrap();
        if !REQUESTS.contains(&(current, to, mover)) {
            return Err(transition(REQUESTS, current));
        }
        let has_ended = match gig {
            Some(gig) => self.gigs[gig].ended.is_some(),
            None => self.gigs.iter().any(|gig| gig.dj == dj && gig.ended.is_some_and(|ended| made < ended)),
        };
        if has_ended && ["accepted", "played"].contains(&to) {
            return Err(gigs::transition_after_end(current));
        }
        self.requests[place].end(to, now);
        match to {
            "accepted" => {
                let within = if gig.is_some() { gigs::ACCEPTED_SECONDS } else { ACCEPTED_SECONDS };
                self.requests[place].ends = Some(now + within);
            }
            "rejected" | "cancelled" => self.release(guest, fee),
            "played" => {
                let commission = half_even(fee * self.terms.commission_bps, 10_000);
                self.requests[place].commission = commission;
                self.capture(guest, dj, fee, commission);
            }
            _ => self.refund(guest, dj, fee, commission),
        }
        self.see(place, now)
    }

    /// Tips the DJ of a gig, who gets the rest after the commission.
    pub(crate) fn tip(&mut self, guest: usize, gig: usize, cents: i128) -> Result<Seen, Refusal> {
        let dj = self.gigs[gig].dj;
        if dj == guest {
            return Err(Refusal::OwnTip);
        }
        if self.people[dj].is_suspended {
            return Err(Refusal::Inactive);
        }
        self.owes_nothing(guest)?;
        self.affords(guest, cents)?;
        let commission = half_even(cents * self.terms.commission_bps, 10_000);
        self.entry(guest, -cents, 0, 0);
        self.credit_income(dj, cents - commission);
        self.posting(commission);
        self.tips += 1;
        Ok(Seen::Tip { cents, commission, balances: self.people[guest].balances })
    }

    /// Pays the DJ the fee less the commission, and the platform its commission.
    fn capture(&mut self, guest: usize, dj: usize, fee: i128, commission: i128) {
        self.entry(guest, 0, -fee, 0);
        self.credit_income(dj, fee - commission);
        self.posting(commission);
        self.people[dj].dj.as_mut().unwrap().played += 1;
    }

    /// Returns the whole fee to the guest; the platform returns its commission and advances the amount that
    /// the DJ lacks.
    fn refund(&mut self, guest: usize, dj: usize, fee: i128, commission: i128) {
        let returns = fee - commission;
        let (available, ..) = self.people[dj].balances;
        let has = returns.min(available);
        self.credit(guest, fee);
        self.entry(dj, -has, 0, returns - has);
        self.posting(-commission);
    }
}
