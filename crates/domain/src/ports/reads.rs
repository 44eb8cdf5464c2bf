//! Reads outside plans. Every result includes all changes applied before the read began.

use async_trait::async_trait;

use crate::ids::{OperationId, RequestId, TopupId, UserId, WithdrawalId};
use crate::ledger::{Balance, Entry};
use crate::music_request::{MusicRequest, Overdue, RequestFilter};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::withdrawal::{Withdrawal, WithdrawalFilter};

/// Reads music requests as they are stored; the reader derives expiry from the clock.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait MusicRequests: Send + Sync {
    /// One request.
    async fn request(&self, id: RequestId) -> Result<Option<MusicRequest>, Unavailable>;
    /// A page of the requests that match the filter, by `created_at`, then id, both descending.
    async fn requests(
        &self,
        filter: &RequestFilter,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable>;
    /// Whether this guest ever made a request to this DJ, regardless of its outcome.
    async fn has_requested(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable>;
    /// Overdue requests, by `expires_at`, then id, both ascending.
    async fn overdue(&self, which: &Overdue) -> Result<Vec<MusicRequest>, Unavailable>;
}

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
    /// Withdrawals whose [`WithdrawalState::next_send`](crate::withdrawal::WithdrawalState::next_send) is
    /// due, in its order, then by id.
    async fn due_payouts(&self, now: Timestamp, limit: u32) -> Result<Vec<Withdrawal>, Unavailable>;
}

/// Reads top-ups.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Topups: Send + Sync {
    /// One top-up.
    async fn topup(&self, id: TopupId) -> Result<Option<Topup>, Unavailable>;
    /// The top-up that this operation opened; one without [`Topup::opening`] is never found.
    async fn topup_opened_by(&self, opening: OperationId) -> Result<Option<Topup>, Unavailable>;
    /// A page of a user's top-ups, by `created_at`, then id, both descending.
    async fn topups(&self, user: UserId, page: PageRequest) -> Result<Rows<Topup>, Unavailable>;
    /// A page of the top-ups with a [`Topup::suspense`]: those without a settlement first, then by
    /// `arrived_at`, then id, both descending.
    async fn topups_in_suspense(&self, page: PageRequest) -> Result<Rows<Topup>, Unavailable>;
    /// Top-ups whose next order is due, by [`Orders::next_at`](crate::topup::Orders::next_at), then id, both
    /// ascending.
    async fn due_orders(&self, now: Timestamp, limit: u32) -> Result<Vec<Topup>, Unavailable>;
}

/// Reads wallets.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Wallets: Send + Sync {
    /// The balance of a user's wallet; `None` without such a user.
    async fn balance(&self, user: UserId) -> Result<Option<Balance>, Unavailable>;
    /// The balance of a user's wallet after its last entry up to this time, zero before the first; `None`
    /// without such a user.
    async fn balance_at(&self, user: UserId, at: Timestamp) -> Result<Option<Balance>, Unavailable>;
    /// A page of a wallet's entries, by number descending.
    async fn entries(&self, user: UserId, page: PageRequest) -> Result<Rows<Entry>, Unavailable>;
    /// The entry of a wallet with this number.
    async fn entry(&self, user: UserId, number: i64) -> Result<Option<Entry>, Unavailable>;
    /// Whether an operator adjusted a user's wallet after this time, by the time of its entries.
    async fn has_adjusted(&self, by: UserId, wallet: UserId, since: Timestamp) -> Result<bool, Unavailable>;
}
