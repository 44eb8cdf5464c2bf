//! Refresh tokens and the families that were ended.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Exchange, Sessions, Unavailable};
use cuepoint_domain::session::{FamilyId, Presented, RefreshToken, TokenHash};
use cuepoint_domain::timestamp::Timestamp;

use crate::MemoryStore;

/// Refresh tokens, and which families were ended.
#[derive(Debug, Default)]
pub(crate) struct Families {
    tokens: HashMap<TokenHash, RefreshToken>,
    ended: HashSet<FamilyId>,
}

impl Families {
    /// Deletes tokens past their end, and the marks of families that have no token left.
    pub(crate) fn tidy(&mut self, now: Timestamp) {
        self.tokens.retain(|_, token| now < token.expires_at);
        let alive: HashSet<FamilyId> = self.tokens.values().map(|token| token.family).collect();
        self.ended.retain(|family| alive.contains(family));
    }

    /// Keeps the first token of a family.
    pub(crate) fn begin(&mut self, token: &RefreshToken) {
        self.tokens.insert(token.hash, token.clone());
    }

    fn exchange(
        &mut self,
        presented: &TokenHash,
        next: TokenHash,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Exchange {
        let Some(token) = self.tokens.get_mut(presented) else { return Exchange::Refused };
        let (family, user) = (token.family, token.user);
        if self.ended.contains(&family) {
            return Exchange::Refused;
        }
        match token.presented(now) {
            Presented::Refuse => Exchange::Refused,
            Presented::EndFamily => {
                self.ended.insert(family);
                Exchange::FamilyEnded(user)
            }
            Presented::Exchange => {
                token.used_at = Some(now);
                let next =
                    RefreshToken { hash: next, family, user, issued_at: now, expires_at, used_at: None };
                self.tokens.insert(next.hash, next);
                Exchange::Done(user)
            }
        }
    }
}

#[async_trait]
impl Sessions for MemoryStore {
    async fn begin(&self, token: &RefreshToken) -> Result<(), Unavailable> {
        self.lock()?.families.begin(token);
        Ok(())
    }

    async fn owner(&self, presented: &TokenHash) -> Result<Option<UserId>, Unavailable> {
        Ok(self.lock()?.families.tokens.get(presented).map(|token| token.user))
    }

    async fn exchange(
        &self,
        presented: &TokenHash,
        next: TokenHash,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Exchange, Unavailable> {
        Ok(self.lock()?.families.exchange(presented, next, expires_at, now))
    }

    async fn end(&self, presented: &TokenHash, _now: Timestamp) -> Result<(), Unavailable> {
        let families = &mut self.lock()?.families;
        if let Some(token) = families.tokens.get(presented) {
            families.ended.insert(token.family);
        }
        Ok(())
    }
}
