//! The secrets of an endpoint, encrypted.

use time::Duration;

use crate::timestamp::Timestamp;

/// A secret, encrypted by the adapter that signs deliveries: a text without white space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SealedSecret(pub String);

/// The secrets of an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndpointSecrets {
    /// The secret of new receivers.
    pub current: SealedSecret,
    /// Previous secrets, the newest first, with the time until which they sign as well.
    pub previous: Vec<(SealedSecret, Timestamp)>,
}

impl EndpointSecrets {
    /// The time for which a previous secret signs beside the current one.
    pub const PREVIOUS_FOR: Duration = Duration::hours(24);
    /// The maximum number of previous secrets; older ones stop signing early.
    pub const MAX_PREVIOUS: usize = 5;

    /// The first secret.
    #[must_use]
    pub const fn new(current: SealedSecret) -> Self {
        Self { current, previous: Vec::new() }
    }

    /// The secrets after a rotation.
    #[must_use]
    pub fn rotated(&self, current: SealedSecret, at: Timestamp) -> Self {
        let kept = self.previous.iter().filter(|(_, until)| *until > at).cloned();
        let last = (self.current.clone(), at.plus(Self::PREVIOUS_FOR));
        Self { current, previous: std::iter::once(last).chain(kept).take(Self::MAX_PREVIOUS).collect() }
    }

    /// The secrets that sign now, the current one first.
    pub fn signing(&self, now: Timestamp) -> impl Iterator<Item = &SealedSecret> {
        let previous = self.previous.iter().filter(move |(_, until)| *until > now).map(|(secret, _)| secret);
        std::iter::once(&self.current).chain(previous)
    }
}
