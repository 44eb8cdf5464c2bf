//! Idempotency keys: the same command sent twice is done once and answered twice.

use sha2::{Digest, Sha256};
use thiserror::Error;
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
    /// The user and the purpose of the key.
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

    /// The receipt that answers a command with this key; `None` where the key is no longer kept, and so unused again.
    ///
    /// # Errors
    /// [`KeyReused`] where the key was used with another body.
    pub fn answer(&self, key: &IdempotencyKey, now: Timestamp) -> Result<Option<&StoredReceipt>, KeyReused> {
        if !self.is_kept(now) {
            return Ok(None);
        }
        if self.key == *key { Ok(Some(&self.receipt)) } else { Err(KeyReused) }
    }
}

/// The client's key stands for another body.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the idempotency key was used with another body")]
pub struct KeyReused;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::OperationId;

    #[test]
    fn a_kept_key_answers_its_own_body_alone() {
        let user = UserId::new(1).unwrap();
        let key = |body: &[u8]| IdempotencyKey {
            scope: KeyScope::of(user, "POST", "/", "k"),
            fingerprint: Fingerprint::of(body),
        };
        let receipt = StoredReceipt::Redacted { operation: OperationId(1), user };
        let record = KeyRecord { key: key(b"a"), receipt: receipt.clone(), at: Timestamp::EPOCH };
        let end = Timestamp::EPOCH.plus(KeyRecord::KEPT);
        let last = end.minus(Duration::MICROSECOND);
        assert_eq!(record.answer(&key(b"a"), last), Ok(Some(&receipt)));
        assert_eq!(record.answer(&key(b"b"), last), Err(KeyReused));
        assert_eq!(record.answer(&key(b"a"), end), Ok(None));
        assert_eq!(record.answer(&key(b"b"), end), Ok(None));
    }
}
