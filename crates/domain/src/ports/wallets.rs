//! Reads of wallets and their entries outside plans.

use async_trait::async_trait;

use crate::ids::UserId;
use crate::ledger::{Balance, Entry, EntryKind};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::timestamp::Timestamp;
use crate::withdrawal::Income;

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
    /// A page of a wallet's entries of one kind, by number descending.
    async fn entries_of_kind(
        &self,
        user: UserId,
        kind: EntryKind,
        page: PageRequest,
    ) -> Result<Rows<Entry>, Unavailable>;
    /// The entry of a wallet with this number.
    async fn entry(&self, user: UserId, number: i64) -> Result<Option<Entry>, Unavailable>;
    /// The income of a wallet later than `after`, and not later than `until` if it is set.
    async fn income(
        &self,
        user: UserId,
        after: Timestamp,
        until: Option<Timestamp>,
    ) -> Result<Vec<Income>, Unavailable>;
    /// Whether an operator adjusted a user's wallet after this time, by the time of its entries.
    async fn has_adjusted(&self, by: UserId, wallet: UserId, since: Timestamp) -> Result<bool, Unavailable>;
}
