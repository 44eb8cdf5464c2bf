//! The clients' bookkeeping: the effect of each acknowledged answer on the wallets.

use std::collections::{BTreeMap, BTreeSet};

use super::COMMISSION;

/// The fact stated by an acknowledged answer; users by index, amounts in cents.
pub(super) enum Fact {
    /// This amount was added to a wallet, or left it for good.
    Received { who: usize, cents: i64 },
    /// A request was created.
    Asked { request: i64, guest: usize, dj: usize, fee: i64 },
    /// The current status of a request.
    Request { request: i64, status: String },
    /// A withdrawal was created.
    Withdrew { withdrawal: i64, who: usize, cents: i64 },
    /// The current status of a withdrawal.
    Withdrawal { withdrawal: i64, status: String },
}

/// A user's balance less debt, and the held amount.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Purse {
    pub(super) free: i64,
    pub(super) held: i64,
}

/// All acknowledged facts, in any order.
#[derive(Default)]
pub(super) struct Books {
    received: Vec<(usize, i64)>,
    /// Guest, DJ and fee.
    requests: BTreeMap<i64, (usize, usize, i64)>,
    request_ends: BTreeMap<i64, BTreeSet<String>>,
    /// Owner and amount.
    withdrawals: BTreeMap<i64, (usize, i64)>,
    withdrawal_ends: BTreeMap<i64, BTreeSet<String>>,
}

impl Books {
    pub(super) fn enter(&mut self, fact: Fact) {
        match fact {
            Fact::Received { who, cents } => self.received.push((who, cents)),
            Fact::Asked { request, guest, dj, fee } => {
                assert_eq!(self.requests.insert(request, (guest, dj, fee)), None, "request {request} twice");
            }
            Fact::Withdrew { withdrawal, who, cents } => {
                let before = self.withdrawals.insert(withdrawal, (who, cents));
                assert_eq!(before, None, "withdrawal {withdrawal} twice");
            }
            Fact::Request { request, status } => {
                if ["rejected", "cancelled", "played", "refunded"].contains(&status.as_str()) {
                    self.request_ends.entry(request).or_default().insert(status);
                }
            }
            Fact::Withdrawal { withdrawal, status } => {
                if ["cancelled", "rejected", "failed", "completed"].contains(&status.as_str()) {
                    self.withdrawal_ends.entry(withdrawal).or_default().insert(status);
                }
            }
        }
    }

    /// The final status of a request; unanswered requests have expired by now.
    fn request_end(&self, request: i64) -> &str {
        let Some(ends) = self.request_ends.get(&request) else { return "expired" };
        let ends: Vec<&str> = ends.iter().map(String::as_str).collect();
        match ends[..] {
            ["played", "refunded"] => "refunded",
            [end] if end != "refunded" => end,
            _ => panic!("request {request} ended as {ends:?}"),
        }
    }

    /// The final status of a withdrawal, if it has one.
    fn withdrawal_end(&self, withdrawal: i64) -> Option<&str> {
        let ends = self.withdrawal_ends.get(&withdrawal)?;
        assert_eq!(ends.len(), 1, "withdrawal {withdrawal} ended as {ends:?}");
        ends.first().map(String::as_str)
    }

    /// The sum of a user's withdrawals that may have been paid.
    pub(super) fn withdrawn(&self, who: usize) -> i64 {
        let own = self.withdrawals.iter().filter(|(_, (owner, _))| *owner == who);
        let paid = own.filter(|(id, _)| matches!(self.withdrawal_end(**id), None | Some("completed")));
        paid.map(|(_, (_, cents))| cents).sum()
    }

    /// The expected balances of this many users.
    pub(super) fn purses(&self, people: usize) -> Vec<Purse> {
        let mut purses = vec![Purse::default(); people];
        for (who, cents) in &self.received {
            purses[*who].free += cents;
        }
        for (request, (guest, dj, fee)) in &self.requests {
            if self.request_end(*request) == "played" {
                purses[*guest].free -= fee;
                purses[*dj].free += fee - commission(*fee);
            }
        }
        for (withdrawal, (who, cents)) in &self.withdrawals {
            match self.withdrawal_end(*withdrawal) {
                Some("completed") => purses[*who].free -= cents,
                Some(_) => {}
                None => {
                    purses[*who].free -= cents;
                    purses[*who].held += cents;
                }
            }
        }
        purses
    }
}

/// The platform's share of a fee, with half a cent rounded to even.
fn commission(fee: i64) -> i64 {
    let (down, rest) = (fee * COMMISSION / 10_000, fee * COMMISSION % 10_000);
    let up = rest > 5_000 || (rest == 5_000 && down % 2 == 1);
    down + i64::from(up)
}
