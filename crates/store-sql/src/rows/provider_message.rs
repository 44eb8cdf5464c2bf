//! Provider messages.

use cuepoint_domain::ids::{ProviderMessageId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::provider_message::{
    Contradiction, Excerpt, MessageRecord, MessageSource, PresentedPayment, ProviderMessage, Resolution,
    WebhookId,
};
use cuepoint_domain::text::Line;

use super::{Corrupt, known};
use crate::entity_rows::Rowed;
use crate::schema::{StoredMessage, StoredMessageRecord};

impl StoredMessageRecord {
    /// Converts a new message to its row.
    #[must_use]
    pub fn of(record: &MessageRecord) -> Self {
        let PresentedPayment { amount, currency, txid } = &record.presented;
        Self {
            source: record.source.name().to_owned(),
            webhook_id: record.webhook_id.as_str().to_owned(),
            kind: record.kind.as_str().to_owned(),
            reason_code: record.contradiction.name().to_owned(),
            reference: record.reference.as_str().to_owned(),
            stated_id: record.stated_id,
            row_id: record.row,
            amount: amount.as_ref().map(|amount| amount.as_str().to_owned()),
            currency: currency.as_ref().map(|currency| currency.as_str().to_owned()),
            txid: txid.as_ref().map(|txid| txid.as_str().to_owned()),
            received_at: record.received_at,
        }
    }

    fn record(self) -> Result<MessageRecord, Corrupt> {
        Ok(MessageRecord {
            source: known("provider_messages.source", MessageSource::named(&self.source))?,
            webhook_id: WebhookId::from_stored(self.webhook_id),
            kind: Excerpt::from_stored(self.kind),
            contradiction: known("provider_messages.reason_code", Contradiction::stored(&self.reason_code))?,
            reference: Excerpt::from_stored(self.reference),
            stated_id: self.stated_id,
            row: self.row_id,
            presented: PresentedPayment {
                amount: self.amount.map(Excerpt::from_stored),
                currency: self.currency.map(Excerpt::from_stored),
                txid: self.txid.map(Excerpt::from_stored),
            },
            received_at: self.received_at,
        })
    }
}

impl StoredMessage {
    /// Converts the row to its message.
    pub fn message(self) -> Result<ProviderMessage, Corrupt> {
        let resolution = match (self.resolved_at, self.resolved_by, self.resolution) {
            (None, None, None) => None,
            (Some(at), Some(by), Some(reason)) => Some(Resolution {
                at,
                by: known("provider_messages.resolved_by", UserId::new(by))?,
                reason: Line::from_stored(reason),
            }),
            _ => return Err(Corrupt::Column("provider_messages.resolution")),
        };
        Ok(ProviderMessage {
            id: known("provider_messages.id", ProviderMessageId::new(self.id))?,
            record: self.record.record()?,
            resolution,
        })
    }
}

impl Rowed for ProviderMessage {
    type Row = StoredMessage;

    fn row(&self, _currency: &Currency) -> StoredMessage {
        let resolution = self.resolution.as_ref();
        StoredMessage {
            id: self.id.get(),
            record: StoredMessageRecord::of(&self.record),
            resolved_at: resolution.map(|resolution| resolution.at),
            resolved_by: resolution.map(|resolution| resolution.by.get()),
            resolution: resolution.map(|resolution| resolution.reason.as_str().to_owned()),
        }
    }

    fn of_row(row: StoredMessage, _currency: &Currency) -> Result<Self, Corrupt> {
        row.message()
    }
}
