//! Whoever takes the guests' money.

use async_trait::async_trait;

use crate::ids::TopupId;
use crate::money::Amount;
use crate::ports::Unavailable;
use crate::topup::Charge;

/// Takes money from guests.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TopupProvider: Send + Sync {
    /// Asks for the money of a top-up, once for each id however often it is called.
    ///
    /// # Errors
    /// [`Unavailable`] when there is no provider or it cannot be reached.
    async fn charge(&self, topup: TopupId, amount: Amount) -> Result<Charge, Unavailable>;
}
