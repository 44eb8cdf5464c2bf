//! The ports: what the domain needs of the world, for adapters to implement.
//!
//! Each is small, coarse and object-safe; adapters are chosen at run time. Every method of a storage port either
//! answers or says [`Unavailable`]; what is expected to happen is a value, not an error. The suite in
//! `store-contract` holds every store to what is promised here.

mod clock;
mod ids;
mod ledger;
mod passwords;
mod people;
mod provider;
mod reads;
mod sessions;

pub use clock::Clock;
pub use ids::Ids;
pub use ledger::{Applied, ApplyError, Audit, Ledger};
pub use passwords::{PasswordHash, Passwords, Secrets, Token};
pub use people::{Credentials, DjFilter, People, Profile, Registered};
pub use provider::{PayoutAnswer, PayoutProvider, TopupProvider};
pub use reads::{MusicRequests, Topups, Wallets, Withdrawals};
pub use sessions::{Exchange, Sessions};

#[cfg(any(test, feature = "mocks"))]
pub use {
    clock::MockClock, ids::MockIds, ledger::MockAudit, ledger::MockLedger, passwords::MockPasswords,
    passwords::MockSecrets, people::MockPeople, provider::MockPayoutProvider, provider::MockTopupProvider,
    reads::MockMusicRequests, reads::MockTopups, reads::MockWallets, reads::MockWithdrawals,
    sessions::MockSessions,
};

use async_trait::async_trait;
use thiserror::Error;

/// Something outside could not be reached or did not answer in time; nothing is known to have changed.
///
/// The cause is for the log alone: it never reaches a client.
#[derive(Debug, Error)]
#[error("unavailable: {0}")]
pub struct Unavailable(pub Box<dyn std::error::Error + Send + Sync>);

impl Unavailable {
    /// The failure with this cause.
    pub fn new(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

/// Everything that a storage adapter implements, as one object.
#[async_trait]
pub trait Store:
    Ledger + Audit + MusicRequests + Withdrawals + Topups + Wallets + People + Sessions + Ids
{
    /// Whether the storage can be reached and written to right now.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot, within two seconds.
    async fn ready(&self) -> Result<(), Unavailable>;

    /// Deletes what is no longer kept: idempotency keys older than seven days, refresh tokens past their end.
    ///
    /// # Errors
    /// [`Unavailable`]; some of it may be deleted then.
    async fn tidy(&self, now: crate::timestamp::Timestamp) -> Result<(), Unavailable>;
}
