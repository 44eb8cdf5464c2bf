//! Tokens that were verified before, so that one that is used again is not verified again.
//!
//! It holds what a token said, under its hash, for a part of the time in which verifying would say the same: between
//! its own beginning and end, while the keys stay as they are. Whether its session ended is asked each time, elsewhere.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuepoint_domain::authorization::{Epoch, Principal};
use cuepoint_domain::timestamp::Timestamp;
use hashlink::LruCache;
use sha2::{Digest, Sha256};

use super::keys::KeyRing;

/// The most tokens that are remembered, some two megabytes; past them, the one that was not used for longest is not.
const MAX_TOKENS: usize = 16_384;

/// What stands for a token; nobody gets the token back from it.
pub(super) type TokenDigest = [u8; 32];

/// Who calls with a token, and while that is certain.
#[derive(Clone, Copy)]
pub(super) struct VerifiedToken {
    pub(super) caller: Principal,
    /// The first moment.
    pub(super) from: Timestamp,
    /// The first moment after it.
    pub(super) until: Timestamp,
}

/// What tokens are verified by: those of another ring or epoch are verified anew.
#[derive(Clone)]
pub(super) struct Verifier {
    pub(super) ring: Arc<KeyRing>,
    pub(super) epoch: Epoch,
}

/// The tokens that one verifier found valid.
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
    /// The tokens of this verifier; those of another one are forgotten.
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

/// What a token is remembered under.
pub(super) fn hash(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

impl VerifiedTokens {
    /// Who calls with the token of this hash, if this verifier found it valid and it still counts.
    pub(super) fn find(&self, verifier: &Verifier, hash: &TokenDigest, now: Timestamp) -> Option<Principal> {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let verified = remembered.of(verifier).get(hash)?;
        (verified.from <= now && now < verified.until).then_some(verified.caller)
    }

    /// Remembers a token that this verifier found valid.
    pub(super) fn remember(&self, verifier: &Verifier, hash: TokenDigest, verified: VerifiedToken) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.of(verifier).insert(hash, verified);
    }
}
