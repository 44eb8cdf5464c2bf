//! Clearing: recent income cannot be withdrawn, because a charge-back may follow.

use time::Duration;

use crate::ledger::{Entry, EntryKind};
use crate::money::Money;
use crate::timestamp::Timestamp;

/// Money that a top-up or a guest's payment made available in a wallet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Income {
    /// The time of the entry.
    pub at: Timestamp,
    /// The part that did not pay a debt.
    pub amount: Money,
}

impl Income {
    /// The kinds of its entries.
    pub const KINDS: [EntryKind; 2] = [EntryKind::Topup, EntryKind::Earning];

    /// The income of an entry; `None` if there is none.
    #[must_use]
    pub fn of(entry: &Entry) -> Option<Self> {
        Self::stored(entry.kind, entry.at, entry.change.available)
    }

    /// The income of an entry of this kind, at this time and with this change of the available balance.
    #[must_use]
    pub fn stored(kind: EntryKind, at: Timestamp, amount: Money) -> Option<Self> {
        (Self::KINDS.contains(&kind) && amount > Money::ZERO).then_some(Self { at, amount })
    }
}

/// The part of an available balance that cannot be withdrawn yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Clearing {
    /// The smaller of the available balance and the recent income.
    pub amount: Money,
    /// The time at which all of it can be withdrawn; `None` if nothing is clearing.
    pub until: Option<Timestamp>,
}

impl Clearing {
    /// The clearing part of an available balance at `now`, if income clears after `time`. Income that was charged back
    /// or spent counts too, because the remaining money may come from other recent income.
    #[must_use]
    pub fn of(
        available: Money,
        time: Duration,
        now: Timestamp,
        income: impl IntoIterator<Item = Income>,
    ) -> Self {
        let since = now.minus(time);
        let recent = income.into_iter().filter(|one| one.at > since);
        // A sum that is too large exceeds every balance.
        let (amount, newest) = recent.fold((Money::ZERO, None), |(sum, newest), one| {
            let sum = sum.checked_add(one.amount).unwrap_or(available).min(available);
            (sum, newest.max(Some(one.at)))
        });
        let until = newest.filter(|_| amount > Money::ZERO).map(|at| at.plus(time));
        Self { amount, until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::hours(hour))
    }

    /// The clearing part of `available` at hour 100, and the time at which it clears. `income` has pairs of hour and
    /// amount.
    fn clearing(available: i128, income: &[(i64, i128)]) -> (i128, Option<Timestamp>) {
        let income =
            income.iter().map(|(hour, amount)| Income { at: at(*hour), amount: Money::from_minor(*amount) });
        let Clearing { amount, until } =
            Clearing::of(Money::from_minor(available), Duration::hours(72), at(100), income);
        (amount.minor(), until)
    }

    #[test]
    fn income_clears_after_the_configured_time_and_never_exceeds_the_balance() {
        assert_eq!(clearing(50, &[]), (0, None));
        assert_eq!(clearing(50, &[(28, 20)]), (0, None), "exactly 72 hours old");
        assert_eq!(clearing(50, &[(10, 5), (29, 20)]), (20, Some(at(101))));
        assert_eq!(clearing(50, &[(90, 30), (40, 40)]), (50, Some(at(162))), "some of it was spent");
        assert_eq!(clearing(0, &[(90, 30)]), (0, None), "all of it was spent");
        assert_eq!(clearing(50, &[(90, i128::MAX), (91, i128::MAX)]), (50, Some(at(163))));
    }

    #[test]
    fn only_topups_and_earnings_are_income() {
        for kind in EntryKind::all() {
            let income = Income::stored(kind, at(1), Money::from_minor(5));
            assert_eq!(income.is_some(), matches!(kind, EntryKind::Topup | EntryKind::Earning), "{kind:?}");
        }
        assert_eq!(Income::stored(EntryKind::Earning, at(1), Money::ZERO), None, "all of it paid a debt");
    }
}
