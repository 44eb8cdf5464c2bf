//! Views of provider messages for operators.

use cuepoint_domain::provider_message::{self, Excerpt, MessageSource};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;

/// A provider message that contradicts the ledger, without its resolver.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ContradictingMessage)]
pub struct ContradictingMessageView {
    /// Id of the message; later messages have higher ids.
    #[schema(minimum = 1, example = 12)]
    id: i64,
    /// Provider of the message.
    #[schema(value_type = names::MessageSource)]
    source: &'static str,
    /// `webhook-id` of the message.
    #[schema(example = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W")]
    webhook_id: String,
    /// Type of the message.
    #[schema(value_type = names::ProviderMessageType)]
    r#type: String,
    /// Kind of the contradiction.
    #[schema(value_type = names::MessageReasonCode)]
    reason_code: &'static str,
    /// Reference in the message, or the id if it has no reference.
    #[schema(example = "019aa6e0-7b42-7c55-8f0d-1a2b3c4d5e6f")]
    reference: String,
    /// Id in the message; null if it has none.
    #[schema(example = 5)]
    claimed_id: Option<i64>,
    /// Id of the top-up with the reference; null if there is none.
    #[schema(minimum = 1, example = 3)]
    topup_id: Option<i64>,
    /// Id of the withdrawal with the reference; null if there is none.
    #[schema(minimum = 1, example = 5)]
    withdrawal_id: Option<i64>,
    /// Amount in the message as text, at most 64 bytes; null if it has none.
    #[schema(example = "25.00")]
    amount: Option<String>,
    /// Currency in the message, at most 64 bytes; null if it has none.
    #[schema(example = "USD")]
    currency: Option<String>,
    /// Transaction in the message, at most 512 bytes; null if it has none.
    #[schema(example = "4a5e1e4b")]
    txid: Option<String>,
    /// Time of receipt.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    received_at: WireTimestamp,
    /// Time of the resolution; null while unresolved.
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-01-31T21:00:00.000000Z")]
    resolved_at: Option<WireTimestamp>,
    /// Reason of the operator who resolved the message; null while unresolved.
    #[schema(example = "Paid once; the first transaction was replaced.")]
    resolution: Option<String>,
}

/// A provider message that contradicts the ledger.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ProviderMessage)]
pub struct ProviderMessageView {
    /// The message.
    #[serde(flatten)]
    message: ContradictingMessageView,
    /// Id of the operator who resolved the message; null while unresolved.
    #[schema(minimum = 1, example = 7)]
    resolved_by: Option<i64>,
}

/// A provider message in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProviderMessageData {
    /// The message.
    pub provider_message: ProviderMessageView,
}

impl ProviderMessageView {
    /// The message.
    #[must_use]
    pub fn new(message: &provider_message::ProviderMessage) -> Self {
        Self {
            message: ContradictingMessageView::new(message),
            resolved_by: message.resolution.as_ref().map(|resolution| resolution.by.get()),
        }
    }
}

impl ContradictingMessageView {
    /// The message.
    #[must_use]
    pub fn new(message: &provider_message::ProviderMessage) -> Self {
        let (record, resolution) = (&message.record, message.resolution.as_ref());
        let row_of = |source| record.row.filter(|_| record.source == source);
        let presented = &record.presented;
        Self {
            id: message.id.get(),
            source: record.source.name(),
            webhook_id: record.webhook_id.as_str().to_owned(),
            r#type: record.kind.as_str().to_owned(),
            reason_code: record.contradiction.name(),
            reference: record.reference.as_str().to_owned(),
            claimed_id: record.stated_id,
            topup_id: row_of(MessageSource::Topups),
            withdrawal_id: row_of(MessageSource::Payouts),
            amount: presented.amount.as_ref().map(Excerpt::to_string),
            currency: presented.currency.as_ref().map(Excerpt::to_string),
            txid: presented.txid.as_ref().map(Excerpt::to_string),
            received_at: WireTimestamp(record.received_at),
            resolved_at: resolution.map(|resolution| WireTimestamp(resolution.at)),
            resolution: resolution.map(|resolution| resolution.reason.as_str().to_owned()),
        }
    }
}
