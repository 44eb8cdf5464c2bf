//! Views of adjustments for operators.

use cuepoint_domain::ledger::Balance;
use cuepoint_domain::ledger::adjustment;
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;

use crate::http::wire::money::Number;
use crate::http::wire::time::WireTimestamp;
use crate::http::wire::view::view;

view! {
    /// An adjustment of a balance.
    pub struct AdjustmentView as Adjustment of (
        adjustment: &adjustment::Adjustment,
        at: Timestamp,
        currency: &Currency,
    ) {
        /// Id of the adjustment, referenced by ledger entries.
        #[id(example = 4)]
        id: i64 = adjustment.id.get(),
        /// Id of the account.
        #[id(example = 8)]
        user_id: i64 = adjustment.user.get(),
        /// Change of the available balance, in major units: negative for a debit.
        #[decimal(example = -2.50)]
        amount: Number = Number::money(currency, adjustment.correction.sum()),
        /// Reason.
        #[schema(example = "A song was charged twice.")]
        reason: String = adjustment.reason.as_str().to_owned(),
        /// Time of the adjustment.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(at),
    }
}

view! {
    /// An adjustment and the balance after it.
    pub struct AdjustedView as Adjusted of (
        adjustment: &adjustment::Adjustment,
        balance: Balance,
        at: Timestamp,
        currency: &Currency,
    ) {
        /// The adjustment.
        adjustment: AdjustmentView = AdjustmentView::new(adjustment, at, currency),
        /// Available balance after the adjustment, in major units.
        #[decimal(example = 37.50)]
        new_balance: Number = Number::money(currency, balance.available),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{AdjustmentId, UserId};
    use cuepoint_domain::ledger::adjustment::Correction;
    use cuepoint_domain::money::Money;
    use cuepoint_domain::text::Line;

    #[test]
    fn an_adjustment_has_exactly_these_keys() {
        let adjustment = adjustment::Adjustment {
            id: AdjustmentId::new(4).unwrap(),
            user: UserId::new(8).unwrap(),
            correction: Correction::signed(Money::from_minor(-250)).unwrap(),
            reason: Line::new("Charged twice").unwrap(),
        };
        let balance = Balance { available: Money::from_minor(3_750), ..Balance::default() };
        let usd = Currency::new("USD", 2).unwrap();
        let view = AdjustedView::new(&adjustment, balance, Timestamp::EPOCH, &usd);
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            concat!(
                r#"{"adjustment":{"id":4,"user_id":8,"amount":-2.50,"reason":"Charged twice","#,
                r#""created_at":"1970-01-01T00:00:00.000000Z"},"new_balance":37.50}"#
            )
        );
    }
}
