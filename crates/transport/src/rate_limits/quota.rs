//! The quota of a class of requests after a request was counted or refused.

/// An exhausted quota, for the headers of a 429.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quota {
    /// The name of the quota, which is its configuration key if it has one.
    pub resource: &'static str,
    /// Calls per window, which is a minute unless the contract says otherwise.
    pub limit: u32,
    /// Seconds until the next call is admitted.
    pub retry_after_seconds: u32,
    /// Seconds until the quota is full.
    pub reset_seconds: u32,
}

/// The quota of an admitted request after it was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimitStatus {
    /// The name of the quota, as in [`Quota`].
    pub resource: &'static str,
    /// Requests per window, as in [`Quota`].
    pub limit: u32,
    /// Requests that would be admitted now.
    pub remaining: u32,
    /// Seconds until the quota is full.
    pub reset_seconds: u32,
}

impl From<Quota> for RateLimitStatus {
    fn from(quota: Quota) -> Self {
        let Quota { resource, limit, reset_seconds, .. } = quota;
        Self { resource, limit, remaining: 0, reset_seconds }
    }
}
