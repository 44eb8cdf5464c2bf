//! Views of tips for staff.

use cuepoint_domain::money::Currency;
use cuepoint_domain::tip;

use crate::view;
use crate::wire::money::Number;
use crate::wire::time::WireTimestamp;

view! {
    /// A tip, as staff see it.
    pub struct OperatorTipView as OperatorTip of (tip: &tip::Tip, currency: &Currency) {
        /// Id of the tip. The entries in both wallets refer to it.
        #[id(example = 6)]
        id: i64 = tip.id.get(),
        /// Id of the guest who gave it.
        #[id(example = 8)]
        guest_id: i64 = tip.guest.get(),
        /// Id of the DJ.
        #[id(example = 7)]
        dj_id: i64 = tip.dj.get(),
        /// Id of the gig.
        #[id(example = 5)]
        gig_id: i64 = tip.gig.get(),
        /// Amount in major units, before the commission.
        #[decimal(example = 5.00)]
        amount: Number = Number::money(currency, tip.amount.money()),
        /// The platform's part of the amount, in major units.
        #[decimal(example = 0.50)]
        commission: Number = Number::money(currency, tip.commission),
        /// Time of the tip.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(tip.created_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tip::tests::tip;

    #[test]
    fn the_json_of_a_tip_for_staff_names_the_guest_and_the_commission() {
        let view = OperatorTipView::new(&tip(), &Currency::new("USD", 2).unwrap());
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            concat!(
                r#"{"id":6,"guest_id":8,"dj_id":7,"gig_id":5,"amount":5.00,"commission":0.50,"#,
                r#""created_at":"1970-01-01T00:00:00.000000Z"}"#
            )
        );
    }
}
