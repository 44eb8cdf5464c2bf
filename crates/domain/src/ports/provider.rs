//! Whoever takes the guests' money, and whoever sends it out.

use async_trait::async_trait;

use crate::ids::TopupId;
use crate::money::Amount;
use crate::ports::Unavailable;
use crate::provider_reference::ProviderReference;
use crate::text::Line;
use crate::topup::Charge;
use crate::withdrawal::{PayoutWord, Withdrawal};

/// Takes money from guests.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TopupProvider: Send + Sync {
    /// Asks for the money of a top-up, once for each reference however often it is called.
    ///
    /// The reference is that of the top-up that is opened afterwards; its later messages name it.
    ///
    /// # Errors
    /// [`Unavailable`] when there is no provider or it cannot be reached.
    async fn charge(
        &self,
        topup: TopupId,
        reference: ProviderReference,
        amount: Amount,
    ) -> Result<Charge, Unavailable>;
}

/// What became of giving a withdrawal to the payout provider.
#[derive(Debug)]
pub enum PayoutAnswer {
    /// The provider said so, perhaps for a reason.
    Said(PayoutWord, Option<Line>),
    /// There is no answer, or none that can be read: it may have been sent or not.
    Unknown(Unavailable),
}

/// Sends money out.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PayoutProvider: Send + Sync {
    /// Whether it sends by itself; otherwise operators do it by hand.
    fn sends(&self) -> bool;

    /// Sends a withdrawal, once for each [`Withdrawal::reference`] however often it is called; within a bounded time.
    async fn send(&self, withdrawal: &Withdrawal) -> PayoutAnswer;
}
