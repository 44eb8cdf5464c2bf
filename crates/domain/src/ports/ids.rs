//! New identities, handed out before anything is decided.

use async_trait::async_trait;

use crate::ids::{AdjustmentId, OperationId, RequestId, SessionId, TopupId, UserId, WithdrawalId};
use crate::ports::Unavailable;

/// Hands out identities that were never handed out before; gaps are allowed.
///
/// A number is unique within one epoch of the data; a restore from a backup may assign numbers again that
/// were assigned after the backup. Providers therefore identify a row by its
/// [`ProviderReference`](crate::provider_reference::ProviderReference), which is unique across epochs.
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
