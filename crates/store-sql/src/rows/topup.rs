//! Top-ups.

use cuepoint_domain::gig::DjCode;
use cuepoint_domain::ids::{OperationId, TopupId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::{Line, PaymentUrl};
use cuepoint_domain::topup::{Orders, Suspense, SuspenseSettlement, Topup};
use uuid::Uuid;

use super::{Corrupt, Named, Sum, amount, known};
use crate::entity_rows::Rowed;
use crate::schema::{StoredSuspense, StoredTopup};

impl StoredSuspense {
    /// Whether no such money arrived.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.suspense_operation.is_none()
    }

    /// Converts money in suspense to its columns.
    #[must_use]
    pub fn of(suspense: &Suspense) -> Self {
        let uuid = |operation: OperationId| Uuid::from_u128(operation.0);
        let settlement = suspense.settlement.as_ref();
        Self {
            suspense_operation: Some(uuid(suspense.operation)),
            suspense_at: Some(suspense.arrived_at),
            settled_operation: settlement.map(|settlement| uuid(settlement.operation)),
            settled_at: settlement.map(|settlement| settlement.at),
            settled_by: settlement.map(|settlement| settlement.by.get()),
            settled_reason: settlement.map(|settlement| settlement.reason.as_str().to_owned()),
        }
    }

    /// Converts the columns to money in suspense: those of an arrival are all set or all null, and so are
    /// those of its settlement.
    fn suspense(self) -> Result<Option<Suspense>, Corrupt> {
        let id = |uuid: Uuid| OperationId(uuid.as_u128());
        let settled = (self.settled_operation, self.settled_at, self.settled_by, self.settled_reason);
        let settlement = match settled {
            (None, None, None, None) => None,
            (Some(operation), Some(at), Some(by), Some(reason)) => Some(SuspenseSettlement {
                operation: id(operation),
                at,
                by: known("topups.settled_by", UserId::new(by))?,
                reason: Line::from_stored(reason),
            }),
            _ => return Err(Corrupt::Column("topups.settled_operation")),
        };
        match (self.suspense_operation, self.suspense_at) {
            (None, None) if settlement.is_none() => Ok(None),
            (Some(operation), Some(at)) => {
                Ok(Some(Suspense { operation: id(operation), arrived_at: at, settlement }))
            }
            _ => Err(Corrupt::Column("topups.suspense_operation")),
        }
    }
}

impl StoredTopup {
    /// Converts the row to its top-up.
    pub fn topup(self, currency: &Currency) -> Result<Topup, Corrupt> {
        let status = known("topups.status", self.status.get())?;
        let attempts = self.attempts.map(u32::try_from).transpose();
        let attempts = known("topups.attempts", attempts.ok())?;
        let next_at = self.order_at;
        Ok(Topup {
            id: known("topups.id", TopupId::new(self.id))?,
            opening: self.reference.map(|reference| OperationId(reference.as_u128())),
            user: known("topups.user_id", UserId::new(self.user_id))?,
            amount: amount(currency, "topups.amount", &self.amount)?,
            status,
            payment_url: self.payment_url.map(PaymentUrl::from_stored),
            page_code: self
                .page_code
                .map(|code| known("topups.page_code", DjCode::new(&code)))
                .transpose()?,
            orders: attempts.map(|attempts| Orders::stored(status, attempts, next_at)),
            suspense: self.suspense.suspense()?,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

impl Rowed for Topup {
    type Row = StoredTopup;

    fn row(&self, currency: &Currency) -> StoredTopup {
        StoredTopup {
            id: self.id.get(),
            user_id: self.user.get(),
            amount: Sum::of(currency, self.amount.money()),
            status: Named::of(self.status),
            payment_url: self.payment_url.as_ref().map(|url| url.as_str().to_owned()),
            page_code: self.page_code.map(|code| code.as_str().to_owned()),
            created_at: self.created_at,
            updated_at: self.updated_at,
            reference: self.opening.map(|operation| Uuid::from_u128(operation.0)),
            attempts: self.orders.map(|orders| i32::try_from(orders.attempts).unwrap_or(i32::MAX)),
            order_at: self.orders.and_then(|orders| orders.next_at),
            suspense: self.suspense.as_ref().map(StoredSuspense::of).unwrap_or_default(),
        }
    }

    fn of_row(row: StoredTopup, currency: &Currency) -> Result<Self, Corrupt> {
        row.topup(currency)
    }
}
