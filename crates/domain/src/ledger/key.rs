//! Idempotency keys: the same command sent twice is done once and answered twice.

use sha2::{Digest, Sha256};
use time::Duration;

use crate::ids::UserId;
use crate::ledger::{Receipt, StoredReceipt};
use crate::timestamp::Timestamp;

/// A client's key within its scope: the person, the method and the path that it was sent to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeyScope(pub [u8; 32]);

impl KeyScope {
    /// The scope of a key; each part counts with its length, so that no two scopes run together.
    #[must_use]
    pub fn of(user: UserId, method: &str, path: &str, key: &str) -> Self {
        let mut hasher = Sha256::new();
        for part in [user.to_string().as_str(), method, path, key] {
            let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
            hasher.update(length.to_be_bytes());
            hasher.update(part.as_bytes());
        }
        Self(hasher.finalize().into())
    }
}

/// What was sent with a key: the SHA-256 of the body as it came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// The fingerprint of a body.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }
}

/// A client's key and what came with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdempotencyKey {
    /// Whose key, for what.
    pub scope: KeyScope,
    /// What came with it.
    pub fingerprint: Fingerprint,
}

/// A key that was used, and what it was answered.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyRecord {
    /// The key and what came with it.
    pub key: IdempotencyKey,
    /// What it was answered.
    pub receipt: StoredReceipt,
    /// When it was used.
    pub at: Timestamp,
}

impl KeyRecord {
    /// How long a key is kept: as long as the whole answer that it stands for.
    pub const KEPT: Duration = Receipt::KEPT;

    /// Whether the key still stands for its first answer.
    #[must_use]
    pub fn is_kept(&self, now: Timestamp) -> bool {
        now < self.at.plus(Self::KEPT)
    }
}
