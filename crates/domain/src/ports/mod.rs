//! The ports: interfaces of the domain to its environment, implemented by adapters.
//!
//! Each is small, coarse and object-safe; adapters are selected at run time. Every method of a storage port
//! either returns its result or fails with [`Unavailable`]; expected outcomes are values, not errors. The
//! suite in `store-contract` verifies these promises for every store.

mod access_tokens;
mod backend;
mod blocks;
mod clock;
mod diagnosis;
mod effects;
mod gigs;
mod ids;
mod ledger;
mod login_observer;
mod logins;
mod long_work;
mod music_requests;
mod notifier;
mod operation_log;
mod order_observer;
mod passwords;
mod people;
mod personal_data;
mod personal_tokens;
mod principals;
mod provider;
mod provider_messages;
mod readiness;
mod security_log;
mod sessions;
mod timer;
mod tips;
mod topups;
mod wallets;
mod webhook_endpoints;
mod webhook_sender;
mod withdrawals;

pub use access_tokens::{AccessToken, AccessTokens, SigningError};
pub use backend::{
    Backend, BackendError, Maintenance, OpenTransfers, Opening, PreparedData, RestoreSource, Restored,
};
pub use blocks::Blocks;
pub use clock::{CLOCK_TOLERANCE, Clock};
pub use diagnosis::{Diagnosis, Health, Thoroughness};
pub use effects::{Job, JobQueue, Revocations, Task, TaskSpawner};
pub use gigs::{GigRequests, Gigs, IdsInGig};
pub use ids::{IdKind, Ids};
pub use ledger::{Applied, ApplyError, Audit, Ledger};
pub use login_observer::LoginObserver;
pub use logins::{Credentials, GuestClaim, IssueOutcome, Logins};
pub use long_work::{LongWork, LongWorkRefusal};
pub use music_requests::MusicRequests;
pub use notifier::{
    EmailNews, EndpointAct, EndpointMention, EndpointNews, Notice, Notifier, Recipient, SecurityCause,
    SecurityNews, TokenMention,
};
pub use operation_log::{OperationLog, OperationPage};
pub use order_observer::{OrderAttempt, OrderObserver, OrderOutcome};
pub use passwords::{HashingError, LowEntropyValue, PasswordCheck, PasswordHash, Passwords, Secrets, Token};
pub use people::{DjFilter, Erased, FirstOperator, People, Profile, Registered, UnusedGuests};
pub use personal_data::PersonalRecords;
pub use personal_tokens::{PersonalTokens, TokenAddition};
pub use principals::{PrincipalCheck, PrincipalRefusal};
pub use provider::{Intake, OrderAnswer, PayoutAnswer, PayoutProvider, TopupProvider};
pub use provider_messages::{ProviderMessages, Recorded};
pub use readiness::ReadinessProbe;
pub use security_log::SecurityLog;
pub use sessions::{BeginOutcome, ExchangeOutcome, Sessions};
pub use timer::{Deadline, Timer};
pub use tips::Tips;
pub use topups::Topups;
pub use wallets::Wallets;
pub use webhook_endpoints::{EndpointAddition, EndpointUpdate, WebhookEndpoints};
pub use webhook_sender::{SentWebhook, UrlProblem, WebhookMessage, WebhookSender};
pub use withdrawals::Withdrawals;

#[cfg(any(test, feature = "mocks"))]
pub use {
    access_tokens::MockAccessTokens, blocks::MockBlocks, clock::MockClock, effects::MockJobQueue,
    effects::MockRevocations, gigs::MockGigs, ids::MockIds, ledger::MockAudit, ledger::MockLedger,
    logins::MockLogins, music_requests::MockMusicRequests, notifier::MockNotifier,
    operation_log::MockOperationLog, passwords::MockPasswords, passwords::MockSecrets, people::MockPeople,
    personal_data::MockPersonalRecords, personal_tokens::MockPersonalTokens, principals::MockPrincipalCheck,
    provider::MockPayoutProvider, provider::MockTopupProvider, provider_messages::MockProviderMessages,
    readiness::MockReadinessProbe, security_log::MockSecurityLog, sessions::MockSessions, tips::MockTips,
    topups::MockTopups, wallets::MockWallets, webhook_endpoints::MockWebhookEndpoints,
    webhook_sender::MockWebhookSender, withdrawals::MockWithdrawals,
};

use async_trait::async_trait;
use thiserror::Error;

use crate::operation::feature_level::FeatureLevel;

/// An external system could not be reached or did not answer in time; nothing is known to have changed.
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

/// All ports of a storage adapter, as one object.
#[async_trait]
pub trait Store:
    Ledger
    + OperationLog
    + Audit
    + MusicRequests
    + Gigs
    + Tips
    + Withdrawals
    + Topups
    + Wallets
    + People
    + Logins
    + Sessions
    + PersonalTokens
    + Blocks
    + SecurityLog
    + PersonalRecords
    + ProviderMessages
    + WebhookEndpoints
    + Ids
{
    /// Succeeds if the storage can be reached and written to right now.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot, within two seconds.
    async fn ready(&self) -> Result<(), Unavailable>;

    /// Purges data past their retention: idempotency keys after seven days, ended or expired sessions once all
    /// their access tokens have expired, challenges after one day, events after a year. Redacts the
    /// profile in receipts past [`Receipt::RETENTION`](crate::operation::Receipt::RETENTION), once their keys
    /// are purged.
    ///
    /// # Errors
    /// [`Unavailable`]; a part may be done then.
    async fn purge_expired(&self, now: crate::timestamp::Timestamp) -> Result<(), Unavailable>;

    /// The feature level of the deployment, as last read.
    fn feature_level(&self) -> FeatureLevel;

    /// Completes submitted operations and rejects new ones.
    async fn close(&self);
}
