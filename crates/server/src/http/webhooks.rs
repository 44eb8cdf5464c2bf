//! What providers say by themselves, signed as Standard Webhooks says.
//!
//! A message is acknowledged whether it changes anything or not, so that nobody sends it again for nothing: when it came
//! before, when something later is known, and when its type is none of ours. What contradicts the ledger changes
//! nothing, and the log says so.

use cuepoint_domain::provider_reference::MessageSubject;
use cuepoint_domain::service::{Identified, Told, TopupTold};
use cuepoint_domain::withdrawal::PayoutWord;

use crate::http::call::Call;
use crate::http::envelope::Answer;
use crate::http::error::ApiError;
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
    let subject = subject(Fields::of(&data))?;
    let wallet = &call.app.services.wallet;
    let Identified::As(id) = wallet.topup_named(subject).await? else { return Ok(contradiction(subject)) };
    match wallet.topup_told(id, confirmed).await? {
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
    let subject = subject(fields)?;
    let word = word.ok_or_else(|| ApiError::internal("a word is missing, and nothing was said of it"))?;
    let payouts = &call.app.services.payouts;
    let Identified::As(id) = payouts.named(subject).await? else { return Ok(contradiction(subject)) };
    match payouts.told(id, &word, reason).await? {
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

/// What the message is about, once every other field was read.
fn subject(mut fields: Fields<'_>) -> Result<MessageSubject, ApiError> {
    let id = fields.optional("id", values::integer);
    let reference = match id {
        Some(_) => fields.optional("reference", values::provider_reference),
        None => fields.required("reference", values::provider_reference),
    };
    fields.complete(|| match (reference, id) {
        (Some(reference), id) => Some(MessageSubject::Reference { reference, id }),
        (None, id) => id.map(MessageSubject::Id),
    })
}

/// Acknowledges a message whose reference and id belong to different rows, after an error in the log.
fn contradiction(subject: MessageSubject) -> Answer {
    tracing::error!(%subject, "a provider's message has a reference and an id of different rows");
    Answer::no_content()
}

fn unknown(kind: &str) -> Result<Answer, ApiError> {
    tracing::info!(kind, "a provider's message of an unknown type");
    Ok(Answer::no_content())
}
