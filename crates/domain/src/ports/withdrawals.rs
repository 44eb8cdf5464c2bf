//! Reads of withdrawals outside plans.

use std::collections::HashMap;

use async_trait::async_trait;

use crate::ids::{OperationId, WithdrawalId};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::timestamp::Timestamp;
use crate::withdrawal::{Withdrawal, WithdrawalFilter, WithdrawalReview};

/// Reads withdrawals.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Withdrawals: Send + Sync {
    /// One withdrawal.
    async fn withdrawal(&self, id: WithdrawalId) -> Result<Option<Withdrawal>, Unavailable>;
    /// The withdrawal that this operation opened; one without [`Withdrawal::opening`] is never found.
    async fn withdrawal_opened_by(&self, opening: OperationId) -> Result<Option<Withdrawal>, Unavailable>;
    /// A page of the withdrawals that match the filter, by `created_at`, then id, both descending.
    async fn withdrawals(
        &self,
        filter: &WithdrawalFilter,
        page: PageRequest,
    ) -> Result<Rows<Withdrawal>, Unavailable>;
    /// Withdrawals whose [`WithdrawalState::next_send`](crate::withdrawal::WithdrawalState::next_send) is due, in its
    /// order, then by id. Withdrawals that [wait for a debt](Withdrawal::waiting_for) are left out, so that they
    /// delay no others.
    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable>;
    /// The present facts on which the approval of each of these withdrawals depends, in any order; none for unknown
    /// ids.
    async fn reviews(
        &self,
        of: &[WithdrawalId],
    ) -> Result<HashMap<WithdrawalId, WithdrawalReview>, Unavailable>;
}
