//! Top-ups.

use bigdecimal::BigDecimal;
use cuepoint_domain::ids::{OperationId, TopupId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::PaymentUrl;
use cuepoint_domain::topup::{Orders, Topup, TopupStatus};
use diesel::prelude::*;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Corrupt, amount, column_time, known, text, timestamp};
use crate::schema::topups;

/// A top-up.
#[derive(Clone, Debug, Queryable, Selectable, Serialize, Deserialize)]
#[diesel(table_name = topups, check_for_backend(diesel::pg::Pg))]
pub(crate) struct TopupRow {
    pub(crate) id: i64,
    pub(crate) user_id: i64,
    #[serde(with = "text::decimal")]
    pub(crate) amount: BigDecimal,
    pub(crate) status: String,
    pub(crate) payment_url: Option<String>,
    #[serde(with = "text::micros")]
    pub(crate) created_at: OffsetDateTime,
    #[serde(with = "text::micros")]
    pub(crate) updated_at: OffsetDateTime,
    /// The operation that opened it.
    #[serde(default)]
    pub(crate) reference: Option<Uuid>,
    /// How often it was ordered; null where an earlier version opened it.
    #[serde(default)]
    pub(crate) attempts: Option<i32>,
    #[serde(default, with = "text::micros::option")]
    pub(crate) order_at: Option<OffsetDateTime>,
}

impl TopupRow {
    pub(crate) fn of(topup: &Topup, currency: &Currency) -> Self {
        Self {
            id: topup.id.get(),
            user_id: topup.user.get(),
            amount: currency.to_decimal(topup.amount.money()),
            status: topup.status.name().to_owned(),
            payment_url: topup.payment_url.as_ref().map(|url| url.as_str().to_owned()),
            created_at: column_time(topup.created_at),
            updated_at: column_time(topup.updated_at),
            reference: topup.opening.map(|operation| Uuid::from_u128(operation.0)),
            attempts: topup.orders.map(|orders| i32::try_from(orders.attempts).unwrap_or(i32::MAX)),
            order_at: topup.orders.and_then(|orders| orders.next_at).map(column_time),
        }
    }

    pub(crate) fn topup(self, currency: &Currency) -> Result<Topup, Corrupt> {
        let status = known("topups.status", TopupStatus::stored(&self.status))?;
        let attempts = self.attempts.map(u32::try_from).transpose();
        let attempts = known("topups.attempts", attempts.ok())?;
        let next_at = self.order_at.map(timestamp);
        Ok(Topup {
            id: known("topups.id", TopupId::new(self.id))?,
            opening: self.reference.map(|reference| OperationId(reference.as_u128())),
            user: known("topups.user_id", UserId::new(self.user_id))?,
            amount: amount(currency, "topups.amount", &self.amount)?,
            status,
            payment_url: self.payment_url.map(PaymentUrl::from_stored),
            orders: attempts.map(|attempts| Orders::stored(status, attempts, next_at)),
            created_at: timestamp(self.created_at),
            updated_at: timestamp(self.updated_at),
        })
    }
}
