//! The ports: what the domain needs of the world, for adapters to implement.
//!
//! Each is small, coarse and object-safe; adapters are chosen at run time. Every method of a storage port either
//! answers or says [`Unavailable`]; what is expected to happen is a value, not an error. The suite in
//! `store-contract` holds every store to what is promised here.

mod access_tokens;
mod backend;
mod blocks;
mod clock;
mod effects;
mod ids;
mod ledger;
mod logins;
mod notifier;
mod passwords;
mod people;
mod personal_data;
mod principals;
mod provider;
mod provider_messages;
mod readiness;
mod reads;
mod security_log;
mod sessions;
mod timer;

pub use access_tokens::{AccessToken, AccessTokens, SigningError};
pub use backend::{Backend, BackendError, Maintenance, OpenTransfers, Opening, Restored};
pub use blocks::{Block, Blocks};
pub use clock::Clock;
pub use effects::{Job, JobQueue, Revocations, Task, TaskSpawner};
pub use ids::Ids;
pub use ledger::{Applied, ApplyError, Audit, Ledger};
pub use logins::{Credentials, Issued, Logins};
pub use notifier::{Notice, Notifier, Recipient};
pub use passwords::{Guessable, PasswordHash, Passwords, Secrets, Token, Verified};
pub use people::{DjFilter, Erased, FirstOperator, People, Profile, Registered};
pub use personal_data::PersonalRecords;
pub use principals::{PrincipalCheck, PrincipalRefusal};
pub use provider::{Intake, OrderAnswer, PayoutAnswer, PayoutProvider, TopupProvider};
pub use provider_messages::{ProviderMessages, Recorded};
pub use readiness::ReadinessProbe;
pub use reads::{MusicRequests, Topups, Wallets, Withdrawals};
pub use security_log::SecurityLog;
pub use sessions::{Begun, Exchange, Sessions};
pub use timer::{Deadline, Timer};

#[cfg(any(test, feature = "mocks"))]
pub use {
    access_tokens::MockAccessTokens, blocks::MockBlocks, clock::MockClock, effects::MockJobQueue,
    effects::MockRevocations, ids::MockIds, ledger::MockAudit, ledger::MockLedger, logins::MockLogins,
    notifier::MockNotifier, passwords::MockPasswords, passwords::MockSecrets, people::MockPeople,
    personal_data::MockPersonalRecords, principals::MockPrincipalCheck, provider::MockPayoutProvider,
    provider::MockTopupProvider, provider_messages::MockProviderMessages, readiness::MockReadinessProbe,
    reads::MockMusicRequests, reads::MockTopups, reads::MockWallets, reads::MockWithdrawals,
    security_log::MockSecurityLog, sessions::MockSessions,
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
    Ledger
    + Audit
    + MusicRequests
    + Withdrawals
    + Topups
    + Wallets
    + People
    + Logins
    + Sessions
    + Blocks
    + SecurityLog
    + PersonalRecords
    + ProviderMessages
    + Ids
{
    /// Whether the storage can be reached and written to right now.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot, within two seconds.
    async fn ready(&self) -> Result<(), Unavailable>;

    /// Deletes what is no longer kept: idempotency keys older than seven days, sessions that were ended or are past their end for
    /// longer than an access token may live, challenges of yesterday, events older than a year. Redacts the receipts past
    /// [`Receipt::KEPT`](crate::ledger::Receipt::KEPT) that show a profile, after the keys that stand for them are gone.
    ///
    /// # Errors
    /// [`Unavailable`]; some of it may be done then.
    async fn tidy(&self, now: crate::timestamp::Timestamp) -> Result<(), Unavailable>;

    /// Answers what was submitted, and takes no more.
    async fn close(&self);
}
