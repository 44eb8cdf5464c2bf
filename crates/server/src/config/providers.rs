//! Who takes the guests' money and who sends money out.

use std::net::IpAddr;

use cuepoint_domain::topup::OrderTerms;
use cuepoint_domain::withdrawal::PayoutTerms;
use time::Duration;
use url::{Host, Url};

use super::values::{Values, missing};
use super::{ConfigError, Environment};
use crate::adapters::clock;
use crate::adapters::topups::LEASE;
use crate::adapters::webhooks::{CALL_WITHIN, SigningSecrets};

/// The longest that a withdrawal waits for its next attempt, in seconds.
const DAY: u32 = 86_400;
/// The longest first wait of a top-up for its next order, and the longest pause of a worker, in seconds.
const HOUR: u32 = 3_600;
/// The most attempts that a deployment can ask for.
const MOST_ATTEMPTS: u32 = 1_000;

/// How long a plan takes at most, as the ledger's port promises: a withdrawal is dated before, and sent after the plan that
/// takes it up.
const TAKEN_UP_WITHIN: Duration = Duration::seconds(5);

/// Taking the guests' money.
#[derive(Clone, Debug)]
pub struct Topups {
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
pub struct Payouts {
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

pub(super) fn topups(values: &Values, environment: Environment) -> Result<Topups, ConfigError> {
    let url = address(values, "topups.webhook_url", environment)?;
    let secrets = secrets(values, "topups.webhook_secrets")?;
    let provider = values.choice("topups.provider", &[("none", 0), ("sandbox", 1), ("webhook", 2)])?;
    let provider = match provider {
        0 => TopupProviderKind::None,
        1 => TopupProviderKind::Sandbox,
        _ => TopupProviderKind::Webhook(url),
    };
    let retry: u32 = values.required_number("topups.retry_seconds", 1..=HOUR)?;
    let days: u16 = values.required_number("topups.pending_days", 0..=365)?;
    Ok(Topups {
        provider,
        secrets,
        pending_for: Duration::days(i64::from(days)),
        terms: OrderTerms {
            max_attempts: values.required_number("topups.max_attempts", 1..=MOST_ATTEMPTS)?,
            retry_after: Duration::seconds(i64::from(retry)),
            lease: Duration::try_from(LEASE).unwrap_or(Duration::MAX),
        },
        poll_interval: poll_interval(values, "topups.poll_interval_seconds")?,
    })
}

pub(super) fn payouts(values: &Values, environment: Environment) -> Result<Payouts, ConfigError> {
    let url = address(values, "payouts.webhook_url", environment)?;
    let secrets = secrets(values, "payouts.webhook_secrets")?;
    let by_hand = values.choice("payouts.provider", &[("manual", true), ("webhook", false)])?;
    let provider = if by_hand {
        PayoutProviderKind::Manual
    } else {
        PayoutProviderKind::Webhook(url.ok_or_else(|| missing("payouts.webhook_url"))?)
    };
    let retry: u32 = values.required_number("payouts.retry_seconds", 1..=DAY)?;
    let retry_after = Duration::seconds(i64::from(retry));
    if !by_hand && environment != Environment::Test {
        ensure_calls_end_before_a_retry(retry_after)?;
    }
    Ok(Payouts {
        provider,
        secrets,
        terms: PayoutTerms {
            max_attempts: values.required_number("payouts.max_attempts", 1..=MOST_ATTEMPTS)?,
            retry_after,
        },
        poll_interval: poll_interval(values, "payouts.poll_interval_seconds")?,
    })
}

fn poll_interval(values: &Values, key: &str) -> Result<std::time::Duration, ConfigError> {
    let seconds: u32 = values.required_number(key, 1..=HOUR)?;
    Ok(std::time::Duration::from_secs(u64::from(seconds)))
}

/// Refuses a retry that may be due while the call before is under way, at a server whose clock is as far ahead as clocks may
/// be: the payout system would get the order twice at once. Test environments, whose providers are doubles, do not wait.
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

/// The secrets of a key, as a list or as one text with commas; no sentence about them shows one.
pub(super) fn secrets(values: &Values, key: &str) -> Result<SigningSecrets, ConfigError> {
    SigningSecrets::parse(values.list(key)?).map_err(|error| ConfigError::new(key, error.to_string()))
}

/// The address of a provider, if there is one; what leaves this machine in production is encrypted.
pub(super) fn address(
    values: &Values,
    key: &str,
    environment: Environment,
) -> Result<Option<Url>, ConfigError> {
    let Some(written) = values.text(key)? else { return Ok(None) };
    let url = Url::parse(written).ok().filter(|url| {
        let bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        bare && url.has_host() && matches!(url.scheme(), "http" | "https")
    });
    let url =
        url.ok_or_else(|| ConfigError::new(key, "must be an http(s) address without user and fragment"))?;
    if environment == Environment::Production && url.scheme() == "http" && !is_here(&url) {
        return Err(ConfigError::new(key, "must be https in production, unless it is on this machine"));
    }
    Ok(Some(url))
}

pub(super) fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // Where the scheme is not the web's, an address is read as a name.
        Some(Host::Domain(name)) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}
