//! Views of provider messages for operators.

use cuepoint_domain::provider_message::{self, Excerpt, MessageSource};

use crate::view;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// A provider message that contradicts the ledger, without its resolver. It shows 64 bytes each of the reference,
    /// the amount and the currency in the message, and 512 bytes of the transaction. A truncated text ends with `…`.
    pub struct ExportedProviderMessageView as ExportedProviderMessage of (
        message: &provider_message::ProviderMessage,
    ) {
        let (record, resolution) = (&message.record, message.resolution.as_ref());
        let presented = &record.presented;
        let row_of = |source| record.row.filter(|_| record.source == source);
        /// Id of the message. Later messages have higher ids.
        #[id(example = 12)]
        id: i64 = message.id.get(),
        /// Provider of the message.
        #[schema(value_type = names::ProviderMessageSource)]
        source: &'static str = record.source.name(),
        /// Header `webhook-id` of the message.
        #[schema(example = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W")]
        webhook_id: String = record.webhook_id.as_str().to_owned(),
        /// Type of the message.
        #[schema(value_type = names::ProviderMessageType)]
        r#type: String = record.kind.as_str().to_owned(),
        /// Kind of the contradiction.
        #[schema(value_type = names::ProviderMessageReason)]
        reason_code: &'static str = record.contradiction.name(),
        /// Reference in the message, or the id if it has no reference.
        #[schema(example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
        reference: String = record.reference.as_str().to_owned(),
        /// Id in the message; null if it has none.
        #[schema(example = 3)]
        claimed_id: Option<i64> = record.stated_id,
        /// Id of the top-up with the reference; null if there is none.
        #[id(example = 3)]
        topup_id: Option<i64> = row_of(MessageSource::Topups),
        /// Id of the withdrawal with the reference; null if there is none.
        #[id(example = json!(null))]
        withdrawal_id: Option<i64> = row_of(MessageSource::Payouts),
        /// Amount in the message, as text; null if it has none.
        #[schema(example = "25.00")]
        amount: Option<String> = presented.amount.as_ref().map(Excerpt::to_string),
        /// Currency in the message; null if it has none.
        #[schema(example = "USD")]
        currency: Option<String> = presented.currency.as_ref().map(Excerpt::to_string),
        /// Transaction in the message; null if it has none.
        #[schema(example = json!(null))]
        txid: Option<String> = presented.txid.as_ref().map(Excerpt::to_string),
        /// Time of receipt.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        received_at: WireTimestamp = WireTimestamp(record.received_at),
        /// Time of the resolution; null while unresolved.
        #[timestamp_or_null(example = "2026-01-31T21:00:00.000000Z")]
        resolved_at: Option<WireTimestamp> = resolution.map(|resolution| WireTimestamp(resolution.at)),
        /// Reason of the operator who resolved the message; null while unresolved.
        #[schema(example = "Paid once; the first transaction was replaced.")]
        resolution: Option<String> = resolution.map(|resolution| resolution.reason.as_str().to_owned()),
    }
}
