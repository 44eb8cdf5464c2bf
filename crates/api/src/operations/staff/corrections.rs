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
    /// For operators. The guest gets the whole fee back immediately, and the platform returns its commission. The
    /// DJ's share is taken from the available balance of the DJ. The platform advances a shortfall, which the DJ
    /// then owes. The refund makes two entries: `refund` for the guest and `refund_taken` for the DJ. Returns 403
    /// `own_account` to an operator who is the guest or the DJ of the request.
    POST "/api/v1/operator/music/requests/{id}/refund" "refundMusicRequest" {
        tag: OperatorMoney,
        run: command(refund),
        answers: ok::<MusicRequestView<'_>>("The refunded request.")
            .showing(&[("status", "refunded")]),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::InvalidTransition, Code::LimitExceeded],
    }

    /// Adjust a balance
    ///
    /// For operators. Adds to the available balance of another user, or subtracts from it. The user sees the
    /// adjustment and its reason among their events. For 30 days, the operator cannot approve, reject or fail
    /// withdrawals of this user.
    ///
    /// - 403 `own_account`: the wallet is the operator's own.
    /// - 422 `insufficient_funds`: less than the amount of a debit is available.
    /// - 422 `limit_exceeded`: the absolute amount is above `adjustments.max_amount` (not set: no limit).
    POST "/api/v1/operator/adjustments" "createAdjustment" {
        tag: OperatorMoney,
        run: command(adjust),
        answers: created::<AdjustmentData>("The adjustment and the balance after it."),
        body: object::<AdjustmentBody>(),
        fails: &[Code::OwnAccount, Code::LimitExceeded, Code::InsufficientFunds],
    }
}

body! {
    /// A change of a balance.
    pub struct AdjustmentBody as "NewAdjustment", example: {
        "user_id": 8, "amount": -2.50, "reason": "A song was charged twice."
    } {
        /// Id of the user.
        user_id: UserId = required(kinds::USER_ID),
        /// Amount in major units: positive to add, negative to subtract, not 0.
        amount: Correction = required(kinds::CORRECTION),
        /// Reason. It is stored with the operator and the time, and the user can read it.
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
    fn the_json_of_an_adjustment_is_stable() {
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
