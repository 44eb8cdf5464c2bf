//! Views of top-ups for clients.

use cuepoint_domain::money::Currency;
use cuepoint_domain::topup;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::money::Number;
use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;

/// A top-up.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Topup)]
pub struct TopupView {
    /// Id of the top-up.
    #[schema(minimum = 1, example = 3)]
    id: i64,
    /// Reference at the payment provider: a UUID, or the decimal id if an earlier version opened it.
    #[schema(example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
    reference: String,
    /// Amount in major units.
    #[schema(value_type = f64, format = "decimal", example = 50.00)]
    amount: Number,
    /// Status: `pending` until the provider confirms the payment.
    #[schema(value_type = names::TopupStatus)]
    status: &'static str,
    /// Payment page of the provider; null until the provider has named one.
    #[schema(max_length = 2048)]
    payment_url: Option<String>,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
    /// Time of the last change of the status.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    updated_at: WireTimestamp,
}

/// A top-up in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TopupData {
    /// The top-up.
    pub topup: TopupView,
}

impl TopupView {
    /// The current state of the top-up.
    #[must_use]
    pub fn new(topup: &topup::Topup, currency: &Currency) -> Self {
        Self {
            id: topup.id.get(),
            reference: topup.reference().to_string(),
            amount: Number::money(currency, topup.amount.money()),
            status: topup.status.name(),
            payment_url: topup.payment_url.as_ref().map(|url| url.as_str().to_owned()),
            created_at: WireTimestamp(topup.created_at),
            updated_at: WireTimestamp(topup.updated_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{OperationId, TopupId, UserId};
    use cuepoint_domain::money::{Amount, Money};
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::topup::{Charge, open};

    #[test]
    fn a_top_up_has_exactly_these_keys() {
        let amount = Amount::new(Money::from_minor(30)).unwrap();
        let (id, user) = (TopupId::new(3).unwrap(), UserId::new(8).unwrap());
        let (topup, _) = open(OperationId(1), id, user, amount, Charge::Confirmed, Timestamp::EPOCH);
        let view = TopupView::new(&topup, &Currency::new("USD", 2).unwrap());
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
