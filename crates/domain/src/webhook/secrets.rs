//! The secrets of an endpoint, encrypted.

use std::collections::BTreeMap;

use thiserror::Error;
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

    /// The time after which a secret that needs a missing signing key is lost: every server looks for such secrets
    /// each minute, and encrypts those of its keys anew.
    pub const LOST_AFTER: Duration = Duration::minutes(5);

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

/// The keys that encrypt the secrets of endpoints.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SecretKeys {
    /// The signing keys of access tokens, below
    /// [`FeatureLevel::Level2`](crate::operation::feature_level::FeatureLevel::Level2).
    Signing,
    /// Keys for nothing else.
    Webhooks,
}

/// The current secret of an endpoint cannot be decrypted with the keys of this server.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Error)]
#[error("the secret cannot be decrypted with the key {key}")]
pub struct UndecryptableSecret {
    /// The keys among which the key is missing or differs.
    pub keys: SecretKeys,
    /// The id of the key that encrypted it.
    pub key: String,
}

/// The number of endpoints for each key that is missing or differs.
pub type MissingKeys = BTreeMap<UndecryptableSecret, u64>;
