//! The application layer: use cases on the ports and the rules, independent of HTTP, SQL and JSON.
//!
//! A change of the ledger is a [`Command`], run by the [`Executor`] in the order that the trait states. Other
//! changes are methods that also go through the executor, which performs their effects. [`queries`] only read;
//! [`jobs`] run in the background.

mod accounts;
mod apply;
mod authorized;
mod blocks;
mod command;
pub mod commands;
mod completion;
mod context;
mod done;
mod effects;
mod email_changes;
mod endpoint_notices;
mod environment;
mod error;
mod event_limit;
mod executor;
pub mod jobs;
mod ledger_audit;
mod loadable;
mod message_subject;
mod order_observer;
mod own_password;
mod passwords;
mod performed_change;
mod personal_data;
mod provider_inbox;
pub mod queries;
mod readiness;
mod receipts;
mod registration;
mod running_tests;
mod security_audit;
mod sessions;
mod single_flight;
#[cfg(test)]
mod tests;
mod verifications;
mod webhook_requests;
mod webhooks;

use std::sync::Arc;

pub use accounts::{Accounts, LoginRefusal, RefreshRefusal, SignedIn};
pub use authorized::{Authorized, Requirement};
pub use blocks::{BlockRefusal, GuestBlocks};
pub use command::{Command, action_of};
pub use context::{ClientContext, Context};
pub use done::Done;
use effects::Effects;
pub use email_changes::{ConfirmEmailRefusal, EmailChanges, RequestEmailRefusal, RestoreEmailRefusal};
use endpoint_notices::EndpointNotices;
pub use environment::{Environment, Ports, Terms};
pub use error::{CommandError, Failure, InvalidTransition};
pub use executor::Executor;
pub use ledger_audit::{CompletedAudit, LedgerAudits};
pub use loadable::Loadable;
pub use message_subject::ProviderMessageRefusal;
pub use passwords::{ChangePasswordRefusal, PasswordChanges, RequestResetRefusal, ResetPasswordRefusal};
pub use personal_data::{EraseRefusal, PersonalData};
pub use provider_inbox::{Contradicted, IncomingMessage, MessageOutcome, ProviderInbox};
pub use readiness::Readiness;
pub use receipts::FromReceipt;
pub use registration::{BootstrapRefusal, Bootstrapped, RegisterRefusal, Registration};
use running_tests::RunningTests;
pub use running_tests::TestRefusal;
pub use sessions::OwnSessions;
pub use verifications::{Address, SendCodeRefusal, Verifications, VerifyRefusal};
pub use webhook_requests::{EndpointRequest, ReplayRequest, WebhookRefusal};
pub use webhooks::Webhooks;

use crate::ports::{Job, Unavailable};
use jobs::{Deliveries, Expiry, Payouts, Positions, Retention, TopupOrders};
use queries::{
    EventQueries, MusicRequestQueries, PeopleQueries, ProfileQueries, ProviderMessageQueries,
    SecurityLogQueries, SettingsQueries, TopupQueries, WalletQueries, WithdrawalQueries,
};

/// All use cases.
#[derive(Clone)]
pub struct UseCases {
    /// Runs commands.
    pub executor: Executor,
    /// Registration, login and refresh tokens.
    pub accounts: Accounts,
    /// The principal's own sessions.
    pub sessions: OwnSessions,
    /// Changes and resets of passwords.
    pub passwords: PasswordChanges,
    /// Changes of e-mail addresses.
    pub email_changes: EmailChanges,
    /// E-mail and phone verification.
    pub verifications: Verifications,
    /// Profiles and DJs.
    pub profiles: ProfileQueries,
    /// Music requests.
    pub music_requests: MusicRequestQueries,
    /// Withdrawals.
    pub withdrawals: WithdrawalQueries,
    /// Balances and statements.
    pub wallet: WalletQueries,
    /// Top-ups.
    pub topups: TopupQueries,
    /// Users, as staff sees them.
    pub people: PeopleQueries,
    /// The security log.
    pub security_log: SecurityLogQueries,
    /// The settings that clients see.
    pub settings: SettingsQueries,
    /// Feeds of events.
    pub events: EventQueries,
    /// Stored messages of providers.
    pub provider_messages: ProviderMessageQueries,
    /// Guests blocked by DJs.
    pub blocks: GuestBlocks,
    /// Export and erasure of personal data.
    pub personal_data: PersonalData,
    /// Incoming messages of providers.
    pub inbox: ProviderInbox,
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
    /// Audits of the ledger.
    pub ledger_audits: LedgerAudits,
    /// Readiness of the service.
    pub readiness: Readiness,
    env: Arc<Environment>,
}

impl UseCases {
    /// Creates the use cases on these adapters, with these terms.
    #[must_use]
    pub fn new(ports: Ports, terms: Terms) -> Self {
        let readiness = Readiness { store: ports.store.clone(), probes: ports.probes.clone() };
        let positions = Positions { log: ports.store.clone() };
        let store = ports.store.clone();
        let env = Arc::new(Environment::new(ports, terms));
        let retention = Retention { store, env: env.clone() };
        let executor = Executor::new(env.clone());
        let deliveries = Deliveries::new(env.clone());
        Self {
            accounts: Accounts { env: env.clone(), executor: executor.clone() },
            sessions: OwnSessions { env: env.clone(), executor: executor.clone() },
            passwords: PasswordChanges { env: env.clone(), executor: executor.clone() },
            email_changes: EmailChanges { env: env.clone(), executor: executor.clone() },
            verifications: Verifications { env: env.clone(), executor: executor.clone() },
            profiles: ProfileQueries { env: env.clone() },
            music_requests: MusicRequestQueries { env: env.clone() },
            withdrawals: WithdrawalQueries { env: env.clone() },
            wallet: WalletQueries { env: env.clone() },
            topups: TopupQueries { env: env.clone() },
            people: PeopleQueries { env: env.clone() },
            security_log: SecurityLogQueries { env: env.clone() },
            settings: SettingsQueries { env: env.clone() },
            events: EventQueries::new(env.clone()),
            provider_messages: ProviderMessageQueries { env: env.clone() },
            blocks: GuestBlocks { env: env.clone(), executor: executor.clone() },
            personal_data: PersonalData { env: env.clone(), executor: executor.clone() },
            inbox: ProviderInbox { env: env.clone() },
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
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn run_job(&self, job: Job) -> Result<(), Unavailable> {
        match job {
            Job::SendPasswordReset { email, client } => {
                let reset = self.passwords.send_reset(&email, client.clone()).await;
                reset.and(self.email_changes.send_again(&email, client).await)
            }
            Job::NotifySecured { user, cause } => {
                EndpointNotices { env: self.env.clone() }.secured(user, cause).await
            }
            Job::NotifyEmailChanged(news) => self.email_changes.notify(news).await,
            Job::NotifyWebhookChanged(news) => EndpointNotices { env: self.env.clone() }.changed(news).await,
            Job::NotifyWebhookDisabled(endpoint) => self.deliveries.notify_disabled(endpoint).await,
        }
    }
}
