//! What providers say by themselves, signed as Standard Webhooks says.
//!
//! A message is acknowledged whether it changes anything or not, so that nobody sends it again for nothing: when it came
//! before, when something later is known, and when its type is none of ours. What contradicts the ledger changes
//! nothing, and the log says so.

use cuepoint_domain::ids::{TopupId, WithdrawalId};
use cuepoint_domain::service::{Told, TopupTold};
use cuepoint_domain::withdrawal::PayoutWord;

use crate::http::call::Call;
use crate::http::envelope::Answer;
use crate::http::error::{ApiError, Code};
use crate::http::fields::Fields;
use crate::http::json::Object;
use crate::http::openapi::bodies::{PayoutEvent, TopupEvent};
use crate::http::values;

/// Hears whether the money of a top-up came.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/topups",
    operation_id = "hearOfTopup",
    tag = "Providers",
    request_body = TopupEvent,
    responses((status = 204, description = "Heard, now or before.")),
)]
pub async fn topups(call: Call) -> Result<Answer, ApiError> {
    let (kind, data) = event(&call)?;
    let confirmed = match kind.as_str() {
        "topup.confirmed" => true,
        "topup.failed" => false,
        other => return unknown(other),
    };
    let id = TopupId::new(number(Fields::of(&data))?).ok_or(Code::NotFound)?;
    match call.app.services.wallet.topup_told(id, confirmed).await? {
        TopupTold::Settled => tracing::info!(topup = %id, kind, "the provider settled a top-up"),
        TopupTold::Known => {}
        TopupTold::Contradiction(status) => {
            tracing::error!(topup = %id, kind, status = status.name(), "the provider contradicts itself");
        }
    }
    Ok(Answer::no_content())
}

/// Hears what became of a payout.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/payouts",
    operation_id = "hearOfPayout",
    tag = "Providers",
    request_body = PayoutEvent,
    responses((status = 204, description = "Heard, now or before.")),
)]
pub async fn payouts(call: Call) -> Result<Answer, ApiError> {
    let (kind, data) = event(&call)?;
    let mut fields = Fields::of(&data);
    let word = match kind.as_str() {
        "payout.broadcast" => {
            fields.required("txid", values::line).map(|txid| PayoutWord::Broadcast { txid })
        }
        "payout.completed" => {
            fields.required("txid", values::line).map(|txid| PayoutWord::Completed { txid })
        }
        "payout.failed" => Some(PayoutWord::Refused),
        other => return unknown(other),
    };
    // A reason that cannot be kept is no reason not to hear the rest.
    let reason = data.get("reason").and_then(|raw| values::line("reason", raw).ok());
    let id = WithdrawalId::new(number(fields)?).ok_or(Code::NotFound)?;
    let word = word.ok_or_else(|| ApiError::internal("a word is missing, and nothing was said of it"))?;
    match call.app.services.payouts.told(id, &word, reason).await? {
        Told::Moved(status) => {
            tracing::info!(withdrawal = %id, kind, status = status.name(), "the provider moved a payout");
        }
        Told::Known => {}
        Told::ForOperator => {
            tracing::warn!(withdrawal = %id, kind, "the provider speaks of a payout that an operator has to review");
        }
        Told::Contradiction(status) => {
            tracing::error!(withdrawal = %id, kind, status = status.name(), "the provider contradicts the ledger");
        }
    }
    Ok(Answer::no_content())
}

/// The type of the message, and what it is about.
fn event(call: &Call) -> Result<(String, Object), ApiError> {
    let mut fields = call.fields();
    let kind = fields.required("type", values::presented);
    let data = fields.required("data", values::object);
    fields.complete(|| kind.zip(data))
}

/// The id, once every other field of the message was read.
fn number(mut fields: Fields<'_>) -> Result<i64, ApiError> {
    let id = fields.required("id", values::integer);
    fields.complete(|| id)
}

fn unknown(kind: &str) -> Result<Answer, ApiError> {
    tracing::info!(kind, "a provider's message of an unknown type");
    Ok(Answer::no_content())
}
