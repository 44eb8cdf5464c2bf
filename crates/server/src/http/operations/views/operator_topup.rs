//! Views of top-ups for staff, and of money in suspense.

use cuepoint_domain::money::Currency;
use cuepoint_domain::topup;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::money::Number;
use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;
use crate::http::wire::view::view;

view! {
    /// A top-up, as staff see it.
    pub struct OperatorTopupView as OperatorTopup of (topup: &topup::Topup, currency: &Currency) {
        /// Id of the top-up.
        #[id(example = 3)]
        id: i64 = topup.id.get(),
        /// Reference at the payment provider: a UUID, or the decimal id if an earlier version opened it.
        #[schema(example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
        reference: String = topup.reference().to_string(),
        /// Id of the credited account.
        #[id(example = 7)]
        user_id: i64 = topup.user.get(),
        /// Amount in major units.
        #[decimal(example = 50.00)]
        amount: Number = Number::money(currency, topup.amount.money()),
        /// Status.
        #[schema(value_type = names::TopupStatus)]
        status: &'static str = topup.status.name(),
        /// Payment page of the provider; null if there is none.
        payment_url: Option<String> = topup.payment_url.as_ref().map(|url| url.as_str().to_owned()),
        /// Time of creation.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(topup.created_at),
        /// Time of the last change of the status.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        updated_at: WireTimestamp = WireTimestamp(topup.updated_at),
    }
}

view! {
    /// Money that arrived for a top-up of an erased account.
    pub struct SuspenseView as Suspense of (
        topup: &topup::Topup,
        suspense: &topup::Suspense,
        currency: &Currency,
    ) {
        let settlement = suspense.settlement.as_ref();
        /// Id of the top-up, which identifies the money too.
        #[id(example = 3)]
        id: i64 = topup.id.get(),
        /// Reference of the top-up at the payment provider.
        #[schema(example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
        reference: String = topup.reference().to_string(),
        /// Id of the erased account that opened the top-up.
        #[id(example = 7)]
        user_id: i64 = topup.user.get(),
        /// Amount in major units.
        #[decimal(example = 50.00)]
        amount: Number = Number::money(currency, topup.amount.money()),
        /// Time of receipt.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        arrived_at: WireTimestamp = WireTimestamp(suspense.arrived_at),
        /// Time of the settlement; null while unsettled.
        #[timestamp_or_null(example = "2026-02-02T09:00:00.000000Z")]
        settled_at: Option<WireTimestamp> = settlement.map(|settlement| WireTimestamp(settlement.at)),
        /// Id of the operator who settled the money; null while unsettled.
        #[id(example = 2)]
        settled_by: Option<i64> = settlement.map(|settlement| settlement.by.get()),
        /// Reason of the settlement; null while unsettled.
        #[schema(example = "Sent back to the payer's card.")]
        reason: Option<String> = settlement.map(|settlement| settlement.reason.as_str().to_owned()),
    }
}

/// A top-up in the answer to its charge-back.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ChargedBackData {
    /// The top-up.
    pub topup: OperatorTopupView,
}

/// Money in suspense in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SuspenseData {
    /// The money.
    pub suspense: SuspenseView,
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{OperationId, TopupId, UserId};
    use cuepoint_domain::money::{Amount, Money};
    use cuepoint_domain::text::Line;
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::topup::{Charge, SuspenseSettlement, open};

    fn topup() -> topup::Topup {
        let amount = Amount::new(Money::from_minor(30)).unwrap();
        let (id, user) = (TopupId::new(3).unwrap(), UserId::new(8).unwrap());
        open(OperationId(1), id, user, amount, Charge::Confirmed, Timestamp::EPOCH).0
    }

    #[test]
    fn a_topup_has_exactly_these_keys_for_staff() {
        let view = OperatorTopupView::new(&topup(), &Currency::new("USD", 2).unwrap());
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            concat!(
                r#"{"id":3,"reference":"00000000-0000-0000-0000-000000000001","user_id":8,"amount":0.30,"#,
                r#""status":"confirmed","payment_url":null,"#,
                r#""created_at":"1970-01-01T00:00:00.000000Z","updated_at":"1970-01-01T00:00:00.000000Z"}"#
            )
        );
    }

    #[test]
    fn money_in_suspense_has_exactly_these_keys() {
        let at = Timestamp::EPOCH;
        let waits = topup::Suspense { operation: OperationId(2), arrived_at: at, settlement: None };
        let (by, reason) = (UserId::new(2).unwrap(), Line::new("sent back").unwrap());
        let settlement = SuspenseSettlement { operation: OperationId(3), at, by, reason };
        let settled = topup::Suspense { settlement: Some(settlement), ..waits.clone() };
        let moment = r#""1970-01-01T00:00:00.000000Z""#;
        for (suspense, rest) in [
            (waits, r#""settled_at":null,"settled_by":null,"reason":null"#.to_owned()),
            (settled, format!(r#""settled_at":{moment},"settled_by":2,"reason":"sent back""#)),
        ] {
            let view = SuspenseView::new(&topup(), &suspense, &Currency::new("USD", 2).unwrap());
            assert_eq!(
                serde_json::to_string(&view).unwrap(),
                format!(
                    concat!(
                        r#"{{"id":3,"reference":"00000000-0000-0000-0000-000000000001","user_id":8,"#,
                        r#""amount":0.30,"arrived_at":{},{}}}"#
                    ),
                    moment, rest
                )
            );
        }
    }
}
