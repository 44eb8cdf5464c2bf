//! Messages of providers as operators see them.

use cuepoint_domain::provider_message::{self, Excerpt, MessageSource};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;
use crate::http::wire::time::Moment;

/// A message of a provider that contradicts the ledger, without who resolved it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ContradictingMessage {
    /// The message's id; later messages have higher ids.
    #[schema(minimum = 1, example = 12)]
    id: i64,
    /// The provider that sent it.
    #[schema(value_type = names::MessageSource)]
    source: &'static str,
    /// Its `webhook-id`.
    #[schema(example = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W")]
    webhook_id: String,
    /// Its type.
    #[schema(value_type = names::ProviderMessageType)]
    r#type: String,
    /// How it contradicts the ledger.
    #[schema(value_type = names::MessageReasonCode)]
    reason_code: &'static str,
    /// The reference that it names, or its id where it names no reference.
    #[schema(example = "019aa6e0-7b42-7c55-8f0d-1a2b3c4d5e6f")]
    reference: String,
    /// The id that it names.
    #[schema(example = 5)]
    stated_id: Option<i64>,
    /// The top-up that its reference leads to.
    #[schema(minimum = 1, example = 3)]
    topup_id: Option<i64>,
    /// The withdrawal that its reference leads to.
    #[schema(minimum = 1, example = 5)]
    withdrawal_id: Option<i64>,
    /// The amount as the message has it: a text of at most 64 bytes.
    #[schema(example = "25.00")]
    amount: Option<String>,
    /// The currency as the message has it, of at most 64 bytes.
    #[schema(example = "USD")]
    currency: Option<String>,
    /// The transaction as the message has it, of at most 512 bytes.
    #[schema(example = "4a5e1e4b")]
    txid: Option<String>,
    /// When it came.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    received_at: Moment,
    /// When it was resolved; null while it is not.
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-01-31T21:00:00.000000Z")]
    resolved_at: Option<Moment>,
    /// The operator's reason.
    #[schema(example = "Paid once; the first transaction was replaced.")]
    resolution: Option<String>,
}

/// A message of a provider that contradicts the ledger.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProviderMessage {
    /// The message.
    #[serde(flatten)]
    message: ContradictingMessage,
    /// The operator who resolved it.
    #[schema(minimum = 1, example = 7)]
    resolved_by: Option<i64>,
}

/// What is answered about one message.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProviderMessageData {
    /// The message.
    pub provider_message: ProviderMessage,
}

impl ProviderMessage {
    /// The message.
    #[must_use]
    pub fn new(message: &provider_message::ProviderMessage) -> Self {
        let resolution = message.resolution.as_ref();
        Self {
            message: ContradictingMessage::new(message),
            resolved_by: resolution.map(|resolution| resolution.by.get()),
        }
    }
}

impl ContradictingMessage {
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
            stated_id: record.stated_id,
            topup_id: row_of(MessageSource::Topups),
            withdrawal_id: row_of(MessageSource::Payouts),
            amount: presented.amount.as_ref().map(Excerpt::to_string),
            currency: presented.currency.as_ref().map(Excerpt::to_string),
            txid: presented.txid.as_ref().map(Excerpt::to_string),
            received_at: Moment(record.received_at),
            resolved_at: resolution.map(|resolution| Moment(resolution.at)),
            resolution: resolution.map(|resolution| resolution.reason.as_str().to_owned()),
        }
    }
}
