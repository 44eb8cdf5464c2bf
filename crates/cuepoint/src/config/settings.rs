//! The configuration as typed and validated settings.

use std::num::NonZeroU32;
use std::path::Path;

use cuepoint_domain::ledger::adjustment::AdjustmentTerms;
use cuepoint_domain::money::Currency;
use cuepoint_domain::tip::TipTerms;
use cuepoint_domain::withdrawal::WithdrawalTerms;
use serde::Deserialize;

use super::access::{AccessSection, CorsSection, RateLimitsSection};
use super::auth::{Auth, AuthSection, Bootstrap, BootstrapSection};
use super::events::{EventSettings, EventsSection};
use super::key_source::KeySource;
use super::notifier::{EmailChannel, NotifierSection, NotifierSettings, PhoneSection};
use super::pages::{PagesSection, PagesSettings};
use super::problems::Collector;
use super::providers::{PayoutSettings, PayoutsSection, TopupProviderKind, TopupSettings, TopupsSection};
use super::requests::{FeesSection, GigsSection, Requests, RequestsSection, TipsSection, WalletSection};
use super::server::{Server, ServerSection};
use super::storage::{Storage, StorageKeys, StorageSection};
use super::values::{DAY, Seconds};
use super::webhooks::{WebhookSettings, WebhooksSection};
use super::withdrawals::{AdjustmentsSection, WithdrawalsSection};
use super::{ConfigError, DeploymentEnvironment, urls};
use cuepoint_api::state::Reachable;
use cuepoint_transport::rate_limits::Quotas;

/// All settings, validated.
#[derive(Clone, Debug)]
pub struct Settings {
    pub environment: DeploymentEnvironment,
    /// The settings of the web server.
    pub server: Server,
    /// The storage backend.
    pub storage: Storage,
    /// The storage keys that are set, also those that the backend ignores.
    pub storage_keys: StorageKeys,
    /// The authentication settings.
    pub auth: Auth,
    /// The currency of the deployment.
    pub currency: Currency,
    /// The settings for song requests.
    pub requests: Requests,
    pub tips: TipTerms,
    /// The interval of the ledger audit; `None` means never.
    pub audit_interval: Option<std::time::Duration>,
    /// The settings of feeds and streams of events.
    pub events: EventSettings,
    /// The settings of webhooks to URLs that users enter.
    pub webhooks: WebhookSettings,
    pub withdrawals: WithdrawalTerms,
    pub adjustments: AdjustmentTerms,
    /// The settings of the pages for browsers.
    pub pages: PagesSettings,
    /// The settings for messages to users.
    pub notifier: NotifierSettings,
    /// The maximum number of phone codes within 24 hours; `None` means unlimited.
    pub phone_codes_per_day: Option<NonZeroU32>,
    /// The settings for top-ups.
    pub topups: TopupSettings,
    pub payouts: PayoutSettings,
    /// The origins of web pages that may call the API from scripts.
    pub cors_allowed_origins: Vec<String>,
    /// The networks from which restricted routes are reachable.
    pub reachable: Reachable,
    /// The rate limits; `None` means unlimited.
    pub rate_limits: Option<Quotas>,
    /// The operator to create at start.
    pub bootstrap: Option<Bootstrap>,
}

/// The sections of the configuration, whose fields are its keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sections {
    server: ServerSection,
    storage: StorageSection,
    auth: AuthSection,
    wallet: WalletSection,
    fees: FeesSection,
    requests: RequestsSection,
    gigs: GigsSection,
    tips: TipsSection,
    ledger: LedgerSection,
    events: EventsSection,
    webhooks: WebhooksSection,
    withdrawals: WithdrawalsSection,
    adjustments: AdjustmentsSection,
    pages: PagesSection,
    notifier: NotifierSection,
    phone: PhoneSection,
    topups: TopupsSection,
    payouts: PayoutsSection,
    cors: CorsSection,
    access: AccessSection,
    rate_limits: RateLimitsSection,
    bootstrap: BootstrapSection,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerSection {
    audit_interval_seconds: Seconds<0, { DAY.saturating_mul(7) }>,
}

impl Settings {
    /// Checks the rules that only a server must meet. Other commands, such as a migration, run without them.
    ///
    /// # Errors
    /// A [`ConfigError`] for each violated rule.
    pub fn check_server(&self) -> Result<(), Vec<ConfigError>> {
        let mut errors = Collector::default();
        errors.keep(self.server.check_public_url(self.environment, self.pages.enabled));
        errors.keep(urls::check_origins(
            "cors.allowed_origins",
            &self.cors_allowed_origins,
            self.environment,
        ));
        let sends_email = !matches!(self.notifier.email, EmailChannel::None);
        if self.withdrawals.requires_verified_email && !sends_email {
            let reason = "requires notifier.email: set it to smtp, or withdrawals.verified_email to false";
            errors.push(ConfigError::new("withdrawals.verified_email", reason));
        }
        if self.topups.provider == TopupProviderKind::SandboxPage && !self.pages.enabled {
            let reason = "page requires pages.enabled, because the payment page is a page of this service";
            errors.push(ConfigError::new("topups.sandbox", reason));
        }
        if errors.errors.is_empty() { Ok(()) } else { Err(errors.errors) }
    }
}

impl Sections {
    /// Returns the settings after checking the rules that compare keys or depend on the environment; `None` after an
    /// error was collected.
    pub(super) fn check(
        self,
        environment: DeploymentEnvironment,
        errors: &mut Collector,
    ) -> Option<Settings> {
        // Amounts of other sections are in this currency.
        let currency = errors.keep(Currency::try_from(self.wallet))?;
        let audit_interval = self.ledger.audit_interval_seconds.to_std();
        let storage_keys =
            StorageKeys { postgres_url: self.storage.has_postgres_url(), ..StorageKeys::default() };
        let storage = errors.keep(self.storage.check(environment));
        let server = Server::from(self.server);
        if let Some(storage) = &storage {
            errors.keep(server.check_clock_rate(environment, storage));
        }
        // The operator of a production deployment decides where its keys are, apart from its data.
        let creates_keys = environment != DeploymentEnvironment::Production;
        let data_directory = storage.as_ref().and_then(Storage::directory).filter(|_| creates_keys);
        let auth = errors.keep(self.auth.check(data_directory));
        // Keys for a store in memory end with it.
        let creates_beside = creates_keys && !matches!(storage, Some(Storage::Memory));
        let signing_keys = auth.as_ref().and_then(|auth| auth.signing_keys.as_ref());
        let signing_key_file = signing_keys.and_then(KeySource::file).filter(|_| creates_beside);
        let beside = data_directory.or(signing_key_file.and_then(Path::parent));
        let webhooks = errors.keep(self.webhooks.check(beside));
        let requests = errors.keep(self.requests.with_fees(&self.fees, self.gigs, &currency));
        let tips = self.tips.with_fees(&self.fees, &currency, errors);
        let withdrawals = self.withdrawals.check(&currency, errors);
        let adjustments = errors.keep(self.adjustments.check(&currency));
        let notifier = self.notifier.check(environment, errors);
        let phone_codes_per_day = self.phone.codes_per_day();
        let topups = self.topups.check(environment, &currency, errors);
        let payouts = errors.keep(self.payouts.check(environment));
        let bootstrap = errors.keep(self.bootstrap.check());
        Some(Settings {
            environment,
            server,
            storage: storage?,
            storage_keys,
            auth: auth?,
            currency,
            requests: requests?,
            tips: tips?,
            audit_interval: (!audit_interval.is_zero()).then_some(audit_interval),
            events: self.events.into(),
            webhooks: webhooks?,
            withdrawals: withdrawals?,
            adjustments: adjustments?,
            pages: self.pages.into(),
            notifier: notifier?,
            phone_codes_per_day,
            topups: topups?,
            payouts: payouts?,
            cors_allowed_origins: self.cors.into(),
            reachable: self.access.into(),
            rate_limits: self.rate_limits.into(),
            bootstrap: bootstrap?,
        })
    }
}
