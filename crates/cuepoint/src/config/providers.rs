//! Settings for providers of top-ups and payouts.

use cuepoint_domain::money::{Amount, Currency};
use cuepoint_domain::topup::{GuestTopupLimits, OrderTerms, PaymentPages};
use cuepoint_domain::withdrawal::PayoutTerms;
use serde::Deserialize;
use time::Duration;
use url::Url;

use super::problems::Collector;
use super::urls::{HttpUrl, ReturnPage, link, web_service};
use super::values::{
    AmountText, Choice, DAY, HOUR, Seconds, Secret, TextList, TextValue, Whole, amount, amount_unless_zero,
    signing_secrets,
};
use super::{ConfigError, DeploymentEnvironment};
use cuepoint_adapters::clock;
use cuepoint_adapters::link_template::LinkTemplate;
use cuepoint_adapters::signed_messages::{CALL_WITHIN, SigningSecrets};
use cuepoint_adapters::topups::LEASE;

/// The maximum duration of a plan, as guaranteed by the port of the ledger: a withdrawal is dated before the
/// plan that claims it, and sent after it.
const TAKEN_UP_WITHIN: Duration = Duration::seconds(5);

/// The settings for top-ups.
#[derive(Clone, Debug)]
pub struct TopupSettings {
    /// The payment provider.
    pub provider: TopupProviderKind,
    /// The secrets that sign messages to and from the provider.
    pub secrets: SigningSecrets,
    /// The page to which a payment page sends the browser.
    pub return_page: Option<LinkTemplate>,
    /// The payment pages that payers are shown.
    pub payment_pages: PaymentPages,
    /// The smallest top-up; `None` means that every amount is enough.
    pub least: Option<Amount>,
    /// The limits of top-ups by guest accounts.
    pub of_guests: GuestTopupLimits,
    /// The time in which the money of a pending top-up may still arrive; until then its owner cannot be
    /// erased.
    pub pending_for: Duration,
    /// The retry interval and the maximum number of orders.
    pub terms: OrderTerms,
    /// The interval at which the worker looks for top-ups to order.
    pub poll_interval: std::time::Duration,
}

/// The payment provider of top-ups.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TopupProviderKind {
    None,
    /// A simulated provider that confirms at once.
    Sandbox,
    /// A simulated provider with a payment page of this service.
    SandboxPage,
    /// A provider that confirms by signed webhook. Top-ups are ordered at the URL, if there is one.
    Webhook(Option<Url>),
}

/// The settings for payouts.
#[derive(Clone, Debug)]
pub struct PayoutSettings {
    pub provider: PayoutProviderKind,
    /// The secrets that sign messages to and from the provider.
    pub secrets: SigningSecrets,
    /// The retry interval and the maximum number of attempts.
    pub terms: PayoutTerms,
    /// The interval at which the worker looks for withdrawals to send.
    pub poll_interval: std::time::Duration,
}

/// The payout provider.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PayoutProviderKind {
    /// Operators, who send payouts by hand.
    Manual,
    /// A payout system, which is called at this URL.
    Webhook(Url),
}

type Attempts = Whole<u32, 1, 1_000>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopupsSection {
    provider: Choice<TopupChoice>,
    sandbox: Choice<SandboxChoice>,
    webhook_url: Option<TextValue<HttpUrl>>,
    return_url: Option<TextValue<ReturnPage>>,
    min_amount: AmountText,
    guest_max_balance: Option<AmountText>,
    guest_max_per_24h: Option<AmountText>,
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

/// How the sandbox ends a payment.
#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SandboxChoice {
    Immediate,
    Page,
}

impl TopupsSection {
    pub(super) fn check(
        self,
        environment: DeploymentEnvironment,
        currency: &Currency,
        errors: &mut Collector,
    ) -> Option<TopupSettings> {
        let url = errors.keep(web_service("topups.webhook_url", self.webhook_url, environment));
        let provider = match self.provider.0 {
            TopupChoice::None => Some(TopupProviderKind::None),
            TopupChoice::Sandbox if environment == DeploymentEnvironment::Production => {
                let reason = "sandbox is refused in production, because it gives money away";
                errors.keep(Err(ConfigError::new("topups.provider", reason)))
            }
            TopupChoice::Sandbox => Some(match self.sandbox.0 {
                SandboxChoice::Immediate => TopupProviderKind::Sandbox,
                SandboxChoice::Page => TopupProviderKind::SandboxPage,
            }),
            TopupChoice::Webhook => url.map(TopupProviderKind::Webhook),
        };
        if self.sandbox.0 == SandboxChoice::Page && environment == DeploymentEnvironment::Production {
            let reason = "page is refused in production, because everybody can confirm payments there";
            errors.keep::<()>(Err(ConfigError::new("topups.sandbox", reason)));
        }
        let return_page = self.return_url.map(|TextValue(ReturnPage(link))| link);
        let return_page = errors.keep(link("topups.return_url", return_page, environment));
        let least = errors.keep(amount_unless_zero("topups.min_amount", Some(self.min_amount), currency));
        let mut sum = |key, text| errors.keep(amount(key, text, currency));
        let most_in_wallet = sum("topups.guest_max_balance", self.guest_max_balance);
        let most_per_24h = sum("topups.guest_max_per_24h", self.guest_max_per_24h);
        Some(TopupSettings {
            provider: provider?,
            return_page: return_page?,
            payment_pages: match environment {
                DeploymentEnvironment::Production => PaymentPages::Encrypted,
                DeploymentEnvironment::Development | DeploymentEnvironment::Test => PaymentPages::All,
            },
            least: least?,
            of_guests: GuestTopupLimits { most_in_wallet: most_in_wallet?, most_per_24h: most_per_24h? },
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
    webhook_url: Option<TextValue<HttpUrl>>,
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
                // Test providers are doubles that answer at once.
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

/// Refuses a retry interval so short that a server with the fastest tolerated clock could repeat a call still
/// in flight: the payout system would receive the order twice at once.
fn ensure_calls_end_before_a_retry(retry_after: Duration) -> Result<(), ConfigError> {
    let call = Duration::try_from(CALL_WITHIN).unwrap_or(Duration::MAX);
    let least =
        [TAKEN_UP_WITHIN, call, clock::TOLERANCE].into_iter().fold(Duration::ZERO, Duration::saturating_add);
    if retry_after >= least {
        return Ok(());
    }
    let reason = format!(
        "must be at least {}: with less, a withdrawal could be sent again while the previous call is in progress",
        least.whole_seconds()
    );
    Err(ConfigError::new("payouts.retry_seconds", reason))
}
