//! Views of adjustments for operators.

use cuepoint_domain::ledger::adjustment;
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;

use crate::view;
use crate::wire::money::Number;
use crate::wire::time::WireTimestamp;

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
