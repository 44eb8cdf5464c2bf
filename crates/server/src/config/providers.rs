//! Who takes the guests' money and who sends money out.

use cuepoint_domain::topup::OrderTerms;
use cuepoint_domain::withdrawal::PayoutTerms;
use serde::Deserialize;
use time::Duration;
use url::Url;

use super::urls::{HttpUrl, web_service};
use super::values::{Choice, DAY, HOUR, Seconds, Secret, Text, TextList, Whole, signing_secrets};
use super::{ConfigError, DeploymentEnvironment};
use crate::adapters::clock;
use crate::adapters::topups::LEASE;
use crate::adapters::webhooks::{CALL_WITHIN, SigningSecrets};

/// How long a plan takes at most, as the ledger's port promises: a withdrawal is dated before, and sent after the plan that
/// takes it up.
const TAKEN_UP_WITHIN: Duration = Duration::seconds(5);

/// Taking the guests' money.
#[derive(Clone, Debug)]
pub struct TopupSettings {
    /// Who does it.
    pub provider: TopupProviderKind,
    /// What calls to and from the provider are signed with.
    pub secrets: SigningSecrets,
    /// How long the money of a pending top-up may still come, which keeps its owner from being erased.
    pub pending_for: Duration,
    /// When a top-up is ordered again, and how often.
    pub terms: OrderTerms,
    /// How often the worker looks for top-ups to order.
    pub poll_interval: std::time::Duration,
}

/// Who takes the guests' money.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TopupProviderKind {
    /// Nobody.
    None,
    /// A pretended one that confirms at once.
    Sandbox,
    /// One that confirms by a signed call; top-ups are ordered at this address, if there is one.
    Webhook(Option<Url>),
}

/// Sending money out.
#[derive(Clone, Debug)]
pub struct PayoutSettings {
    /// Who does it.
    pub provider: PayoutProviderKind,
    /// What calls to and from the provider are signed with.
    pub secrets: SigningSecrets,
    /// When a withdrawal is sent again, and how often.
    pub terms: PayoutTerms,
    /// How often the worker looks for withdrawals to send.
    pub poll_interval: std::time::Duration,
}

/// Who sends money out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PayoutProviderKind {
    /// Operators, by hand.
    Manual,
    /// A payout system, by a signed call to this address.
    Webhook(Url),
}

type Attempts = Whole<u32, 1, 1_000>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopupsSection {
    provider: Choice<TopupChoice>,
    webhook_url: Option<Text<HttpUrl>>,
    pending_days: Whole<u16, 0, 365>,
    webhook_secrets: Option<Secret<TextList<SigningSecrets>>>,
    max_attempts: Attempts,
    retry_seconds: Seconds<1, HOUR>,
    poll_interval_seconds: Seconds<1, HOUR>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum TopupChoice {
    None,
    Sandbox,
    Webhook,
}

impl TopupsSection {
    pub(super) fn check(self, environment: DeploymentEnvironment) -> Result<TopupSettings, ConfigError> {
        let url = web_service("topups.webhook_url", self.webhook_url, environment)?;
        let provider = match self.provider.0 {
            TopupChoice::None => TopupProviderKind::None,
            TopupChoice::Sandbox if environment == DeploymentEnvironment::Production => {
                let reason = "sandbox is refused in production, because it gives money away";
                return Err(ConfigError::new("topups.provider", reason));
            }
            TopupChoice::Sandbox => TopupProviderKind::Sandbox,
            TopupChoice::Webhook => TopupProviderKind::Webhook(url),
        };
        Ok(TopupSettings {
            provider,
            secrets: signing_secrets(self.webhook_secrets),
            pending_for: Duration::days(i64::from(self.pending_days.0)),
            terms: OrderTerms {
                max_attempts: self.max_attempts.0,
                retry_after: self.retry_seconds.to_time(),
                lease: Duration::try_from(LEASE).unwrap_or(Duration::MAX),
            },
            poll_interval: self.poll_interval_seconds.to_std(),
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PayoutsSection {
    provider: Choice<PayoutChoice>,
    webhook_url: Option<Text<HttpUrl>>,
    webhook_secrets: Option<Secret<TextList<SigningSecrets>>>,
    max_attempts: Attempts,
    retry_seconds: Seconds<1, DAY>,
    poll_interval_seconds: Seconds<1, HOUR>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum PayoutChoice {
    Manual,
    Webhook,
}

impl PayoutsSection {
    pub(super) fn check(self, environment: DeploymentEnvironment) -> Result<PayoutSettings, ConfigError> {
        let url = web_service("payouts.webhook_url", self.webhook_url, environment)?;
        let retry_after = self.retry_seconds.to_time();
        let provider = match self.provider.0 {
            PayoutChoice::Manual => PayoutProviderKind::Manual,
            PayoutChoice::Webhook => {
                let url = url.ok_or_else(|| ConfigError::missing("payouts.webhook_url"))?;
                // The providers of tests are doubles that answer at once.
                if environment != DeploymentEnvironment::Test {
                    ensure_calls_end_before_a_retry(retry_after)?;
                }
                PayoutProviderKind::Webhook(url)
            }
        };
        Ok(PayoutSettings {
            provider,
            secrets: signing_secrets(self.webhook_secrets),
            terms: PayoutTerms { max_attempts: self.max_attempts.0, retry_after },
            poll_interval: self.poll_interval_seconds.to_std(),
        })
    }
}

/// Refuses a retry that may be due while the call before is under way, at a server whose clock is as far ahead as clocks may
/// be: the payout system would get the order twice at once.
fn ensure_calls_end_before_a_retry(retry_after: Duration) -> Result<(), ConfigError> {
    let call = Duration::try_from(CALL_WITHIN).unwrap_or(Duration::MAX);
    let least =
        [TAKEN_UP_WITHIN, call, clock::TOLERANCE].into_iter().fold(Duration::ZERO, Duration::saturating_add);
    if retry_after >= least {
        return Ok(());
    }
    let reason = format!(
        "must be at least {}: with less, a withdrawal could be sent again while the call before is under way",
        least.whole_seconds()
    );
    Err(ConfigError::new("payouts.retry_seconds", reason))
}
