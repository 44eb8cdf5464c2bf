//! Idempotency keys of clients.

use crate::checksum::{ChecksumFields, sha256};
use crate::ids::UserId;

/// The bytes of the parts of most scopes, with their lengths.
const USUAL_PARTS: usize = 128;

/// The scope of a client's key: the user, the method and the path of the request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeyScope(pub [u8; 32]);

impl KeyScope {
    /// The scope of a key; each part is prefixed with its length, so that distinct scopes never collide.
    #[must_use]
    pub fn of(user: UserId, method: &str, path: &str, key: &str) -> Self {
        let mut parts = ChecksumFields::with_capacity(USUAL_PARTS);
        for part in [user.to_string().as_str(), method, path, key] {
            parts.push(part.as_bytes());
        }
        Self(parts.sha256())
    }
}

/// The fingerprint of a request: the SHA-256 of its raw body.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// The fingerprint of a body.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        Self(sha256(body))
    }
}

/// A client's key with the fingerprint of its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdempotencyKey {
    pub scope: KeyScope,
    /// The fingerprint of the request.
    pub fingerprint: Fingerprint,
}
