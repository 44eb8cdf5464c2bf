//! The use cases together, on the adapters and with the terms of a deployment.

use std::sync::Arc;

use crate::application::environment::{Environment, Ports, Terms};
use crate::application::error::Failure;
use crate::application::executor::{Executor, Expiry};
use crate::application::jobs::{GigEndings, LedgerAudits, Positions, Retention};
use crate::application::providers::{Payouts, ProviderInbox, SandboxPayments, TopupOrders};
use crate::application::queries::{
    BoardQueries, EventQueries, GigQueries, MusicRequestQueries, PeopleQueries, ProfileQueries,
    ProviderMessageQueries, SecurityLogQueries, SettingsQueries, TipQueries, TopupQueries, WalletQueries,
    WithdrawalQueries,
};
use crate::application::readiness::Readiness;
use crate::application::users::{
    EmailChanges, GuestBlocks, GuestRejections, Operators, OwnSessions, OwnTokens, PasswordChanges,
    PersonalData, SignIns, Verifications, WalletLinks,
};
use crate::application::webhooks::{Deliveries, EndpointNotices, RunningTests, Webhooks};
use crate::ports::{Job, Store, Unavailable};

/// All use cases.
#[derive(Clone)]
pub struct UseCases {
    /// Runs commands.
    pub executor: Executor,
    /// Registration, login and refresh tokens.
    pub sign_ins: SignIns,
    /// The first operator, and those that the person at the machine manages.
    pub operators: Operators,
    /// The principal's own sessions.
    pub sessions: OwnSessions,
    pub tokens: OwnTokens,
    /// Changes and resets of passwords.
    pub passwords: PasswordChanges,
    /// Changes of e-mail addresses.
    pub email_changes: EmailChanges,
    /// E-mail and phone verification.
    pub verifications: Verifications,
    /// Links to guest accounts whose phone is lost.
    pub wallet_links: WalletLinks,
    /// Profiles and DJs.
    pub profiles: ProfileQueries,
    pub music_requests: MusicRequestQueries,
    pub gigs: GigQueries,
    pub tips: TipQueries,
    /// Boards of gigs.
    pub boards: BoardQueries,
    /// The end of gigs.
    pub gig_endings: GigEndings,
    pub withdrawals: WithdrawalQueries,
    /// Balances and statements.
    pub wallet: WalletQueries,
    /// Top-ups.
    pub topups: TopupQueries,
    /// Users, as staff sees them.
    pub people: PeopleQueries,
    pub security_log: SecurityLogQueries,
    /// The settings that clients see.
    pub settings: SettingsQueries,
    /// Feeds of events.
    pub events: EventQueries,
    /// Stored messages of providers.
    pub provider_messages: ProviderMessageQueries,
    /// Guests blocked by DJs.
    pub blocks: GuestBlocks,
    /// Rejections of guest accounts by DJs.
    pub guest_rejections: GuestRejections,
    /// Export and erasure of personal data.
    pub personal_data: PersonalData,
    /// Incoming messages of providers.
    pub inbox: ProviderInbox,
    /// Payments of the sandbox, for its payment page alone.
    pub sandbox: SandboxPayments,
    /// Payouts of withdrawals.
    pub payouts: Payouts,
    /// Orders of top-ups.
    pub topup_orders: TopupOrders,
    /// Positions of operations.
    pub positions: Positions,
    /// Purges and erasures.
    pub retention: Retention,
    /// Webhook endpoints.
    pub webhooks: Webhooks,
    /// Deliveries to webhook endpoints.
    pub deliveries: Deliveries,
    pub ledger_audits: LedgerAudits,
    /// Readiness of the service.
    pub readiness: Readiness,
    env: Arc<Environment>,
}

impl UseCases {
    /// Creates the use cases on these adapters, with these terms.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, ports: Ports, terms: Terms) -> Self {
        let readiness = Readiness { store: store.clone(), probes: ports.probes.clone() };
        let positions = Positions { log: store.clone() };
        let env = Arc::new(Environment::new(store.clone(), ports, terms));
        let retention = Retention { store, env: env.clone() };
        let executor = Executor::new(env.clone());
        let deliveries = Deliveries::new(env.clone());
        let sign_ins = SignIns { env: env.clone(), executor: executor.clone() };
        Self {
            operators: Operators::new(sign_ins.clone()),
            wallet_links: WalletLinks { sign_ins: sign_ins.clone() },
            sign_ins,
            sessions: OwnSessions { env: env.clone(), executor: executor.clone() },
            tokens: OwnTokens { env: env.clone(), executor: executor.clone() },
            passwords: PasswordChanges { env: env.clone(), executor: executor.clone() },
            email_changes: EmailChanges { env: env.clone(), executor: executor.clone() },
            verifications: Verifications { env: env.clone(), executor: executor.clone() },
            profiles: ProfileQueries { env: env.clone() },
            music_requests: MusicRequestQueries { env: env.clone() },
            gigs: GigQueries::new(env.clone()),
            tips: TipQueries { env: env.clone() },
            boards: BoardQueries::new(env.clone()),
            gig_endings: GigEndings { env: env.clone() },
            withdrawals: WithdrawalQueries { env: env.clone() },
            wallet: WalletQueries { env: env.clone() },
            topups: TopupQueries { env: env.clone() },
            people: PeopleQueries { env: env.clone() },
            security_log: SecurityLogQueries { env: env.clone() },
            settings: SettingsQueries { env: env.clone() },
            events: EventQueries::new(env.clone()),
            provider_messages: ProviderMessageQueries { env: env.clone() },
            blocks: GuestBlocks { env: env.clone(), executor: executor.clone() },
            guest_rejections: GuestRejections { env: env.clone(), executor: executor.clone() },
            personal_data: PersonalData { env: env.clone(), executor: executor.clone() },
            inbox: ProviderInbox { env: env.clone() },
            sandbox: SandboxPayments { inbox: ProviderInbox { env: env.clone() } },
            payouts: Payouts { env: env.clone() },
            topup_orders: TopupOrders { env: env.clone() },
            positions,
            retention,
            webhooks: Webhooks {
                env: env.clone(),
                executor: executor.clone(),
                deliveries: deliveries.clone(),
                tests: RunningTests::default(),
            },
            deliveries,
            ledger_audits: LedgerAudits::new(env.clone()),
            readiness,
            executor,
            env,
        }
    }

    /// Settles all overdue requests, and returns their number.
    ///
    /// # Errors
    /// [`Failure`]; requests settled before it stay settled.
    pub async fn expire_requests(&self) -> Result<u64, Failure> {
        Expiry { env: &self.env }.settle().await
    }

    /// Runs a background job of the queue.
    pub async fn run_job(&self, job: Job) -> Result<(), Unavailable> {
        match job {
            Job::SendPasswordReset { email, client } => {
                let reset = self.passwords.send_reset(&email, client.clone()).await;
                reset.and(self.email_changes.send_again(&email, client).await)
            }
            Job::NotifySecured { user, news } => {
                EndpointNotices { env: self.env.clone() }.secured(user, news).await
            }
            Job::NotifyEmailChanged(news) => self.email_changes.notify(news).await,
            Job::NotifyWebhookChanged(news) => EndpointNotices { env: self.env.clone() }.changed(news).await,
            Job::NotifyWebhookDisabled(endpoint) => self.deliveries.notify_disabled(endpoint).await,
            Job::ReleaseGig(gig) => match self.gig_endings.release_of(gig).await {
                Ok(_) => Ok(()),
                Err(Failure::Unavailable(unavailable)) => Err(unavailable),
                Err(other) => Err(Unavailable::new(other)),
            },
        }
    }
}
