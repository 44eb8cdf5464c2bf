//! Views of adjustments for operators.

use cuepoint_domain::ledger::Balance;
use cuepoint_domain::ledger::adjustment;
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::money::Number;
use crate::http::wire::time::WireTimestamp;

/// An adjustment of a balance.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Adjustment)]
pub struct AdjustmentView {
    /// Id of the adjustment, referenced by ledger entries.
    #[schema(minimum = 1, example = 4)]
    id: i64,
    /// Id of the account.
    #[schema(minimum = 1, example = 8)]
    user_id: i64,
    /// Change of the available balance, in major units: negative for a debit.
    #[schema(value_type = f64, format = "decimal", example = -2.50)]
    amount: Number,
    /// Reason.
    #[schema(example = "A song was charged twice.")]
    reason: String,
    /// Time of the adjustment.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
}

/// An adjustment and the balance after it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Adjusted)]
pub struct AdjustedView {
    /// The adjustment.
    adjustment: AdjustmentView,
    /// Available balance after the adjustment, in major units.
    #[schema(value_type = f64, format = "decimal", example = 37.50)]
    new_balance: Number,
}

impl AdjustmentView {
    /// An adjustment that was made at this time.
    #[must_use]
    pub fn new(adjustment: &adjustment::Adjustment, at: Timestamp, currency: &Currency) -> Self {
        Self {
            id: adjustment.id.get(),
            user_id: adjustment.user.get(),
            amount: Number::money(currency, adjustment.correction.sum()),
            reason: adjustment.reason.as_str().to_owned(),
            created_at: WireTimestamp(at),
        }
    }
}

impl AdjustedView {
    /// The new adjustment with the resulting balance.
    #[must_use]
    pub fn new(
        adjustment: &adjustment::Adjustment,
        balance: Balance,
        at: Timestamp,
        currency: &Currency,
    ) -> Self {
        Self {
            adjustment: AdjustmentView::new(adjustment, at, currency),
            new_balance: Number::money(currency, balance.available),
        }
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
