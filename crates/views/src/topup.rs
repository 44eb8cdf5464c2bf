//! Views of top-ups for clients.

use cuepoint_domain::money::Currency;
use cuepoint_domain::topup;

use crate::view;
use crate::wire::money::Number;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// A payment into a wallet.
    pub struct TopupView as Topup of (topup: &topup::Topup, currency: &Currency) {
        /// Id of the top-up.
        #[id(example = 3)]
        id: i64 = topup.id.get(),
        /// Reference at the payment provider: a UUID that never changes and never repeats.
        #[schema(example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
        reference: String = topup.reference().to_string(),
        /// Amount in major units of the wallet's currency.
        #[decimal(example = 50.00)]
        amount: Number = Number::money(currency, topup.amount.money()),
        /// Status. A `pending` top-up waits for the message of the payment provider.
        #[schema(value_type = names::TopupStatus)]
        status: &'static str = topup.status.name(),
        /// Payment page at the provider, to open for the user; null until the provider names one.
        #[schema(max_length = 2048, example = "https://pay.example.com/checkout/019aa6e0")]
        payment_url: Option<String> = topup.payment_url.as_ref().map(|url| url.as_str().to_owned()),
        /// Time of creation.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(topup.created_at),
        /// Time of the last change of the status.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        updated_at: WireTimestamp = WireTimestamp(topup.updated_at),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use cuepoint_domain::ids::{OperationId, TopupId, UserId};
    use cuepoint_domain::money::{Amount, Money};
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::topup::{Charge, open};

    pub(crate) fn topup() -> topup::Topup {
        let amount = Amount::new(Money::from_minor(30)).unwrap();
        let (id, user) = (TopupId::new(3).unwrap(), UserId::new(8).unwrap());
        open(OperationId(1), id, user, amount, Charge::Confirmed, Timestamp::EPOCH).0
    }

    #[test]
    fn the_json_of_a_topup_is_stable() {
        let view = TopupView::new(&topup(), &Currency::new("USD", 2).unwrap());
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            concat!(
                r#"{"id":3,"reference":"00000000-0000-0000-0000-000000000001","amount":0.30,"#,
                r#""status":"confirmed","payment_url":null,"#,
                r#""created_at":"1970-01-01T00:00:00.000000Z","updated_at":"1970-01-01T00:00:00.000000Z"}"#
            )
        );
    }
}
