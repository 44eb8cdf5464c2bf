//! Idempotency keys of clients.

use sha2::{Digest, Sha256};

use crate::ids::UserId;

/// The scope of a client's key: the user, the method and the path of the request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeyScope(pub [u8; 32]);

impl KeyScope {
    /// The scope of a key; each part is prefixed with its length, so that distinct scopes never collide.
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

/// The fingerprint of a request: the SHA-256 of its raw body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// The fingerprint of a body.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }
}

/// A client's key with the fingerprint of its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdempotencyKey {
    pub scope: KeyScope,
    /// The fingerprint of the request.
    pub fingerprint: Fingerprint,
}
