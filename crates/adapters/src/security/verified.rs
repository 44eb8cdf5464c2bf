//! A cache of verified tokens, so that a token is not verified on every request.
//!
//! It maps the hash of a token to its principal while verification would give the same result: during the
//! token's validity, as long as the key ring is unchanged. Revocation is checked on every request, elsewhere.
//!
//! A forged token is never found, because it differs from every verified token, and no two texts with the same SHA-256
//! are known. The hash covers the signature too. The tokens themselves would take several megabytes more.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuepoint_domain::authorization::{Epoch, Principal};
use cuepoint_domain::timestamp::Timestamp;
use hashlink::LruCache;
use ring::digest::{SHA256, digest};

use super::keys::KeyRing;

/// The maximum number of cached tokens, about two megabytes; beyond it, the least recently used is evicted.
const MAX_TOKENS: usize = 16_384;

/// The hash of a token, from which the token cannot be recovered.
pub(super) type TokenDigest = [u8; 32];

/// The principal of a token and the period in which the token is valid.
#[derive(Clone, Copy)]
pub(super) struct VerifiedToken {
    pub(super) caller: Principal,
    /// The start of the period, inclusive.
    pub(super) from: Timestamp,
    /// The end of the period, exclusive.
    pub(super) until: Timestamp,
}

/// The key ring and epoch that tokens are verified against; a change of either invalidates the cache.
#[derive(Clone)]
pub(super) struct Verifier {
    pub(super) ring: Arc<KeyRing>,
    pub(super) epoch: Epoch,
}

/// The tokens that one verifier accepted.
pub(super) struct VerifiedTokens(Mutex<Remembered>);

struct Remembered {
    verifier: Option<Verifier>,
    tokens: LruCache<TokenDigest, VerifiedToken>,
}

impl fmt::Debug for VerifiedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedTokens").finish_non_exhaustive()
    }
}

impl Default for VerifiedTokens {
    fn default() -> Self {
        Self(Mutex::new(Remembered { verifier: None, tokens: LruCache::new(MAX_TOKENS) }))
    }
}

impl Remembered {
    /// Returns the tokens of this verifier, after dropping the tokens of other verifiers.
    fn of(&mut self, verifier: &Verifier) -> &mut LruCache<TokenDigest, VerifiedToken> {
        let is_same =
            |known: &Verifier| Arc::ptr_eq(&known.ring, &verifier.ring) && known.epoch == verifier.epoch;
        if !self.verifier.as_ref().is_some_and(is_same) {
            self.tokens.clear();
            self.verifier = Some(verifier.clone());
        }
        &mut self.tokens
    }
}

/// Returns the hash under which a token is cached.
pub(super) fn hash(token: &str) -> TokenDigest {
    let mut hash = TokenDigest::default();
    // Without a processor's instructions for SHA-256, `ring` executes a third fewer than `sha2`.
    hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    hash
}

impl VerifiedTokens {
    /// Returns a cached token if this verifier accepted it and it is still valid.
    pub(super) fn find(
        &self,
        verifier: &Verifier,
        hash: &TokenDigest,
        now: Timestamp,
    ) -> Option<VerifiedToken> {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let verified = *remembered.of(verifier).get(hash)?;
        (verified.from <= now && now < verified.until).then_some(verified)
    }

    /// Caches a token that this verifier accepted.
    pub(super) fn remember(&self, verifier: &Verifier, hash: TokenDigest, verified: VerifiedToken) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.of(verifier).insert(hash, verified);
    }
}
