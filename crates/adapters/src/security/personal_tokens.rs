//! Personal access tokens that were read from the store, so that a program's next requests read memory only.
//!
//! A token stays in memory for the lifetime of an access token. Each request compares it with the revocation list.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuepoint_domain::authorization::{Epoch, FoundToken, Principal, Revocation, TokenEnd};
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::ports::{PersonalTokens, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::personal_token::{PersonalToken, TokenScope};
use cuepoint_domain::user::session::TokenHash;
use hashlink::LruCache;
use thiserror::Error;
use time::Duration;

use super::verified;

/// The maximum number of tokens in memory; beyond it, the least recently used is evicted.
const MAX_TOKENS: usize = 4_096;

/// Why a personal access token is refused.
#[derive(Debug, Error)]
pub enum PersonalRefusal {
    /// No token has this secret.
    #[error("the personal access token is not known")]
    Unknown,
    /// The token has expired.
    #[error("the personal access token has expired")]
    Expired,
    /// The token was ended, or its owner is suspended.
    #[error(transparent)]
    Revoked(#[from] Revocation),
    /// The store cannot be read.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// A token that is kept.
#[derive(Clone, Debug)]
pub struct KeptToken {
    found: Arc<FoundToken>,
    epoch: Epoch,
    /// The time from which it has to be read again.
    read_again_at: Timestamp,
}

impl KeptToken {
    /// Returns the id of the token.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.found.token.id()
    }

    /// Returns what the token may read.
    #[must_use]
    pub fn scopes(&self) -> &BTreeSet<TokenScope> {
        &self.found.token.scopes
    }

    /// Returns the latest end of a stream with this token.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        self.read_again_at.min(self.found.token.session.expires_at)
    }

    /// Returns the principal of the token at `now`, before the comparison with the revocation list.
    ///
    /// # Errors
    /// [`PersonalRefusal::Expired`] and [`PersonalRefusal::Revoked`].
    pub fn principal(&self, now: Timestamp) -> Result<Principal, PersonalRefusal> {
        self.found.principal(now).map_err(|end| match end {
            TokenEnd::Expired => PersonalRefusal::Expired,
            TokenEnd::Ended => Revocation::SessionEnded.into(),
            TokenEnd::Suspended => Revocation::Suspended.into(),
        })
    }
}

/// What is known of a presented token without reading the store.
#[derive(Clone, Debug)]
pub enum KnownToken {
    /// It was read recently.
    Current(KeptToken),
    /// The token with this id was read before, and has to be read again.
    Outdated(SessionId),
    /// No such token is in memory.
    Unknown,
}

/// The tokens that this server has read.
pub struct KeptTokens {
    valid_for: Duration,
    kept: Mutex<LruCache<TokenHash, KeptToken>>,
}

impl fmt::Debug for KeptTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptTokens").finish_non_exhaustive()
    }
}

/// Whether the text of a credential is that of a personal access token.
#[must_use]
pub fn is_personal(token: &str) -> bool {
    token.starts_with(PersonalToken::PREFIX)
}

impl KeptTokens {
    /// Creates an empty memory, for a deployment whose access tokens are valid this long.
    #[must_use]
    pub fn new(valid_for: Duration) -> Self {
        Self { valid_for, kept: Mutex::new(LruCache::new(MAX_TOKENS)) }
    }

    /// Returns what is known of a token in the current epoch.
    #[must_use]
    pub fn known(&self, token: &str, epoch: Epoch, now: Timestamp) -> KnownToken {
        let hash = TokenHash(verified::hash(token));
        match self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&hash) {
            Some(kept) if kept.epoch == epoch && now < kept.read_again_at => {
                KnownToken::Current(kept.clone())
            }
            Some(kept) => KnownToken::Outdated(kept.id()),
            None => KnownToken::Unknown,
        }
    }

    /// Reads a token from the store, and keeps it.
    ///
    /// # Errors
    /// [`PersonalRefusal::Unknown`] and [`PersonalRefusal::Unavailable`].
    pub async fn read(
        &self,
        store: &(impl PersonalTokens + ?Sized),
        token: &str,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<KeptToken, PersonalRefusal> {
        let hash = TokenHash(verified::hash(token));
        let found = store.use_token(&hash, now).await?;
        let mut tokens = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = found.map(Arc::new) else {
            tokens.remove(&hash);
            return Err(PersonalRefusal::Unknown);
        };
        // A suspension can be lifted, and the revocation list no longer names it after a while.
        let kept_for = if found.owner.suspended { Duration::ZERO } else { self.valid_for };
        let kept = KeptToken { found, epoch, read_again_at: now.plus(kept_for) };
        tokens.insert(hash, kept.clone());
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::authorization::UserStatus;
    use cuepoint_domain::ids::UserId;
    use cuepoint_domain::ports::MockPersonalTokens;
    use cuepoint_domain::text::Line;
    use cuepoint_domain::user::Role;
    use cuepoint_domain::user::session::{ClientInfo, Session};

    use super::*;

    const SECRET: &str = "cpt_secret";
    const VALID_FOR: Duration = Duration::minutes(15);

    fn after(duration: Duration) -> Timestamp {
        Timestamp::EPOCH.plus(duration)
    }

    fn found(suspended: bool) -> FoundToken {
        let (id, user) = (SessionId::new(3).unwrap(), UserId::new(7).unwrap());
        let session =
            Session::begin(id, user, ClientInfo::default(), Timestamp::EPOCH, Duration::minutes(20));
        let name = Line::new("Display").unwrap();
        let token = PersonalToken { session, name, scopes: BTreeSet::from([TokenScope::GigsRead]) };
        FoundToken { token, ended_at: None, owner: UserStatus { role: Role::Member, is_dj: true, suspended } }
    }

    /// A store that returns this once.
    fn store(found: Option<FoundToken>) -> MockPersonalTokens {
        let mut store = MockPersonalTokens::new();
        let hash = TokenHash(verified::hash(SECRET));
        store
            .expect_use_token()
            .withf(move |asked, _| *asked == hash)
            .once()
            .returning(move |_, _| Ok(found.clone()));
        store
    }

    fn is_current(tokens: &KeptTokens, epoch: i64, now: Timestamp) -> bool {
        matches!(tokens.known(SECRET, Epoch(epoch), now), KnownToken::Current(_))
    }

    #[tokio::test]
    async fn a_token_is_kept_for_the_validity_of_an_access_token_and_for_one_epoch() {
        let tokens = KeptTokens::new(VALID_FOR);
        assert!(matches!(tokens.known(SECRET, Epoch(1), Timestamp::EPOCH), KnownToken::Unknown));
        let kept = tokens.read(&store(Some(found(false))), SECRET, Epoch(1), Timestamp::EPOCH).await.unwrap();
        assert_eq!(kept.until(), after(VALID_FOR));
        assert!(is_current(&tokens, 1, after(VALID_FOR - Duration::MICROSECOND)));
        assert!(!is_current(&tokens, 1, after(VALID_FOR)));
        assert!(!is_current(&tokens, 2, Timestamp::EPOCH));
        assert!(
            matches!(tokens.known(SECRET, Epoch(2), Timestamp::EPOCH), KnownToken::Outdated(id) if id == kept.id())
        );
    }

    #[tokio::test]
    async fn a_stream_relies_on_a_token_no_longer_than_the_token_is_valid() {
        let (tokens, now) = (KeptTokens::new(VALID_FOR), after(Duration::minutes(10)));
        let kept = tokens.read(&store(Some(found(false))), SECRET, Epoch(1), now).await.unwrap();
        assert_eq!(kept.until(), after(Duration::minutes(20)));
        assert!(kept.principal(after(Duration::minutes(19))).is_ok());
        let late = kept.principal(after(Duration::minutes(20)));
        assert!(matches!(late, Err(PersonalRefusal::Expired)), "{late:?}");
    }

    #[tokio::test]
    async fn a_token_of_a_suspended_user_is_read_again_and_a_deleted_one_is_forgotten() {
        let tokens = KeptTokens::new(VALID_FOR);
        let kept = tokens.read(&store(Some(found(true))), SECRET, Epoch(1), Timestamp::EPOCH).await.unwrap();
        let refused = kept.principal(Timestamp::EPOCH);
        assert!(matches!(refused, Err(PersonalRefusal::Revoked(Revocation::Suspended))), "{refused:?}");
        assert!(!is_current(&tokens, 1, Timestamp::EPOCH));
        let gone = tokens.read(&store(None), SECRET, Epoch(1), Timestamp::EPOCH).await;
        assert!(matches!(gone, Err(PersonalRefusal::Unknown)), "{gone:?}");
        assert!(matches!(tokens.known(SECRET, Epoch(1), Timestamp::EPOCH), KnownToken::Unknown));
    }
}
