//! New ids, allocated before a change is decided.

use async_trait::async_trait;

use crate::ids::{
    AdjustmentId, OperationId, RequestId, SessionId, TopupId, UserId, WebhookEndpointId, WithdrawalId,
};
use crate::ports::Unavailable;

/// Allocates unique ids; gaps are allowed.
///
/// A number is unique within one epoch of the data; after a restore, numbers that were assigned after the
/// backup may be assigned again. Providers therefore identify a row by its
/// [`ProviderReference`](crate::provider_reference::ProviderReference), which is unique across epochs.
///
/// # Errors
/// Every method returns [`Unavailable`] when no id can be allocated.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Ids: Send + Sync {
    /// An id for an operation, generated without I/O.
    fn operation(&self) -> OperationId;
    /// An id for a user.
    async fn next_user(&self) -> Result<UserId, Unavailable>;
    /// An id for a music request.
    async fn next_request(&self) -> Result<RequestId, Unavailable>;
    /// An id for a withdrawal.
    async fn next_withdrawal(&self) -> Result<WithdrawalId, Unavailable>;
    /// An id for a top-up.
    async fn next_topup(&self) -> Result<TopupId, Unavailable>;
    /// An id for an adjustment.
    async fn next_adjustment(&self) -> Result<AdjustmentId, Unavailable>;
    /// An id for a session.
    async fn next_session(&self) -> Result<SessionId, Unavailable>;
    /// An id for a webhook endpoint, with which its secret is encrypted before it is added.
    async fn next_webhook_endpoint(&self) -> Result<WebhookEndpointId, Unavailable>;
}
