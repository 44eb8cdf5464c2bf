//! The environment of the use cases: the adapters of a deployment and its terms.

use std::num::NonZeroU32;
use std::sync::Arc;

use time::Duration;

use crate::application::security_audit::SecurityAudit;
use crate::ids::UserId;
use crate::ledger::adjustment::AdjustmentTerms;
use crate::money::Amount;
use crate::music_request::RequestTerms;
use crate::operation::OperationMetadata;
use crate::ports::{
    AccessTokens, Audit, Blocks, Clock, Gigs, Ids, Job, JobQueue, Ledger, LoginObserver, Logins, LongWork,
    MusicRequests, Notifier, OperationLog, OrderObserver, Passwords, PayoutProvider, People, PersonalRecords,
    PersonalTokens, PrincipalCheck, ProviderMessages, ReadinessProbe, Revocations, Secrets, SecurityCause,
    SecurityNews, Sessions, Store, TaskSpawner, Timer, Tips, TopupProvider, Topups, Unavailable, Wallets,
    WebhookEndpoints, WebhookSender, Withdrawals,
};
use crate::timestamp::Timestamp;
use crate::tip::TipTerms;
use crate::topup::{GuestTopupLimits, OrderTerms, PaymentPages};
use crate::user::Role;
use crate::user::challenge::Purpose;
use crate::user::cookie_session::CookieSession;
use crate::user::session::{ClientInfo, SecretKind, Session, TokenHash};
use crate::withdrawal::{PayoutTerms, WithdrawalTerms};

/// The adapters of the use cases, other than the store.
#[derive(Clone)]
pub struct Ports {
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Monotonic time.
    pub timer: Arc<dyn Timer>,
    /// Hashing of passwords.
    pub passwords: Arc<dyn Passwords>,
    /// Generation of refresh tokens, reset tokens and codes.
    pub secrets: Arc<dyn Secrets>,
    /// Issuing of access tokens.
    pub access_tokens: Arc<dyn AccessTokens>,
    /// Comparison of principals with the revocation list.
    pub principals: Arc<dyn PrincipalCheck>,
    /// Refreshes of the revocation list.
    pub revocations: Arc<dyn Revocations>,
    /// The queue of background jobs.
    pub jobs: Arc<dyn JobQueue>,
    /// Tasks that are independent of requests.
    pub tasks: Arc<dyn TaskSpawner>,
    /// Threads for work whose size users choose.
    pub long_work: Arc<dyn LongWork>,
    /// Messages to users.
    pub notifier: Arc<dyn Notifier>,
    /// The payment provider.
    pub topup_provider: Arc<dyn TopupProvider>,
    pub payout_provider: Arc<dyn PayoutProvider>,
    /// Calls to webhook endpoints.
    pub webhooks: Arc<dyn WebhookSender>,
    /// Reports of the outcomes of orders of top-ups.
    pub orders: Arc<dyn OrderObserver>,
    /// Reports of failed logins.
    pub failed_logins: Arc<dyn LoginObserver>,
    /// The conditions of readiness other than the storage.
    pub probes: Vec<Arc<dyn ReadinessProbe>>,
}

/// The terms of a deployment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Terms {
    pub requests: RequestTerms,
    /// The maximum duration of a gig.
    pub longest_gig: Duration,
    pub tips: TipTerms,
    pub withdrawals: WithdrawalTerms,
    pub adjustments: AdjustmentTerms,
    /// The smallest top-up; `None` means that every amount is enough.
    pub least_topup: Option<Amount>,
    /// The limits of top-ups by guest accounts.
    pub guest_topups: GuestTopupLimits,
    /// Terms of ordering top-ups at their provider.
    pub topups: OrderTerms,
    /// The payment pages that payers are shown.
    pub payment_pages: PaymentPages,
    /// Terms of giving withdrawals to the payout provider.
    pub payouts: PayoutTerms,
    /// The time for which the money of a pending top-up may still arrive; until then its owner cannot be
    /// erased.
    pub topups_pending_for: Duration,
    /// The age up to which events are shown in feeds and streams; `None` shows all.
    pub events_shown_for: Option<Duration>,
    /// The validity of a refresh token.
    pub refresh_token_for: Duration,
    /// The validity of a cookie after its last use.
    pub cookie_for: Duration,
    /// The maximum number of codes by phone within a day; `None` for no limit.
    pub phone_codes_per_day: Option<NonZeroU32>,
}

impl Terms {
    /// The lifetime of a session with a secret of this kind, from its beginning or its last use.
    pub(super) fn session_lifetime(&self, kind: SecretKind, role: Role) -> Duration {
        match kind {
            SecretKind::RefreshToken => Session::lifetime(role, self.refresh_token_for),
            SecretKind::Cookie => CookieSession::lifetime(role, self.cookie_for),
        }
    }
}

/// The ports and terms available to use cases.
pub struct Environment {
    // A field for each port of the store, because the doubles of tests replace them one by one.
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) operations: Arc<dyn OperationLog>,
    pub(super) audit: Arc<dyn Audit>,
    pub(super) requests: Arc<dyn MusicRequests>,
    pub(super) gigs: Arc<dyn Gigs>,
    pub(super) tips: Arc<dyn Tips>,
    pub(super) withdrawals: Arc<dyn Withdrawals>,
    pub(super) topups: Arc<dyn Topups>,
    pub(super) wallets: Arc<dyn Wallets>,
    pub(super) people: Arc<dyn People>,
    pub(super) logins: Arc<dyn Logins>,
    pub(super) sessions: Arc<dyn Sessions>,
    pub(super) tokens: Arc<dyn PersonalTokens>,
    pub(super) blocks: Arc<dyn Blocks>,
    pub(super) records: Arc<dyn PersonalRecords>,
    pub(super) messages: Arc<dyn ProviderMessages>,
    pub(super) endpoints: Arc<dyn WebhookEndpoints>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) ports: Ports,
    pub(super) security_audit: SecurityAudit,
    pub(super) terms: Terms,
}

impl Environment {
    pub(super) fn new(store: Arc<dyn Store>, ports: Ports, terms: Terms) -> Self {
        Self {
            security_audit: SecurityAudit::new(
                store.clone(),
                ports.clock.clone(),
                ports.failed_logins.clone(),
            ),
            ledger: store.clone(),
            operations: store.clone(),
            audit: store.clone(),
            requests: store.clone(),
            gigs: store.clone(),
            tips: store.clone(),
            withdrawals: store.clone(),
            topups: store.clone(),
            wallets: store.clone(),
            people: store.clone(),
            logins: store.clone(),
            sessions: store.clone(),
            tokens: store.clone(),
            blocks: store.clone(),
            records: store.clone(),
            messages: store.clone(),
            endpoints: store.clone(),
            ids: store,
            ports,
            terms,
        }
    }

    /// The current time.
    pub(super) fn now(&self) -> Timestamp {
        self.ports.clock.now()
    }

    /// Whether a challenge of this purpose with this hash is open. Call this before a new password is hashed, because
    /// otherwise strangers could fill the queue of hashes with unknown tokens.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub(super) async fn has_open_challenge(
        &self,
        purpose: Purpose,
        presented: &TokenHash,
    ) -> Result<bool, Unavailable> {
        let challenge = self.logins.challenge(purpose, presented).await?;
        Ok(challenge.is_some_and(|challenge| challenge.is_open(self.now())))
    }

    /// The job that notifies a user of a change to their password, sessions or tokens by this client at the current time.
    pub(super) fn secured(&self, user: UserId, cause: SecurityCause, client: &ClientInfo) -> Job {
        Job::NotifySecured { user, news: SecurityNews { cause, client: client.address, at: self.now() } }
    }

    /// The metadata of a change by the service itself, at the current time.
    pub(super) fn system(&self) -> OperationMetadata {
        OperationMetadata::system(self.ids.operation(), self.now())
    }
}
