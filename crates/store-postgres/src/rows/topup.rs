//! Top-ups.

use bigdecimal::BigDecimal;
use cuepoint_domain::ids::{OperationId, TopupId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::{Line, PaymentUrl};
use cuepoint_domain::topup::{Orders, Suspense, SuspenseSettlement, Topup, TopupStatus};
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
    #[diesel(embed)]
    #[serde(default, skip_serializing_if = "SuspenseColumns::is_empty")]
    pub(crate) suspense: SuspenseColumns,
}

/// The columns of money that came after the owner was erased; all are null where none did.
#[derive(Clone, Debug, Default, Queryable, Selectable, Serialize, Deserialize)]
#[diesel(table_name = topups, check_for_backend(diesel::pg::Pg))]
#[serde(default)]
pub(crate) struct SuspenseColumns {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suspense_operation: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none", with = "text::micros::option")]
    pub(crate) suspense_at: Option<OffsetDateTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settled_operation: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none", with = "text::micros::option")]
    pub(crate) settled_at: Option<OffsetDateTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settled_by: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settled_reason: Option<String>,
}

/// The money of a top-up in suspense, as it is to be written.
#[derive(Clone, Debug)]
pub(crate) struct SuspenseRow {
    pub(crate) id: i64,
    pub(crate) suspense_operation: Option<Uuid>,
    pub(crate) suspense_at: Option<OffsetDateTime>,
    pub(crate) settled_operation: Option<Uuid>,
    pub(crate) settled_at: Option<OffsetDateTime>,
    pub(crate) settled_by: Option<i64>,
    pub(crate) settled_reason: Option<String>,
}

impl SuspenseRow {
    /// The money of this top-up, if there is any in suspense.
    pub(crate) fn of(topup: &Topup) -> Option<Self> {
        let columns = SuspenseColumns::of(topup.suspense.as_ref()?);
        let SuspenseColumns {
            suspense_operation,
            suspense_at,
            settled_operation,
            settled_at,
            settled_by,
            settled_reason,
        } = columns;
        Some(Self {
            id: topup.id.get(),
            suspense_operation,
            suspense_at,
            settled_operation,
            settled_at,
            settled_by,
            settled_reason,
        })
    }
}

impl SuspenseColumns {
    const fn is_empty(&self) -> bool {
        self.suspense_operation.is_none()
    }

    fn of(suspense: &Suspense) -> Self {
        let uuid = |operation: OperationId| Uuid::from_u128(operation.0);
        let settlement = suspense.settlement.as_ref();
        Self {
            suspense_operation: Some(uuid(suspense.operation)),
            suspense_at: Some(column_time(suspense.arrived_at)),
            settled_operation: settlement.map(|settlement| uuid(settlement.operation)),
            settled_at: settlement.map(|settlement| column_time(settlement.at)),
            settled_by: settlement.map(|settlement| settlement.by.get()),
            settled_reason: settlement.map(|settlement| settlement.reason.as_str().to_owned()),
        }
    }

    /// What they stand for: everything of an arrival or nothing, and the same of its settlement.
    fn suspense(self) -> Result<Option<Suspense>, Corrupt> {
        let id = |uuid: Uuid| OperationId(uuid.as_u128());
        let settled = (self.settled_operation, self.settled_at, self.settled_by, self.settled_reason);
        let settlement = match settled {
            (None, None, None, None) => None,
            (Some(operation), Some(at), Some(by), Some(reason)) => Some(SuspenseSettlement {
                operation: id(operation),
                at: timestamp(at),
                by: known("topups.settled_by", UserId::new(by))?,
                reason: Line::from_stored(reason),
            }),
            _ => return Err(Corrupt::Column("topups.settled_operation")),
        };
        match (self.suspense_operation, self.suspense_at) {
            (None, None) if settlement.is_none() => Ok(None),
            (Some(operation), Some(at)) => {
                Ok(Some(Suspense { operation: id(operation), arrived_at: timestamp(at), settlement }))
            }
            _ => Err(Corrupt::Column("topups.suspense_operation")),
        }
    }
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
            suspense: topup.suspense.as_ref().map(SuspenseColumns::of).unwrap_or_default(),
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
            suspense: self.suspense.suspense()?,
            created_at: timestamp(self.created_at),
            updated_at: timestamp(self.updated_at),
        })
    }
}
