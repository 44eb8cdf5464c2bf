//! Withdrawals.

use cuepoint_domain::ids::{OperationId, UserId, WithdrawalId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{Approval, NextSend, Withdrawal, WithdrawalState};
use uuid::Uuid;

use super::{Corrupt, Named, Sum, amount, known};
use crate::entity_rows::Rowed;
use crate::schema::StoredWithdrawal;

impl StoredWithdrawal {
    /// Converts the row to its withdrawal.
    pub fn withdrawal(self, currency: &Currency) -> Result<Withdrawal, Corrupt> {
        let attempts = known("withdrawals.attempts", u32::try_from(self.attempts).ok())?;
        let (txid, retry_at) = (self.txid.map(Line::from_stored), self.retry_at);
        let first = approval("withdrawals.approved_by", self.approved_by, self.approved_at)?;
        let second =
            approval("withdrawals.second_approved_by", self.second_approved_by, self.second_approved_at)?;
        let is_in_order = first.is_some() || second.is_none();
        known("withdrawals.approved_by", is_in_order.then_some(()))?;
        let state =
            self.status.get().and_then(|status| WithdrawalState::stored(status, txid, attempts, retry_at));
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
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

/// Decodes an approval from its two columns, which are both set or both null.
fn approval(
    column: &'static str,
    by: Option<i64>,
    at: Option<Timestamp>,
) -> Result<Option<Approval>, Corrupt> {
    match (by, at) {
        (None, None) => Ok(None),
        (by, at) => {
            let by = known(column, by.and_then(UserId::new))?;
            Ok(Some(Approval { by, at: known(column, at)? }))
        }
    }
}

impl Rowed for Withdrawal {
    type Row = StoredWithdrawal;

    fn row(&self, currency: &Currency) -> StoredWithdrawal {
        let (first, second) = (self.approvals.first(), self.approvals.get(1));
        StoredWithdrawal {
            id: self.id.get(),
            user_id: self.user.get(),
            amount: Sum::of(currency, self.amount.money()),
            wallet_address: self.wallet_address.as_str().to_owned(),
            currency: self.currency.as_str().to_owned(),
            network: self.network.as_str().to_owned(),
            status: Named::of(self.state.status()),
            txid: self.state.txid().map(|txid| txid.as_str().to_owned()),
            created_at: self.created_at,
            updated_at: self.updated_at,
            attempts: i32::try_from(self.state.attempts()).unwrap_or(i32::MAX),
            retry_at: self.state.next_send().and_then(NextSend::at),
            reference: self.opening.map(|operation| Uuid::from_u128(operation.0)),
            approved_by: first.map(|approval| approval.by.get()),
            approved_at: first.map(|approval| approval.at),
            second_approved_by: second.map(|approval| approval.by.get()),
            second_approved_at: second.map(|approval| approval.at),
        }
    }

    fn of_row(row: StoredWithdrawal, currency: &Currency) -> Result<Self, Corrupt> {
        row.withdrawal(currency)
    }
}
