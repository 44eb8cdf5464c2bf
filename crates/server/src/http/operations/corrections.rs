//! Corrections by operators: refunds of played requests, and adjustments of balances.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::{Adjust, Adjusted, NewAdjustment, RefundRequest};
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::ledger::adjustment::Correction;
use cuepoint_domain::text::Line;

use crate::http::command_call::CommandCall;
use crate::http::declaration::{created, json, object, ok, operations};
use crate::http::endpoint::command;
use crate::http::operations::reason::{ReasonBody, reason};
use crate::http::operations::requests::updated;
use crate::http::operations::views::{AdjustedView, MusicRequestView};
use crate::http::wire::body::body;
use crate::http::wire::envelope::ApiResponse;
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::kinds;

operations! {
    /// Refund a played request
    ///
    /// The guest gets the whole fee back. The DJ's share is taken from the DJ's available balance; the
    /// shortfall is owed and is paid first from later income.
    POST "/api/v1/operator/music/requests/{id}/refund" "refundRequest" {
        tag: Operators,
        run: command(refund),
        answers: ok::<MusicRequestView<'_>>("The refunded request."),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::InvalidTransition, Code::LimitExceeded],
    }

    /// Adjust a balance
    ///
    /// Adds to the available balance of another account, or subtracts from it.
    POST "/api/v1/operator/adjustments" "adjustBalance" {
        tag: Operators,
        run: command(adjust),
        answers: created::<AdjustedView>("The adjustment and the balance after it."),
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
        let view = AdjustedView::new(&adjustment, balance, at, call.currency());
        ApiResponse::new("Balance adjusted.", view)
    })
}
