//! Tokens that were verified before, so that one that is used again is not verified again.
//!
//! It holds what a token said, under its hash, for a part of the time in which verifying would say the same: between
//! its own beginning and end, while the keys stay as they are. Whether its session ended is asked each time, elsewhere.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuepoint_domain::access::Caller;
use cuepoint_domain::timestamp::Timestamp;
use hashlink::LruCache;
use sha2::{Digest, Sha256};

use super::keys::KeyRing;

/// The most tokens that are remembered, some two megabytes; past them, the one that was not used for longest is not.
const MAX_TOKENS: usize = 16_384;

/// What stands for a token; nobody gets the token back from it.
pub(super) type TokenHash = [u8; 32];

/// Who calls with a token, and while that is certain.
#[derive(Clone, Copy)]
pub(super) struct Verified {
    pub(super) caller: Caller,
    /// The first moment.
    pub(super) from: Timestamp,
    /// The first moment after it.
    pub(super) until: Timestamp,
}

/// The tokens that one ring of keys verified.
pub(super) struct VerifiedTokens(Mutex<Remembered>);

struct Remembered {
    ring: Option<Arc<KeyRing>>,
    tokens: LruCache<TokenHash, Verified>,
}

impl fmt::Debug for VerifiedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedTokens").finish_non_exhaustive()
    }
}

impl Default for VerifiedTokens {
    fn default() -> Self {
        Self(Mutex::new(Remembered { ring: None, tokens: LruCache::new(MAX_TOKENS) }))
    }
}

impl Remembered {
    /// The tokens of this ring; those of another one are forgotten.
    fn of(&mut self, ring: &Arc<KeyRing>) -> &mut LruCache<TokenHash, Verified> {
        if !self.ring.as_ref().is_some_and(|known| Arc::ptr_eq(known, ring)) {
            self.tokens.clear();
            self.ring = Some(Arc::clone(ring));
        }
        &mut self.tokens
    }
}

/// What a token is remembered under.
pub(super) fn hash(token: &str) -> TokenHash {
    Sha256::digest(token.as_bytes()).into()
}

impl VerifiedTokens {
    /// Who calls with the token of this hash, if this ring verified it and it still counts.
    pub(super) fn find(&self, ring: &Arc<KeyRing>, hash: &TokenHash, now: Timestamp) -> Option<Caller> {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let verified = remembered.of(ring).get(hash)?;
        (verified.from <= now && now < verified.until).then_some(verified.caller)
    }

    /// Remembers a token that this ring verified.
    pub(super) fn remember(&self, ring: &Arc<KeyRing>, hash: TokenHash, verified: Verified) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.of(ring).insert(hash, verified);
    }
}
