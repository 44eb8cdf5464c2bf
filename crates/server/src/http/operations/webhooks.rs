//! Messages of providers, signed as Standard Webhooks says.
//!
//! A message is acknowledged whether it changes anything or not, so that nobody sends it again for nothing: when it came
//! before, when something later is known, and when its type is none of ours. One that contradicts the ledger changes
//! nothing, and is kept for operators; one about an unknown reference is kept as well, and answered 404.

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Recorded;
use cuepoint_domain::provider_message::{Contradiction, Excerpt, MessageSource, Presented, WebhookId};
use cuepoint_domain::provider_reference::MessageSubject;
use cuepoint_domain::service::{Contradicted, IncomingMessage, MessageOutcome, TellError};
use cuepoint_domain::text::Line;
use cuepoint_domain::topup::{Payment, TopupWord};
use cuepoint_domain::withdrawal::PayoutWord;

use crate::adapters::webhooks::kept_reason;
use crate::http::call::Call;
use crate::http::openapi::bodies::{PayoutEvent, TopupEvent};
use crate::http::wire::envelope::Answer;
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::fields::Fields;
use crate::http::wire::json::Object;
use crate::http::wire::values;
use crate::observability::metrics::{self, Outcome};

/// Receives a message about a top-up.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/topups",
    operation_id = "hearOfTopup",
    tag = "Providers",
    request_body = TopupEvent,
    responses((status = 204, description = "Received, now or before.")),
)]
pub async fn topups(call: Call) -> Result<Answer, ApiError> {
    let (kind, data) = event(&call)?;
    let mut fields = Fields::of(&data);
    let word = match kind.as_str() {
        "topup.confirmed" => Some(TopupWord::Confirmed(payment(&mut fields, call.currency()))),
        "topup.failed" => Some(TopupWord::Failed),
        "topup.reversed" => reversal(&mut fields, call.currency()),
        other => return Ok(of_unknown_type(other)),
    };
    let message = incoming(&call, &kind, &data, fields)?;
    let word = word.ok_or_else(|| ApiError::internal("a word is missing, and nothing was said of it"))?;
    let outcome = call.app.services.inbox.topup(&message, word).await;
    acknowledged(MessageSource::Topups, &message, outcome)
}

/// Receives a message about a payout.
#[utoipa::path(
    post,
    path = "/api/v1/webhooks/payouts",
    operation_id = "hearOfPayout",
    tag = "Providers",
    request_body = PayoutEvent,
    responses((status = 204, description = "Received, now or before.")),
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
        other => return Ok(of_unknown_type(other)),
    };
    let message = incoming(&call, &kind, &data, fields)?;
    let word = word.ok_or_else(|| ApiError::internal("a word is missing, and nothing was said of it"))?;
    let outcome = call.app.services.inbox.payout(&message, &word, reason(&data)).await;
    acknowledged(MessageSource::Payouts, &message, outcome)
}

/// The type of the message, and what it is about.
fn event(call: &Call) -> Result<(String, Object), ApiError> {
    let mut fields = call.fields();
    let kind = fields.required("type", values::presented);
    let data = fields.required("data", values::object);
    fields.complete(|| kind.zip(data))
}

/// What a confirmation says was paid.
fn payment(fields: &mut Fields<'_>, currency: &Currency) -> Payment {
    Payment {
        amount: fields.optional("amount", values::paid_amount(currency)),
        currency: fields.optional("currency", values::paid_currency(currency)),
    }
}

/// What a reversal says was taken back.
fn reversal(fields: &mut Fields<'_>, currency: &Currency) -> Option<TopupWord> {
    let amount = fields.required("amount", values::paid_amount(currency));
    let currency = fields.optional("currency", values::paid_currency(currency));
    amount.map(|amount| TopupWord::Reversed { amount, currency })
}

/// The reason of a refusal. The refusal counts without it, so that anything but a text is left out.
fn reason(data: &Object) -> Option<Line> {
    let raw = data.get("reason").filter(|raw| raw.get() != "null")?;
    match serde_json::from_str::<String>(raw.get()) {
        Ok(text) => kept_reason(&text),
        Err(_) => {
            tracing::warn!("the reason in a payout provider's message is no text and is not kept");
            None
        }
    }
}

/// The message, once every field but those of its subject was read.
fn incoming(call: &Call, kind: &str, data: &Object, fields: Fields<'_>) -> Result<IncomingMessage, ApiError> {
    let id = call.signature()?.id;
    Ok(IncomingMessage {
        subject: subject(fields)?,
        webhook_id: WebhookId::new(id).ok_or(Code::BadRequest)?,
        kind: Excerpt::of(kind),
        presented: Presented {
            amount: excerpt(data, "amount"),
            currency: excerpt(data, "currency"),
            txid: excerpt(data, "txid"),
        },
    })
}

/// The beginning of a value: of its text, or of its JSON where it is no text.
fn excerpt<const MOST: usize>(data: &Object, field: &str) -> Option<Excerpt<MOST>> {
    let json = data.get(field).map(|raw| raw.get()).filter(|json| *json != "null")?;
    let text = serde_json::from_str::<String>(json);
    Some(Excerpt::of(text.as_deref().unwrap_or(json)))
}

/// What the message is about.
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

fn of_unknown_type(kind: &str) -> Answer {
    tracing::info!(kind = Excerpt::<64>::of(kind).as_str(), "a provider's message of an unknown type");
    Answer::no_content()
}

/// The answer to a message, which the log and the measurements tell of.
fn acknowledged(
    source: MessageSource,
    message: &IncomingMessage,
    outcome: Result<MessageOutcome, TellError>,
) -> Result<Answer, ApiError> {
    let (source_name, kind) = (source.name(), message.kind.as_str());
    match outcome.inspect_err(|error| log_refusal(source, message, error))? {
        MessageOutcome::Moved { row, status } => {
            tracing::info!(source = source_name, kind, row, status, "a provider's message was carried out");
        }
        MessageOutcome::Known => {}
        MessageOutcome::Suspended { row } => tracing::warn!(
            source = source_name,
            kind,
            row,
            "money came for a top-up whose owner was erased; it waits in suspense for an operator"
        ),
        MessageOutcome::ForOperator { row } => tracing::warn!(
            source = source_name,
            kind,
            row,
            "a provider's message is about a payout that an operator has to review"
        ),
        MessageOutcome::Contradiction(contradicted) => {
            report(source, message, &contradicted);
            if contradicted.contradiction == Contradiction::UnknownReference {
                return Err(Code::NotFound.into());
            }
        }
    }
    Ok(Answer::no_content())
}

/// An id alone may belong to an earlier row, so the ledger may lack the payment that the message reports.
fn log_refusal(source: MessageSource, message: &IncomingMessage, error: &TellError) {
    if let TellError::ReferenceRequired = error {
        let (source, kind) = (source.name(), message.kind.as_str());
        let id = message.subject.stated_id();
        tracing::warn!(source, kind, id, "a provider's message has an id alone and is refused");
    }
}

/// Logs and counts a message that contradicts the ledger.
fn report(source: MessageSource, message: &IncomingMessage, contradicted: &Contradicted) {
    let Contradicted { contradiction, row, status, recorded } = *contradicted;
    let outcome = Outcome::of(recorded);
    metrics::provider_contradiction(source, contradiction, outcome);
    /// Logs the message at a level.
    macro_rules! log {
        ($level:ident, $text:literal) => {{
            let Presented { amount, currency, txid } = &message.presented;
            tracing::$level!(
                source = source.name(),
                reason = contradiction.name(),
                kind = message.kind.as_str(),
                reference = %message.subject.key(),
                stated_id = message.subject.stated_id(),
                row,
                status,
                amount = amount.as_ref().map(Excerpt::as_str),
                currency = currency.as_ref().map(Excerpt::as_str),
                txid = txid.as_ref().map(Excerpt::as_str),
                webhook_id = message.webhook_id.as_str(),
                $text
            )
        }};
    }
    match recorded {
        Recorded::Added => {
            log!(error, "a provider's message contradicts the ledger and is kept for an operator")
        }
        Recorded::Known => log!(warn, "a provider's message that contradicts the ledger came again"),
        Recorded::NotKept => {
            log!(
                error,
                "a provider's message contradicts the ledger and is not kept: too many are unresolved"
            );
        }
    }
}
