//! Withdrawals.

use bigdecimal::BigDecimal;
use cuepoint_domain::ids::{OperationId, UserId, WithdrawalId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{Approval, NextSend, Withdrawal, WithdrawalState, WithdrawalStatus};
use diesel::prelude::*;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Corrupt, amount, column_time, known, text, timestamp};
use crate::schema::withdrawals;

/// A withdrawal.
#[derive(Clone, Debug, Queryable, Selectable, Serialize, Deserialize)]
#[diesel(table_name = withdrawals, check_for_backend(diesel::pg::Pg))]
pub(crate) struct WithdrawalRow {
    pub(crate) id: i64,
    pub(crate) user_id: i64,
    #[serde(with = "text::decimal")]
    pub(crate) amount: BigDecimal,
    pub(crate) wallet_address: String,
    pub(crate) currency: String,
    pub(crate) network: String,
    pub(crate) status: String,
    pub(crate) txid: Option<String>,
    #[serde(with = "text::micros")]
    pub(crate) created_at: OffsetDateTime,
    #[serde(with = "text::micros")]
    pub(crate) updated_at: OffsetDateTime,
    #[serde(default)]
    pub(crate) attempts: i32,
    #[serde(default, with = "text::micros::option")]
    pub(crate) retry_at: Option<OffsetDateTime>,
    /// The operation that opened it.
    #[serde(default)]
    pub(crate) reference: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) approved_by: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "text::micros::option")]
    pub(crate) approved_at: Option<OffsetDateTime>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) second_approved_by: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "text::micros::option")]
    pub(crate) second_approved_at: Option<OffsetDateTime>,
}

impl WithdrawalRow {
    pub(crate) fn of(withdrawal: &Withdrawal, currency: &Currency) -> Self {
        let (first, second) = (withdrawal.approvals.first(), withdrawal.approvals.get(1));
        Self {
            id: withdrawal.id.get(),
            user_id: withdrawal.user.get(),
            amount: currency.to_decimal(withdrawal.amount.money()),
            wallet_address: withdrawal.wallet_address.as_str().to_owned(),
            currency: withdrawal.currency.as_str().to_owned(),
            network: withdrawal.network.as_str().to_owned(),
            status: withdrawal.state.status().name().to_owned(),
            txid: withdrawal.state.txid().map(|txid| txid.as_str().to_owned()),
            created_at: column_time(withdrawal.created_at),
            updated_at: column_time(withdrawal.updated_at),
            attempts: i32::try_from(withdrawal.state.attempts()).unwrap_or(i32::MAX),
            retry_at: withdrawal.state.next_send().and_then(NextSend::at).map(column_time),
            reference: withdrawal.opening.map(|operation| Uuid::from_u128(operation.0)),
            approved_by: first.map(|approval| approval.by.get()),
            approved_at: first.map(|approval| column_time(approval.at)),
            second_approved_by: second.map(|approval| approval.by.get()),
            second_approved_at: second.map(|approval| column_time(approval.at)),
        }
    }

    pub(crate) fn withdrawal(self, currency: &Currency) -> Result<Withdrawal, Corrupt> {
        let attempts = known("withdrawals.attempts", u32::try_from(self.attempts).ok())?;
        let (txid, retry_at) = (self.txid.map(Line::from_stored), self.retry_at.map(timestamp));
        let first = approval("withdrawals.approved_by", self.approved_by, self.approved_at)?;
        let second =
            approval("withdrawals.second_approved_by", self.second_approved_by, self.second_approved_at)?;
        let is_in_order = first.is_some() || second.is_none();
        known("withdrawals.approved_by", is_in_order.then_some(()))?;
        let state = WithdrawalStatus::stored(&self.status)
            .and_then(|status| WithdrawalState::stored(status, txid, attempts, retry_at));
        Ok(Withdrawal {
            id: known("withdrawals.id", WithdrawalId::new(self.id))?,
            opening: self.reference.map(|reference| OperationId(reference.as_u128())),
            user: known("withdrawals.user_id", UserId::new(self.user_id))?,
            amount: amount(currency, "withdrawals.amount", &self.amount)?,
            wallet_address: Line::from_stored(self.wallet_address),
            currency: Line::from_stored(self.currency),
            network: Line::from_stored(self.network),
            state: known("withdrawals.status", state)?,
            approvals: first.into_iter().chain(second).collect(),
            created_at: timestamp(self.created_at),
            updated_at: timestamp(self.updated_at),
        })
    }
}

/// The approval that two columns hold, both or neither.
fn approval(
    column: &'static str,
    by: Option<i64>,
    at: Option<OffsetDateTime>,
) -> Result<Option<Approval>, Corrupt> {
    match (by, at) {
        (None, None) => Ok(None),
        (by, at) => {
            let by = known(column, by.and_then(UserId::new))?;
            Ok(Some(Approval { by, at: timestamp(known(column, at)?) }))
        }
    }
}
