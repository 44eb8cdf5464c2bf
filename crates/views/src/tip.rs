//! Views of tips for clients.

use cuepoint_domain::money::Currency;
use cuepoint_domain::tip;

use crate::view;
use crate::wire::money::Number;
use crate::wire::time::WireTimestamp;

view! {
    /// A tip of a guest to a DJ.
    pub struct TipView as Tip of (tip: &tip::Tip, currency: &Currency) {
        /// Id of the tip. The entries in both wallets refer to it.
        #[id(example = 6)]
        id: i64 = tip.id.get(),
        /// Id of the DJ.
        #[id(example = 7)]
        dj_id: i64 = tip.dj.get(),
        /// Id of the gig.
        #[id(example = 5)]
        gig_id: i64 = tip.gig.get(),
        /// Amount in major units, before the commission.
        #[decimal(example = 5.00)]
        amount: Number = Number::money(currency, tip.amount.money()),
        /// Time of the tip.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(tip.created_at),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use cuepoint_domain::ids::{GigId, TipId, UserId};
    use cuepoint_domain::money::{Amount, Money};
    use cuepoint_domain::timestamp::Timestamp;

    pub(crate) fn tip() -> tip::Tip {
        tip::Tip {
            id: TipId::new(6).unwrap(),
            guest: UserId::new(8).unwrap(),
            dj: UserId::new(7).unwrap(),
            gig: GigId::new(5).unwrap(),
            amount: Amount::new(Money::from_minor(500)).unwrap(),
            commission: Money::from_minor(50),
            created_at: Timestamp::EPOCH,
        }
    }

    #[test]
    fn the_json_of_a_tip_is_stable_and_names_no_guest() {
        let view = TipView::new(&tip(), &Currency::new("USD", 2).unwrap());
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            r#"{"id":6,"dj_id":7,"gig_id":5,"amount":5.00,"created_at":"1970-01-01T00:00:00.000000Z"}"#
        );
    }
}
