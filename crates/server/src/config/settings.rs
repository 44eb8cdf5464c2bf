//! The configuration as typed settings, each within its range.

use std::num::NonZeroU32;

use cuepoint_domain::ledger::adjustment::AdjustmentTerms;
use cuepoint_domain::money::Currency;
use cuepoint_domain::withdrawal::WithdrawalTerms;
use serde::Deserialize;

use super::access::{AccessSection, CorsSection, RateLimitsSection, Reachable};
use super::auth::{Auth, AuthSection, Bootstrap, BootstrapSection};
use super::notifier::{NotifierSection, NotifierSettings, PhoneSection};
use super::providers::{PayoutSettings, PayoutsSection, TopupSettings, TopupsSection};
use super::requests::{FeesSection, Requests, RequestsSection, WalletSection};
use super::server::{Server, ServerSection};
use super::storage::{Storage, StorageSection};
use super::values::{DAY, Seconds};
use super::withdrawals::{AdjustmentsSection, WithdrawalsSection};
use super::{ConfigError, DeploymentEnvironment};
use crate::http::transport::rate_limits::Quotas;

/// Everything that can be configured, checked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the process is run for.
    pub environment: DeploymentEnvironment,
    /// Where it listens.
    pub server: Server,
    /// Where it keeps its data.
    pub storage: Storage,
    /// How people are recognised.
    pub auth: Auth,
    /// The one currency of the deployment.
    pub currency: Currency,
    /// Song requests.
    pub requests: Requests,
    /// How often the ledger checks itself; `None` means never.
    pub audit_interval: Option<std::time::Duration>,
    /// The terms of withdrawals.
    pub withdrawals: WithdrawalTerms,
    /// The terms of adjustments.
    pub adjustments: AdjustmentTerms,
    /// How people are sent messages.
    pub notifier: NotifierSettings,
    /// The most codes by phone within a day; `None` means any number.
    pub phone_codes_per_day: Option<NonZeroU32>,
    /// Taking the guests' money.
    pub topups: TopupSettings,
    /// Sending money out.
    pub payouts: PayoutSettings,
    /// The web pages whose scripts may call the API.
    pub cors_allowed_origins: Vec<String>,
    /// From where some routes can be reached.
    pub reachable: Reachable,
    /// How many calls are admitted; `None` means all.
    pub rate_limits: Option<Quotas>,
    /// The operator to make at start.
    pub bootstrap: Option<Bootstrap>,
}

/// The sections of the configuration: their fields are its keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sections {
    server: ServerSection,
    storage: StorageSection,
    auth: AuthSection,
    wallet: WalletSection,
    fees: FeesSection,
    requests: RequestsSection,
    ledger: LedgerSection,
    withdrawals: WithdrawalsSection,
    adjustments: AdjustmentsSection,
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

impl Sections {
    /// The settings, with every rule that compares keys or depends on the environment.
    pub(super) fn check(self, environment: DeploymentEnvironment) -> Result<Settings, ConfigError> {
        let currency = Currency::try_from(self.wallet)?;
        let audit_interval = self.ledger.audit_interval_seconds.to_std();
        Ok(Settings {
            environment,
            server: self.server.into(),
            storage: self.storage.check(environment)?,
            auth: self.auth.try_into()?,
            requests: self.requests.with_fees(&self.fees)?,
            audit_interval: (!audit_interval.is_zero()).then_some(audit_interval),
            withdrawals: self.withdrawals.check(&currency)?,
            adjustments: self.adjustments.check(&currency)?,
            notifier: self.notifier.check(environment)?,
            phone_codes_per_day: self.phone.codes_per_day(),
            topups: self.topups.check(environment)?,
            payouts: self.payouts.check(environment)?,
            cors_allowed_origins: self.cors.into(),
            reachable: self.access.into(),
            rate_limits: self.rate_limits.into(),
            bootstrap: self.bootstrap.check()?,
            currency,
        })
    }
}
