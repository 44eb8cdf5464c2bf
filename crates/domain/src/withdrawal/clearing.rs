//! Clearing: recent income cannot be withdrawn, because a charge-back may follow.

use time::Duration;

use crate::ledger::{Entry, EntryKind};
use crate::money::Money;
use crate::timestamp::Timestamp;

/// Money that a top-up or a guest's payment brought into a wallet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Income {
    /// The time of the entry.
    pub at: Timestamp,
    /// The whole amount, also the part that paid a debt.
    pub amount: Money,
}

impl Income {
    /// The kinds of its entries.
    pub const KINDS: [EntryKind; 2] = [EntryKind::Topup, EntryKind::Earning];

    /// The income of an entry; `None` if the entry is of another kind.
    #[must_use]
    pub fn of(entry: &Entry) -> Option<Self> {
        let is_income = Self::KINDS.contains(&entry.kind);
        is_income.then(|| Self::credited(entry.at, entry.change.available, entry.change.owed)).flatten()
    }

    /// The income that changed the available and the owed balance by these amounts; `None` if it is too large.
    #[must_use]
    pub fn credited(at: Timestamp, available: Money, owed: Money) -> Option<Self> {
        available.checked_sub(owed).map(|amount| Self { at, amount })
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
    /// The clearing part of an available balance at `now`, if income clears after `time`. Income that was charged back,
    /// was spent or paid a debt counts too, because the remaining money may come from other recent income.
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
    use crate::entity_ref::EntityRef;
    use crate::ids::{OperationId, TopupId, UserId};
    use crate::ledger::{Balance, ChainHash};

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
    fn only_topups_and_earnings_are_income_also_if_they_pay_a_debt() {
        let change =
            Balance { available: Money::from_minor(2), owed: Money::from_minor(-3), ..Balance::default() };
        for kind in EntryKind::all() {
            let entry = Entry {
                wallet: UserId::new(1).unwrap(),
                seq: 1,
                operation: OperationId(1),
                kind,
                reference: EntityRef::Topup(TopupId::new(1).unwrap()),
                change,
                after: Balance::default(),
                at: at(1),
                previous: ChainHash::START,
                hash: ChainHash::START,
            };
            let expected = Income { at: at(1), amount: Money::from_minor(5) };
            let is_income = matches!(kind, EntryKind::Topup | EntryKind::Earning);
            assert_eq!(Income::of(&entry), is_income.then_some(expected), "{kind:?}");
        }
    }
}
