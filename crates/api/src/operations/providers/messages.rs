//! Provider messages, signed as Standard Webhooks specifies.
//!
//! Every valid message is acknowledged, even if it changes nothing, so that providers stop resending it:
//! repeated and superseded messages, and messages of an unknown type. A message that contradicts the ledger
//! changes nothing and is stored for operators, and the answer says so. A message about an unknown reference is
//! stored as well, and returns 404.

use cuepoint_domain::application::{CommandError, IncomingMessage, MessageOutcome, ProviderMessageRefusal};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Recorded;
use cuepoint_domain::provider_message::{Contradiction, Excerpt, MessageSource, PresentedPayment, WebhookId};
use cuepoint_domain::provider_reference::MessageSubject;
use cuepoint_domain::text::Line;
use cuepoint_domain::topup::{Payment, TopupUpdate};
use cuepoint_domain::withdrawal::PayoutUpdate;

use crate::call::ApiCall;
use crate::declaration::{json, ok, operations};
use crate::endpoint::{Provider, signed};
use crate::wire::body::{body, described_fields};
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::fields::Fields;
use crate::wire::kinds;
use cuepoint_adapters::observability::provider_log;
use cuepoint_adapters::signed_messages::kept_reason;
use cuepoint_views::view;
use cuepoint_views::wire::json::Object;
use cuepoint_views::wire::names;

operations! {
    /// Receive a message about a top-up
    ///
    /// For the payment provider. A message of the type `topup.confirmed` pays the amount in, `topup.failed` ends a
    /// pending top-up, and `topup.reversed` takes a confirmed payment back. A message that does not contradict the
    /// ledger returns 204, no matter how often it arrives. Repeated messages, messages that arrive after a later
    /// one, and messages of other types change nothing.
    ///
    /// A message that contradicts the ledger changes nothing, and is stored for `listProviderMessages`. It returns
    /// 404 `not_found` for an unknown reference, and otherwise 200 with `outcome`. The provider must not take this
    /// 200 for a success. If the message cannot be stored, it returns 503 `unavailable`: send it again. One message
    /// is stored for each `webhook-id`. While 10 000 messages are unresolved, further ones are only logged.
    ///
    /// Money for a top-up of an erased user is kept in suspense (`listSuspense`). `topup.failed` and
    /// `topup.reversed` for such a top-up are contradictions, and so is `topup.confirmed` for a failed top-up of
    /// any other user.
    ///
    /// The signature uses one of `topups.webhook_secrets`. A missing header returns 401 `unauthenticated`. A
    /// signature that is wrong or older than five minutes returns 401 `invalid_signature`, and so does every
    /// signature if no secret is configured. The deprecated path `/api/v1/webhooks/topups` works in the same way.
    POST "/api/v1/providers/topups" "receiveTopupMessage" {
        tag: Providers,
        run: signed(Provider::Topups, topups),
        answers: ok::<MessageReceiptData>("The message contradicts the ledger and changes nothing.")
            .or_no_content("The message is received, now or before."),
        aliases: &["/api/v1/webhooks/topups"],
        body: json::<TopupMessageBody>(),
        fails: &[Code::NotFound, Code::Conflict],
    }

    /// Receive a message about a payout
    ///
    /// For the payout provider. `payout.broadcast` and `payout.completed` report the transaction of a withdrawal,
    /// and `payout.failed` that nothing was or will be sent. Answers and contradictions work as for
    /// `receiveTopupMessage`. A withdrawal in review waits for an operator, whatever the messages say. The
    /// signature uses one of `payouts.webhook_secrets`. The deprecated path `/api/v1/webhooks/payouts` works in the
    /// same way.
    POST "/api/v1/providers/payouts" "receivePayoutMessage" {
        tag: Providers,
        run: signed(Provider::Payouts, payouts),
        answers: ok::<MessageReceiptData>("The message contradicts the ledger and changes nothing.")
            .or_no_content("The message is received, now or before."),
        aliases: &["/api/v1/webhooks/payouts"],
        body: json::<PayoutMessageBody>(),
        fails: &[Code::NotFound, Code::Conflict],
    }
}

body! {
    /// A message of the payment provider.
    pub struct TopupMessageBody as "TopupMessage", example: {"type": "topup.confirmed", "data": {
        "reference": "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10", "id": 3, "amount": 25.00, "currency": "USD"
    }} {
        /// Type of the message. Messages of other types return 204 and change nothing.
        kind ["type"]: String = required(kinds::PRESENTED.described::<names::TopupMessageType>()),
        /// The top-up.
        data: Object = required(kinds::OBJECT.described::<TopupMessageData>()),
    }
}

described_fields! {
    /// The top-up of a message.
    pub struct TopupMessageData as "TopupMessageData" {
        /// Reference of the top-up, as in the payment request. A malformed one returns 422.
        reference = required(kinds::PROVIDER_REFERENCE),
        /// Id of the top-up. If it does not belong to the reference, the message is a contradiction.
        id = optional(kinds::STATED_ID),
        /// Amount that was paid or taken back, in major units. Required for `topup.confirmed` and `topup.reversed`. An
        /// amount other than the requested one is a contradiction.
        amount = optional(kinds::PAID_AMOUNT),
        /// Currency of the payment, in any letter case. Required for `topup.confirmed`, and compared for
        /// `topup.reversed` if present. A currency other than the wallet's is a contradiction.
        currency = optional(kinds::PAID_CURRENCY),
    }
}

body! {
    /// A message of the payout provider.
    pub struct PayoutMessageBody as "PayoutMessage", example: {"type": "payout.broadcast", "data": {
        "reference": "019aa6e0-7b42-7c55-8f0d-1a2b3c4d5e6f", "id": 5, "txid": "4a5e1e4b"
    }} {
        /// Type of the message. Messages of other types return 204 and change nothing. `payout.failed` releases the
        /// amount. If the payout order was sent more than once, the withdrawal becomes `needs_review` instead.
        kind ["type"]: String = required(kinds::PRESENTED.described::<names::PayoutMessageType>()),
        /// The withdrawal.
        data: Object = required(kinds::OBJECT.described::<PayoutMessageData>()),
    }
}

view! {
    /// What happened to a message that contradicts the ledger.
    pub struct MessageReceiptData as MessageReceiptData of (recorded: Recorded) {
        /// Outcome.
        #[schema(value_type = names::ProviderMessageOutcome, example = "stored_for_review")]
        outcome: &'static str = match recorded {
            Recorded::Added | Recorded::Known => names::STORED_FOR_REVIEW,
            Recorded::NotKept => names::LOGGED_FOR_REVIEW,
        },
    }
}

described_fields! {
    /// The withdrawal of a message.
    pub struct PayoutMessageData as "PayoutMessageData" {
        /// Reference of the withdrawal, as in the payout order. A malformed one returns 422.
        reference = required(kinds::PROVIDER_REFERENCE),
        /// Id of the withdrawal. If it does not belong to the reference, the message is a contradiction.
        id = optional(kinds::STATED_ID),
        /// Id of the transaction on the network; required for `payout.broadcast` and `payout.completed`. A transaction
        /// other than the known one is a contradiction.
        txid = optional(kinds::LINE),
        /// Reason of a failure, stored up to 255 bytes. A value that is not a string is ignored.
        reason = optional(kinds::ANY_TEXT),
    }
}

async fn topups(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let TopupMessageBody { kind, data } = call.body()?;
    let mut fields = Fields::of(&data);
    let update = match kind.as_str() {
        "topup.confirmed" => Some(TopupUpdate::Confirmed(payment(&mut fields, call.currency()))),
        "topup.failed" => Some(TopupUpdate::Failed),
        "topup.reversed" => reversal(&mut fields, call.currency()),
        other => return Ok(of_unknown_type(other)),
    };
    let message = incoming(&call, &kind, &data, fields)?;
    let update = update.ok_or_else(|| ApiError::internal("a missing field was not reported"))?;
    let outcome = call.use_cases().inbox.topup(&message, update).await;
    acknowledged(MessageSource::Topups, &message, outcome)
}

async fn payouts(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let PayoutMessageBody { kind, data } = call.body()?;
    let mut fields = Fields::of(&data);
    let update = match kind.as_str() {
        "payout.broadcast" => txid(&mut fields, call.currency()).map(|txid| PayoutUpdate::Broadcast { txid }),
        "payout.completed" => txid(&mut fields, call.currency()).map(|txid| PayoutUpdate::Completed { txid }),
        "payout.failed" => Some(PayoutUpdate::Refused),
        other => return Ok(of_unknown_type(other)),
    };
    let message = incoming(&call, &kind, &data, fields)?;
    let update = update.ok_or_else(|| ApiError::internal("a missing field was not reported"))?;
    let outcome = call.use_cases().inbox.payout(&message, &update, reason(&data)).await;
    acknowledged(MessageSource::Payouts, &message, outcome)
}

fn txid(fields: &mut Fields<'_>, currency: &Currency) -> Option<Line> {
    fields.required("txid", kinds::LINE.reader(currency))
}

/// The payment of a confirmation.
fn payment(fields: &mut Fields<'_>, currency: &Currency) -> Payment {
    Payment {
        amount: fields.optional("amount", kinds::PAID_AMOUNT.reader(currency)),
        currency: fields.optional("currency", kinds::PAID_CURRENCY.reader(currency)),
    }
}

/// The amount and currency of a reversal.
fn reversal(fields: &mut Fields<'_>, currency: &Currency) -> Option<TopupUpdate> {
    let amount = fields.required("amount", kinds::PAID_AMOUNT.reader(currency));
    let currency = fields.optional("currency", kinds::PAID_CURRENCY.reader(currency));
    amount.map(|amount| TopupUpdate::Reversed { amount, currency })
}

/// The reason of a refusal. The refusal is valid without it, so values other than strings are ignored.
fn reason(data: &Object) -> Option<Line> {
    let raw = data.get("reason").filter(|raw| raw.get() != "null")?;
    match serde_json::from_str::<String>(raw.get()) {
        Ok(text) => kept_reason(&text),
        Err(_) => {
            tracing::warn!("reason in a payout message is not a string and was ignored");
            None
        }
    }
}

/// The message, once all fields but those of its subject have been read.
fn incoming(
    call: &ApiCall,
    kind: &str,
    data: &Object,
    fields: Fields<'_>,
) -> Result<IncomingMessage, ApiError> {
    let id = call.signature()?.id;
    Ok(IncomingMessage {
        subject: subject(fields, call.currency())?,
        webhook_id: WebhookId::new(id).ok_or(Code::BadRequest)?,
        kind: Excerpt::of(kind),
        presented: PresentedPayment {
            amount: excerpt(data, "amount"),
            currency: excerpt(data, "currency"),
            txid: excerpt(data, "txid"),
        },
    })
}

/// The beginning of a value: of the string, or of its JSON text otherwise.
fn excerpt<const MAX: usize>(data: &Object, field: &str) -> Option<Excerpt<MAX>> {
    let json = data.get(field).map(|raw| raw.get()).filter(|json| *json != "null")?;
    let text = serde_json::from_str::<String>(json);
    Some(Excerpt::of(text.as_deref().unwrap_or(json)))
}

/// The subject of the message.
fn subject(mut fields: Fields<'_>, currency: &Currency) -> Result<MessageSubject, ApiError> {
    let id = fields.optional("id", kinds::STATED_ID.reader(currency));
    let reference = match id {
        Some(_) => fields.optional("reference", kinds::PROVIDER_REFERENCE.reader(currency)),
        None => fields.required("reference", kinds::PROVIDER_REFERENCE.reader(currency)),
    };
    fields.complete(|| match (reference, id) {
        (Some(reference), id) => Some(MessageSubject::Reference { reference, id }),
        (None, id) => id.map(MessageSubject::Id),
    })
}

fn of_unknown_type(kind: &str) -> ApiResponse {
    tracing::info!(kind = Excerpt::<64>::of(kind).as_str(), "provider message of an unknown type ignored");
    ApiResponse::empty()
}

/// The answer to a message; its outcome is logged and counted in the metrics.
fn acknowledged(
    source: MessageSource,
    message: &IncomingMessage,
    outcome: Result<MessageOutcome, CommandError<ProviderMessageRefusal>>,
) -> Result<ApiResponse, ApiError> {
    let outcome = outcome.inspect_err(|error| log_refusal(source, message, error))?;
    provider_log::observe(source, message, &outcome);
    match outcome {
        MessageOutcome::Contradiction(contradicted) => {
            if contradicted.contradiction == Contradiction::UnknownReference {
                return Err(Code::NotFound.into());
            }
            ApiResponse::new("Received.", MessageReceiptData::new(contradicted.recorded))
        }
        MessageOutcome::Moved { .. }
        | MessageOutcome::Known
        | MessageOutcome::Suspended { .. }
        | MessageOutcome::ForOperator { .. } => Ok(ApiResponse::empty()),
    }
}

/// Logs a refused message. An id alone may belong to an earlier row, so the ledger may lack the reported
/// payment.
fn log_refusal(
    source: MessageSource,
    message: &IncomingMessage,
    error: &CommandError<ProviderMessageRefusal>,
) {
    if let CommandError::Refused(ProviderMessageRefusal::ReferenceRequired) = error {
        let (source, kind) = (source.name(), message.kind.as_str());
        let id = message.subject.stated_id();
        tracing::warn!(source, kind, id, "provider message without reference refused");
    }
}
