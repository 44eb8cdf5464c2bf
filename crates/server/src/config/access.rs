//! Who may reach what, and how often.

use std::num::NonZeroU32;

use super::ConfigError;
use super::values::Values;
use crate::http::transport::networks::Networks;
use crate::http::transport::rate_limits::Quotas;

/// The largest quota.
const MAX_QUOTA: NonZeroU32 = NonZeroU32::MIN.saturating_add(999_999);

/// Networks from which some routes can be reached.
#[derive(Clone, Debug)]
pub struct Reachable {
    /// The measurements.
    pub metrics: Networks,
    /// What operators do.
    pub operators: Networks,
}

pub(super) fn reachable(values: &Values) -> Result<Reachable, ConfigError> {
    Ok(Reachable {
        metrics: networks(values, "access.metrics_networks")?,
        operators: networks(values, "access.operator_networks")?,
    })
}

pub(super) fn networks(values: &Values, key: &str) -> Result<Networks, ConfigError> {
    Networks::parse(values.list(key)?).map_err(|error| ConfigError::new(key, error.to_string()))
}

/// The quotas; `None` where nothing is counted.
pub(super) fn rate_limits(values: &Values) -> Result<Option<Quotas>, ConfigError> {
    let quota = |key| values.required_number(key, NonZeroU32::MIN..=MAX_QUOTA);
    let quotas = Quotas {
        login: quota("rate_limits.login_per_minute")?,
        requests: quota("rate_limits.requests_per_minute")?,
        withdrawals: quota("rate_limits.withdrawals_per_minute")?,
        other: quota("rate_limits.default_per_minute")?,
        failed_logins: quota("rate_limits.failed_logins_per_minute")?,
        failed_logins_per_hour: quota("rate_limits.failed_logins_per_hour")?,
    };
    Ok(values.flag("rate_limits.enabled")?.then_some(quotas))
}
