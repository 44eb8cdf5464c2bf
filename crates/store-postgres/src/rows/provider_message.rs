//! Messages of providers.

use cuepoint_domain::ids::{ProviderMessageId, UserId};
use cuepoint_domain::provider_message::{
    Contradiction, Excerpt, MessageRecord, MessageSource, Presented, ProviderMessage, Resolution, WebhookId,
};
use cuepoint_domain::text::Line;
use diesel::prelude::*;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{Corrupt, column_time, known, text, timestamp};
use crate::schema::provider_messages;

/// A message that is still to be kept.
#[derive(Clone, Debug, Queryable, Selectable, Serialize, Deserialize)]
#[diesel(table_name = provider_messages, check_for_backend(diesel::pg::Pg))]
pub(crate) struct MessageRecordRow {
    pub(crate) source: String,
    pub(crate) webhook_id: String,
    pub(crate) kind: String,
    pub(crate) reason_code: String,
    pub(crate) reference: String,
    pub(crate) stated_id: Option<i64>,
    pub(crate) row_id: Option<i64>,
    pub(crate) amount: Option<String>,
    pub(crate) currency: Option<String>,
    pub(crate) txid: Option<String>,
    #[serde(with = "text::micros")]
    pub(crate) received_at: OffsetDateTime,
}

/// A message.
#[derive(Clone, Debug, Queryable, Selectable, Serialize, Deserialize)]
#[diesel(table_name = provider_messages, check_for_backend(diesel::pg::Pg))]
pub(crate) struct ProviderMessageRow {
    pub(crate) id: i64,
    #[diesel(embed)]
    pub(crate) record: MessageRecordRow,
    #[serde(with = "text::micros::option")]
    pub(crate) resolved_at: Option<OffsetDateTime>,
    pub(crate) resolved_by: Option<i64>,
    pub(crate) resolution: Option<String>,
}

impl MessageRecordRow {
    pub(crate) fn of(record: &MessageRecord) -> Self {
        let Presented { amount, currency, txid } = &record.presented;
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
            received_at: column_time(record.received_at),
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
            presented: Presented {
                amount: self.amount.map(Excerpt::from_stored),
                currency: self.currency.map(Excerpt::from_stored),
                txid: self.txid.map(Excerpt::from_stored),
            },
            received_at: timestamp(self.received_at),
        })
    }
}

impl ProviderMessageRow {
    pub(crate) fn of(message: &ProviderMessage) -> Self {
        let resolution = message.resolution.as_ref();
        Self {
            id: message.id.get(),
            record: MessageRecordRow::of(&message.record),
            resolved_at: resolution.map(|resolution| column_time(resolution.at)),
            resolved_by: resolution.map(|resolution| resolution.by.get()),
            resolution: resolution.map(|resolution| resolution.reason.as_str().to_owned()),
        }
    }

    pub(crate) fn message(self) -> Result<ProviderMessage, Corrupt> {
        let resolution = match (self.resolved_at, self.resolved_by, self.resolution) {
            (None, None, None) => None,
            (Some(at), Some(by), Some(reason)) => Some(Resolution {
                at: timestamp(at),
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
