//! New identities, handed out before anything is decided.

use async_trait::async_trait;

use crate::ids::{AdjustmentId, OperationId, RequestId, SessionId, TopupId, UserId, WithdrawalId};
use crate::ports::Unavailable;

/// Hands out identities that were never handed out before; gaps are allowed.
///
/// Numbers are handed out once in each epoch of the data: a restore of a backup hands those again that came after it, and
/// moves far ahead to keep them apart. What is known outside is therefore named by its
/// [`ProviderReference`](crate::provider_reference::ProviderReference), which repeats in none.
///
/// # Errors
/// Every method answers [`Unavailable`] when no identity can be had.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Ids: Send + Sync {
    /// An identity for an operation, made without asking anybody.
    fn operation(&self) -> OperationId;
    /// An identity for a person.
    async fn next_user(&self) -> Result<UserId, Unavailable>;
    /// An identity for a music request.
    async fn next_request(&self) -> Result<RequestId, Unavailable>;
    /// An identity for a withdrawal.
    async fn next_withdrawal(&self) -> Result<WithdrawalId, Unavailable>;
    /// An identity for a top-up.
    async fn next_topup(&self) -> Result<TopupId, Unavailable>;
    /// An identity for an adjustment.
    async fn next_adjustment(&self) -> Result<AdjustmentId, Unavailable>;
    /// An identity for a session.
    async fn next_session(&self) -> Result<SessionId, Unavailable>;
}
