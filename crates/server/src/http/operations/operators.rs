//! What operators do with the money of requests and wallets.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::ledger::{Outcome, Receipt};
use cuepoint_domain::ports::Applied;

use crate::app::App;
use crate::http::call::Call;
use crate::http::mapping::IntoApiError as _;
use crate::http::openapi::bodies::{NewAdjustment, Reason};
use crate::http::operations::views::{Adjusted, MusicRequest};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::values;

/// Gives the fee of a played request back to the guest; the DJ's share is taken back or owed.
#[utoipa::path(
    post,
    path = "/api/v1/operator/music/requests/{id}/refund",
    operation_id = "refundRequest",
    tag = "Operators",
    request_body = Reason,
    responses((
        status = 200,
        description = "The request is refunded and the guest has the whole fee.",
        body = Success<MusicRequest>,
    )),
)]
pub async fn refund(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let operators = &call.app.services.operators;
    let request = operators.request(&caller, call.id(RequestId::new)?).await?;
    let mut fields = call.fields();
    let reason = fields.required("reason", values::line);
    let reason = fields.complete(|| reason)?;
    Ok(operators.refund(&call.command(&caller), reason, request).await?)
}

/// Corrects what a person has available, up or down.
#[utoipa::path(
    post,
    path = "/api/v1/operator/adjustments",
    operation_id = "adjustBalance",
    tag = "Operators",
    request_body = NewAdjustment,
    responses((status = 201, description = "The balance is corrected.", body = Success<Adjusted>)),
)]
pub async fn adjust(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let mut fields = call.fields();
    let user = fields.required("user_id", values::user_id);
    let correction = fields.required("amount", values::correction(call.currency()));
    let reason = fields.required("reason", values::line);
    let (user, correction, reason) = fields.complete(|| Some((user?, correction?, reason?)))?;
    let adjusted = call.app.services.operators.adjust(&call.command(&caller), reason, user, correction).await;
    adjusted.map_err(|error| error.into_api_error(call.currency()))
}

/// What an adjustment is shown as.
pub fn adjusted(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    match &receipt.outcome {
        Outcome::Adjustment(adjustment, balance) => {
            let view = Adjusted::new(adjustment, *balance, receipt.at, &app.settings.currency);
            Answer::created("Balance adjusted.", view)
        }
        Outcome::Request(_)
        | Outcome::Withdrawal(..)
        | Outcome::Topup(_)
        | Outcome::Profile(..)
        | Outcome::Message(_) => Err(ApiError::internal("an adjustment came to something else")),
    }
}
