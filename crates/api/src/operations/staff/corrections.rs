//! Corrections by operators: refunds of played requests, and adjustments of balances.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::{Adjust, Adjusted, NewAdjustment, RefundRequest};
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::ledger::adjustment::{self, Correction};
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;

use crate::command_call::CommandCall;
use crate::declaration::{created, json, object, ok, operations};
use crate::endpoint::command;
use crate::operations::members::requests::updated;
use crate::operations::staff::reason::{ReasonBody, reason};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use cuepoint_views::adjustment::AdjustmentView;
use cuepoint_views::request::MusicRequestView;
use cuepoint_views::view;
use cuepoint_views::wire::money::Number;

operations! {
    /// Refund a played request
    ///
    /// The guest gets the whole fee back. The DJ's share is taken from the DJ's available balance; the
    /// shortfall is owed and is paid first from later income.
    POST "/api/v1/operator/music/requests/{id}/refund" "refundMusicRequest" {
        tag: OperatorMoney,
        run: command(refund),
        answers: ok::<MusicRequestView<'_>>("The refunded request."),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::InvalidTransition, Code::LimitExceeded],
    }

    /// Adjust a balance
    ///
    /// Adds to the available balance of another account, or subtracts from it.
    POST "/api/v1/operator/adjustments" "createAdjustment" {
        tag: OperatorMoney,
        run: command(adjust),
        answers: created::<AdjustmentData>("The adjustment and the balance after it."),
        body: object::<AdjustmentBody>(),
        fails: &[Code::OwnAccount, Code::LimitExceeded, Code::InsufficientFunds],
    }
}

body! {
    /// An adjustment of a balance.
    pub struct AdjustmentBody as "NewAdjustment", example: {
        "user_id": 8, "amount": -2.50, "reason": "A song was charged twice."
    } {
        /// Id of the account.
        user_id: UserId = required(kinds::USER_ID),
        /// Amount in major units: positive to add, negative to subtract; not 0, and with no more decimals
        /// than the currency has.
        amount: Correction = required(kinds::CORRECTION),
        /// Reason, stored with the operator and the time.
        reason: Line = required(kinds::LINE),
    }
}

view! {
    /// An adjustment and the balance after it.
    pub struct AdjustmentData as AdjustmentData of (
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

async fn refund(call: CommandCall<RefundRequest>) -> Result<Done<ApiResponse>, ApiError> {
    let command = RefundRequest { id: call.id(RequestId::new)? };
    updated(&call, call.run(command, || reason(&call)).await?)
}

async fn adjust(call: CommandCall<Adjust>) -> Result<Done<ApiResponse>, ApiError> {
    let read_input = || {
        let AdjustmentBody { user_id, amount, reason } = call.body()?;
        Ok(NewAdjustment { user: user_id, correction: amount, reason })
    };
    call.run(Adjust, read_input).await?.try_map(|Adjusted { adjustment, balance, at }| {
        let view = AdjustmentData::new(&adjustment, balance, at, call.currency());
        ApiResponse::new("Balance adjusted.", view)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{AdjustmentId, UserId};
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
        let view = AdjustmentData::new(&adjustment, balance, Timestamp::EPOCH, &usd);
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            concat!(
                r#"{"adjustment":{"id":4,"user_id":8,"amount":-2.50,"reason":"Charged twice","#,
                r#""created_at":"1970-01-01T00:00:00.000000Z"},"new_balance":37.50}"#
            )
        );
    }
}
