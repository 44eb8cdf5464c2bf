//! Used idempotency keys: a command sent twice is executed once and answered twice.

use thiserror::Error;
use time::Duration;

use crate::operation::{IdempotencyKey, Receipt, StoredReceipt};
use crate::timestamp::Timestamp;

/// A used key and its answer.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyRecord {
    /// The key with its fingerprint.
    pub key: IdempotencyKey,
    /// The receipt that answered it.
    pub receipt: StoredReceipt,
    /// The time of use.
    pub at: Timestamp,
}

impl KeyRecord {
    /// The retention of a key, equal to the retention of its complete receipt.
    pub const RETENTION: Duration = Receipt::RETENTION;

    /// Whether the key is within its retention.
    #[must_use]
    pub fn is_kept(&self, now: Timestamp) -> bool {
        now < self.at.plus(Self::RETENTION)
    }

    /// The receipt that answers a command with this key; `None` if the key has expired.
    ///
    /// # Errors
    /// [`KeyReused`] if the key was used with another body.
    pub fn answer(&self, key: &IdempotencyKey, now: Timestamp) -> Result<Option<&StoredReceipt>, KeyReused> {
        if !self.is_kept(now) {
            return Ok(None);
        }
        if self.key == *key { Ok(Some(&self.receipt)) } else { Err(KeyReused) }
    }
}

/// The client's key was used with another body.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the idempotency key was used with another body")]
pub struct KeyReused;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{OperationId, UserId};
    use crate::operation::{Fingerprint, KeyScope};

    #[test]
    fn an_unexpired_idempotency_key_can_be_reused_only_with_the_same_body() {
        let user = UserId::new(1).unwrap();
        let key = |body: &[u8]| IdempotencyKey {
            scope: KeyScope::of(user, "POST", "/", "k"),
            fingerprint: Fingerprint::of(body),
        };
        let receipt = StoredReceipt::Redacted { operation: OperationId(1), user };
        let record = KeyRecord { key: key(b"a"), receipt: receipt.clone(), at: Timestamp::EPOCH };
        let end = Timestamp::EPOCH.plus(KeyRecord::RETENTION);
        let last = end.minus(Duration::MICROSECOND);
        assert_eq!(record.answer(&key(b"a"), last), Ok(Some(&receipt)));
        assert_eq!(record.answer(&key(b"b"), last), Err(KeyReused));
        assert_eq!(record.answer(&key(b"a"), end), Ok(None));
        assert_eq!(record.answer(&key(b"b"), end), Ok(None));
    }
}
