//! Reads of tips outside plans.

use async_trait::async_trait;

use crate::ids::{GigId, UserId};
use crate::money::Amount;
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::tip::{Tip, TipFilter};

/// Reads tips.
///
/// # Errors
/// Every method returns [`Unavailable`] when the storage cannot be reached.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Tips: Send + Sync {
    /// A page of the tips that match the filter, by `created_at`, then id, both descending.
    async fn tips(&self, filter: &TipFilter, page: PageRequest) -> Result<Rows<Tip>, Unavailable>;
    /// Whether this guest ever gave this DJ a tip.
    async fn has_tipped(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable>;
    /// The amounts of the tips in a gig, in any order.
    async fn tips_in_gig(&self, gig: GigId) -> Result<Vec<Amount>, Unavailable>;
}
