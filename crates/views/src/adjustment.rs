//! Views of adjustments for operators.

use cuepoint_domain::ledger::adjustment;
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;

use crate::view;
use crate::wire::money::Number;
use crate::wire::time::WireTimestamp;

view! {
    /// A change of a balance by an operator.
    pub struct AdjustmentView as Adjustment of (
        adjustment: &adjustment::Adjustment,
        at: Timestamp,
        currency: &Currency,
    ) {
        /// Id of the adjustment. The entry in the wallet refers to it.
        #[id(example = 4)]
        id: i64 = adjustment.id.get(),
        /// Id of the user.
        #[id(example = 8)]
        user_id: i64 = adjustment.user.get(),
        /// Change of the available balance, in major units. A debit is negative.
        #[decimal(example = -2.50)]
        amount: Number = Number::money(currency, adjustment.correction.sum()),
        /// Reason that the operator gave. The user can read it.
        #[schema(example = "A song was charged twice.")]
        reason: String = adjustment.reason.as_str().to_owned(),
        /// Time of the adjustment.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(at),
    }
}
