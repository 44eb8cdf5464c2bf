//! The limits of top-ups by guest accounts, whose payers are unknown.

use time::Duration;

use crate::ledger::Balance;
use crate::money::{Amount, Money};
use crate::timestamp::Timestamp;
use crate::topup::{Topup, TopupStatus};

/// The time within which the top-ups of a guest account are added up.
const WITHIN: Duration = Duration::hours(24);

/// The limits of a deployment; `None` means no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GuestTopupLimits {
    /// The maximum of what the account has after a top-up: available, held, and in pending top-ups.
    pub most_in_wallet: Option<Amount>,
    /// The maximum sum of its top-ups that are pending or whose money arrived within 24 hours.
    pub most_per_24h: Option<Amount>,
}

/// The limit that a top-up would exceed, with the amount that it allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuestTopupLimit {
    /// [`GuestTopupLimits::most_in_wallet`].
    InWallet(Amount),
    /// [`GuestTopupLimits::most_per_24h`].
    Per24h(Amount),
}

impl GuestTopupLimits {
    /// The time from which top-ups are added up at `now`.
    #[must_use]
    pub fn since(now: Timestamp) -> Timestamp {
        now.minus(WITHIN)
    }

    /// Whether a top-up counts at `now`: its money may still arrive, or arrived within 24 hours.
    #[must_use]
    pub fn counts(topup: &Topup, now: Timestamp) -> bool {
        match topup.status {
            TopupStatus::Pending => true,
            TopupStatus::Failed => false,
            TopupStatus::Confirmed | TopupStatus::Reversed | TopupStatus::Unknown(_) => {
                topup.updated_at >= Self::since(now)
            }
        }
    }

    /// The limit that another top-up of this amount would exceed at `now`, if there is one. `earlier` are the top-ups of
    /// the account, at least those that [count](Self::counts).
    #[must_use]
    pub fn exceeded<'a>(
        &self,
        amount: Amount,
        balance: Balance,
        earlier: impl Iterator<Item = &'a Topup>,
        now: Timestamp,
    ) -> Option<GuestTopupLimit> {
        let (mut pending, mut all) = (Some(Money::ZERO), Some(Money::ZERO));
        for topup in earlier.filter(|topup| Self::counts(topup, now)) {
            let sum = |sum: Option<Money>| sum?.checked_add(topup.amount.money());
            if topup.status == TopupStatus::Pending {
                pending = sum(pending);
            }
            all = sum(all);
        }
        let in_wallet =
            pending.and_then(|pending| pending.checked_add(balance.available)?.checked_add(balance.held));
        let exceeds = |most: Amount, sum: Option<Money>| {
            sum.and_then(|sum| sum.checked_add(amount.money())).is_none_or(|sum| sum > most.money())
        };
        if let Some(most) = self.most_in_wallet.filter(|most| exceeds(*most, in_wallet)) {
            return Some(GuestTopupLimit::InWallet(most));
        }
        self.most_per_24h.filter(|most| exceeds(*most, all)).map(GuestTopupLimit::Per24h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{OperationId, TopupId, UserId};
    use crate::topup::{Charge, open};

    fn amount(minor: i128) -> Amount {
        Amount::new(Money::from_minor(minor)).unwrap()
    }

    fn hour(hour: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::hours(hour))
    }

    fn topup(minor: i128, status: TopupStatus, at: Timestamp) -> Topup {
        let (id, user) = (TopupId::new(1).unwrap(), UserId::new(1).unwrap());
        let (topup, _) = open(OperationId(1), id, user, amount(minor), Charge::Pending, at);
        Topup { status, ..topup }
    }

    fn exceeded(limits: GuestTopupLimits, balance: Balance, earlier: &[Topup]) -> Option<GuestTopupLimit> {
        limits.exceeded(amount(30), balance, earlier.iter(), hour(48))
    }

    #[test]
    fn without_limits_every_topup_is_admitted() {
        let rich = Balance { available: Money::from_minor(1_000_000), ..Balance::default() };
        assert_eq!(exceeded(GuestTopupLimits::default(), rich, &[]), None);
    }

    #[test]
    fn available_held_and_pending_money_counts_towards_the_limit_of_the_wallet() {
        let limits = GuestTopupLimits { most_in_wallet: Some(amount(100)), most_per_24h: None };
        let balance = |available, held| Balance {
            available: Money::from_minor(available),
            held: Money::from_minor(held),
            ..Balance::default()
        };
        let reached = Some(GuestTopupLimit::InWallet(amount(100)));
        assert_eq!(exceeded(limits, balance(40, 30), &[]), None);
        assert_eq!(exceeded(limits, balance(40, 31), &[]), reached);
        let pending = topup(1, TopupStatus::Pending, hour(47));
        assert_eq!(exceeded(limits, balance(40, 30), &[pending]), reached);
        let confirmed = topup(1, TopupStatus::Confirmed, hour(47));
        assert_eq!(exceeded(limits, balance(40, 30), &[confirmed]), None, "its money is in the wallet");
    }

    #[test]
    fn pending_topups_and_those_of_24_hours_are_added_up() {
        let limits = GuestTopupLimits { most_in_wallet: None, most_per_24h: Some(amount(100)) };
        let reached = Some(GuestTopupLimit::Per24h(amount(100)));
        for (status, at, expected) in [
            (TopupStatus::Confirmed, hour(24), reached),
            (TopupStatus::Pending, hour(47), reached),
            (TopupStatus::Reversed, hour(47), reached),
            (TopupStatus::Failed, hour(47), None),
            (TopupStatus::Pending, hour(0), reached),
            (TopupStatus::Confirmed, hour(23), None),
        ] {
            let earlier = [topup(71, status, at)];
            assert_eq!(exceeded(limits, Balance::default(), &earlier), expected, "{status:?} {at:?}");
        }
        assert_eq!(
            exceeded(limits, Balance::default(), &[topup(70, TopupStatus::Confirmed, hour(47))]),
            None
        );
    }
}
