//! Limits per withdrawal, per day and per thirty days.

use time::Duration;

use crate::money::{Amount, Money};
use crate::timestamp::Timestamp;
use crate::withdrawal::Withdrawal;

/// The current limits; `None` means no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WithdrawalLimits {
    /// The maximum of one withdrawal.
    pub max_amount: Option<Amount>,
    /// The maximum of all withdrawals within 24 hours.
    pub max_per_24h: Option<Amount>,
    /// The maximum of all withdrawals within 30 days.
    pub max_per_30d: Option<Amount>,
}

/// A rolling window with its limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    pub length: Duration,
    /// The maximum sum of withdrawals within it.
    pub most: Amount,
}

/// A limit that a withdrawal would exceed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The limit of one withdrawal.
    Single(Amount),
    Rolling(Window),
    /// The part of the balance that is not clearing.
    Cleared(Money),
}

impl WithdrawalLimits {
    /// The current rolling windows.
    #[must_use]
    pub fn windows(&self) -> Vec<Window> {
        let day = self.max_per_24h.map(|most| Window { length: Duration::hours(24), most });
        let month = self.max_per_30d.map(|most| Window { length: Duration::days(30), most });
        day.into_iter().chain(month).collect()
    }
}

impl Window {
    /// Whether another withdrawal of `amount` at `now` stays within the window's limit.
    ///
    /// Cancelled, rejected and failed withdrawals do not count, and neither does one made exactly at the
    /// window's far end.
    #[must_use]
    pub fn admits<'a>(
        &self,
        amount: Amount,
        now: Timestamp,
        earlier: impl IntoIterator<Item = &'a Withdrawal>,
    ) -> bool {
        let since = now.minus(self.length);
        earlier
            .into_iter()
            .filter(|one| one.created_at > since && one.state.status().counts_towards_limits())
            .try_fold(amount.money(), |sum: Money, one| sum.checked_add(one.amount.money()))
            .is_some_and(|sum| sum <= self.most.money())
    }
}
