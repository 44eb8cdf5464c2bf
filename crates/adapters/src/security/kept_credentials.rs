//! Personal access tokens and cookies that were read from the store, so that the next requests with them read memory
//! only.
//!
//! A credential stays in memory for the lifetime of an access token. Each request compares it with the revocation list.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuepoint_domain::authorization::{
    Credential, CredentialEnd, Epoch, FoundCredential, Principal, Revocation, UserStatus,
};
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::ports::{PersonalTokens, Sessions, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::cookie_session::CookieSession;
use cuepoint_domain::user::personal_token::PersonalToken;
use cuepoint_domain::user::session::TokenHash;
use hashlink::LruCache;
use thiserror::Error;
use time::Duration;

use super::revocations::RevocationCache;
use super::unknown_cookies::UnknownCookies;
use super::verified;

/// The maximum number of personal access tokens in memory; beyond it, the least recently used is evicted.
const MAX_TOKENS: usize = 4_096;
/// The maximum number of cookies in memory.
const MAX_COOKIES: usize = 16_384;

/// Why a personal access token or a cookie is refused.
#[derive(Debug, Error)]
pub enum CredentialRefusal {
    /// No stored credential has this secret.
    #[error("the credential is not known")]
    Unknown,
    /// The credential has expired.
    #[error("the credential has expired")]
    Expired,
    /// The credential was ended, or its owner is suspended.
    #[error(transparent)]
    Revoked(#[from] Revocation),
    /// The store cannot be read.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

impl From<CredentialEnd> for CredentialRefusal {
    fn from(end: CredentialEnd) -> Self {
        match end {
            CredentialEnd::Expired => Self::Expired,
            CredentialEnd::Ended => Revocation::SessionEnded.into(),
            CredentialEnd::Suspended => Revocation::Suspended.into(),
        }
    }
}

/// A credential that is kept.
#[derive(Debug)]
pub struct Kept<C> {
    found: Arc<FoundCredential<C>>,
    epoch: Epoch,
    /// The time from which it has to be read again.
    read_again_at: Timestamp,
}

impl<C> Clone for Kept<C> {
    fn clone(&self) -> Self {
        Self { found: Arc::clone(&self.found), ..*self }
    }
}

impl<C: Credential> Kept<C> {
    /// Returns the id of the session.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.found.credential.session().id
    }

    /// Returns the credential.
    #[must_use]
    pub fn credential(&self) -> &C {
        &self.found.credential
    }

    /// Returns the status of its owner when it was read.
    #[must_use]
    pub fn owner(&self) -> UserStatus {
        self.found.owner
    }

    /// Returns the latest end of a stream with this credential.
    #[must_use]
    pub fn until(&self) -> Timestamp {
        self.read_again_at.min(self.expires_at())
    }

    /// Returns the time from which the credential is refused, unless it is used before.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.found.expires_at()
    }

    /// Returns the current principal of the credential at `now`.
    ///
    /// # Errors
    /// [`CredentialRefusal::Expired`] and [`CredentialRefusal::Revoked`].
    pub fn principal(
        &self,
        revocations: &RevocationCache,
        now: Timestamp,
    ) -> Result<Principal, CredentialRefusal> {
        Ok(revocations.check(self.found.principal(now)?)?)
    }

    /// Whether it can be used at `now` without reading it again: not in another epoch, and not after a change of its
    /// owner's status, because both the lifetime of a cookie and a claim follow from the status.
    fn is_current(&self, revocations: &RevocationCache, now: Timestamp) -> bool {
        let changed = self
            .found
            .principal(now)
            .is_ok_and(|principal| revocations.check(principal).is_ok_and(|current| current != principal));
        self.epoch == revocations.epoch() && now < self.read_again_at && !changed
    }
}

/// What is known of a presented credential without reading the store.
#[derive(Clone, Debug)]
pub enum Known<C> {
    /// It was read recently.
    Current(Kept<C>),
    /// The credential of this session was read before, and has to be read again.
    Outdated(SessionId),
    /// No such credential is in memory.
    Unknown,
}

/// Credentials of one kind that this server has read.
struct KeptCredentials<C> {
    valid_for: Duration,
    kept: Mutex<LruCache<TokenHash, Kept<C>>>,
}

impl<C: Credential> KeptCredentials<C> {
    fn new(valid_for: Duration, most: usize) -> Self {
        Self { valid_for, kept: Mutex::new(LruCache::new(most)) }
    }

    fn known(&self, secret: &str, revocations: &RevocationCache, now: Timestamp) -> Known<C> {
        let hash = TokenHash(verified::hash(secret));
        match self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&hash) {
            Some(kept) if kept.is_current(revocations, now) => Known::Current(kept.clone()),
            Some(kept) => Known::Outdated(kept.id()),
            None => Known::Unknown,
        }
    }

    /// Keeps what was read from the store.
    ///
    /// # Errors
    /// [`CredentialRefusal::Unknown`] if nothing was found.
    fn keep(
        &self,
        hash: TokenHash,
        found: Option<FoundCredential<C>>,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<Kept<C>, CredentialRefusal> {
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = found.map(Arc::new) else {
            all.remove(&hash);
            return Err(CredentialRefusal::Unknown);
        };
        // A suspension can be lifted, and the revocation list no longer names it after a while.
        let kept_for = if found.owner.suspended { Duration::ZERO } else { self.valid_for };
        let kept = Kept { found, epoch, read_again_at: now.plus(kept_for) };
        all.insert(hash, kept.clone());
        Ok(kept)
    }
}

/// A personal access token that is kept.
pub type KeptToken = Kept<PersonalToken>;

/// A session with a cookie that is kept.
pub type KeptCookie = Kept<CookieSession>;

/// Whether the text of a credential is that of a personal access token.
#[must_use]
pub fn is_personal(token: &str) -> bool {
    token.starts_with(PersonalToken::PREFIX)
}

/// The personal access tokens that this server has read.
pub struct KeptTokens(KeptCredentials<PersonalToken>);

impl fmt::Debug for KeptTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptTokens").finish_non_exhaustive()
    }
}

impl KeptTokens {
    /// Creates an empty memory, for a deployment with access tokens that are valid this long.
    #[must_use]
    pub fn new(valid_for: Duration) -> Self {
        Self(KeptCredentials::new(valid_for, MAX_TOKENS))
    }

    /// Returns what is known of a token in the current epoch.
    #[must_use]
    pub fn known(&self, token: &str, revocations: &RevocationCache, now: Timestamp) -> Known<PersonalToken> {
        self.0.known(token, revocations, now)
    }

    /// Reads a token from the store, and keeps it.
    ///
    /// # Errors
    /// [`CredentialRefusal::Unknown`] and [`CredentialRefusal::Unavailable`].
    pub async fn read(
        &self,
        store: &(impl PersonalTokens + ?Sized),
        token: &str,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<KeptToken, CredentialRefusal> {
        let hash = TokenHash(verified::hash(token));
        let found = store.use_token(&hash, now).await?;
        self.0.keep(hash, found, epoch, now)
    }
}

/// The sessions of browsers that this server has read.
pub struct KeptCookies {
    kept: KeptCredentials<CookieSession>,
    unknown: UnknownCookies,
    /// The validity of a cookie after its last use.
    cookie_for: Duration,
}

impl fmt::Debug for KeptCookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptCookies").finish_non_exhaustive()
    }
}

impl KeptCookies {
    /// Creates an empty memory, for a deployment whose access tokens are valid for `valid_for`, and cookies for
    /// `cookie_for` after their last use. A cookie is read again in time to record each hour of its use.
    #[must_use]
    pub fn new(valid_for: Duration, cookie_for: Duration) -> Self {
        let valid_for = valid_for.min(CookieSession::RECORDED_EVERY);
        let kept = KeptCredentials::new(valid_for, MAX_COOKIES);
        Self { kept, unknown: UnknownCookies::new(), cookie_for }
    }

    /// Returns whether this text is no cookie, or no session had it when it was looked up within the last minute.
    #[must_use]
    pub fn has_no_session(&self, cookie: &str, epoch: Epoch, now: Timestamp) -> bool {
        !CookieSession::is_well_formed(cookie)
            || self.unknown.contains(&TokenHash(verified::hash(cookie)), epoch, now)
    }

    /// Forgets that this cookie was unknown, because a session began with it.
    pub fn forget_as_unknown(&self, cookie: &str) {
        self.unknown.forget(&TokenHash(verified::hash(cookie)));
    }

    /// Returns what is known of a cookie in the current epoch.
    #[must_use]
    pub fn known(&self, cookie: &str, revocations: &RevocationCache, now: Timestamp) -> Known<CookieSession> {
        self.kept.known(cookie, revocations, now)
    }

    /// Reads the session of a cookie from the store, which records the use and the client's network at most once an
    /// hour, and keeps it.
    ///
    /// # Errors
    /// [`CredentialRefusal::Unknown`] and [`CredentialRefusal::Unavailable`].
    pub async fn read(
        &self,
        store: &(impl Sessions + ?Sized),
        cookie: &str,
        network: Option<ClientNetwork>,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<KeptCookie, CredentialRefusal> {
        if !CookieSession::is_well_formed(cookie) {
            return Err(CredentialRefusal::Unknown);
        }
        let hash = TokenHash(verified::hash(cookie));
        let found = store.use_cookie(&hash, network, self.cookie_for, now).await?;
        if found.is_none() {
            self.unknown.remember(hash, epoch, now);
        }
        self.kept.keep(hash, found, epoch, now)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cuepoint_domain::authorization::{FoundCookie, FoundToken, RevocationList, UserStatus};
    use cuepoint_domain::ids::UserId;
    use cuepoint_domain::ports::{MockPersonalTokens, MockSessions};
    use cuepoint_domain::text::Line;
    use cuepoint_domain::user::Role;
    use cuepoint_domain::user::personal_token::TokenScope;
    use cuepoint_domain::user::session::{ClientInfo, Session};

    use super::*;
    use crate::clock::ServiceClock;

    const SECRET: &str = "cpt_secret";
    const COOKIE: &str = "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c";
    const VALID_FOR: Duration = Duration::minutes(15);
    const MEMBER: UserStatus = UserStatus { role: Role::Member, is_dj: false, suspended: false };

    fn after(duration: Duration) -> Timestamp {
        Timestamp::EPOCH.plus(duration)
    }

    fn user() -> UserId {
        UserId::new(7).unwrap()
    }

    fn session() -> Session {
        let id = SessionId::new(3).unwrap();
        Session::begin(id, user(), ClientInfo::default(), Timestamp::EPOCH, Duration::minutes(20))
    }

    /// A revocation list of this epoch, with this status of the user.
    async fn revoked(epoch: i64, status: Option<UserStatus>, ended: bool) -> RevocationCache {
        let mut sessions = MockSessions::new();
        sessions.expect_revoked_since().returning(move |_| {
            Ok(RevocationList {
                epoch: Epoch(epoch),
                sessions: ended.then(|| session().id).into_iter().collect(),
                statuses: status.map(|status| (user(), status)).into_iter().collect(),
                storage_time: None,
            })
        });
        let (revocations, clock) = (RevocationCache::new(VALID_FOR), ServiceClock::default());
        revocations.refresh(&sessions, &clock).await.unwrap();
        revocations
    }

    async fn epoch(epoch: i64) -> RevocationCache {
        revoked(epoch, None, false).await
    }

    fn found_token(suspended: bool) -> FoundToken {
        let name = Line::new("Display").unwrap();
        let token =
            PersonalToken { session: session(), name, scopes: BTreeSet::from([TokenScope::GigsRead]) };
        let owner = UserStatus { is_dj: true, suspended, ..MEMBER };
        FoundToken { credential: token, ended_at: None, owner }
    }

    fn found_cookie(owner: UserStatus) -> FoundCookie {
        FoundCookie { credential: CookieSession(session()), ended_at: None, owner }
    }

    /// A store that returns this once.
    fn tokens(found: Option<FoundToken>) -> MockPersonalTokens {
        let mut store = MockPersonalTokens::new();
        let hash = TokenHash(verified::hash(SECRET));
        store
            .expect_use_token()
            .withf(move |asked, _| *asked == hash)
            .once()
            .returning(move |_, _| Ok(found.clone()));
        store
    }

    /// A store that returns this once.
    fn cookies(found: Option<FoundCookie>) -> MockSessions {
        let mut store = MockSessions::new();
        let hash = TokenHash(verified::hash(COOKIE));
        store
            .expect_use_cookie()
            .withf(move |asked, _, valid_for, _| *asked == hash && *valid_for == Duration::days(90))
            .once()
            .returning(move |_, _, _, _| Ok(found.clone()));
        store
    }

    fn kept_cookies() -> KeptCookies {
        KeptCookies::new(VALID_FOR, Duration::days(90))
    }

    /// Reads the cookie of a member at the epoch.
    async fn read(kept: &KeptCookies) -> KeptCookie {
        let store = cookies(Some(found_cookie(MEMBER)));
        kept.read(&store, COOKIE, None, Epoch(1), Timestamp::EPOCH).await.unwrap()
    }

    fn is_current(tokens: &KeptTokens, revocations: &RevocationCache, now: Timestamp) -> bool {
        matches!(tokens.known(SECRET, revocations, now), Known::Current(_))
    }

    #[tokio::test]
    async fn a_token_is_kept_for_the_validity_of_an_access_token_and_for_one_epoch() {
        let (kept, first, second) = (KeptTokens::new(VALID_FOR), epoch(1).await, epoch(2).await);
        assert!(matches!(kept.known(SECRET, &first, Timestamp::EPOCH), Known::Unknown));
        let store = tokens(Some(found_token(false)));
        let token = kept.read(&store, SECRET, Epoch(1), Timestamp::EPOCH).await.unwrap();
        assert_eq!(token.until(), after(VALID_FOR));
        assert!(is_current(&kept, &first, after(VALID_FOR - Duration::MICROSECOND)));
        assert!(!is_current(&kept, &first, after(VALID_FOR)));
        assert!(!is_current(&kept, &second, Timestamp::EPOCH));
        assert!(
            matches!(kept.known(SECRET, &second, Timestamp::EPOCH), Known::Outdated(id) if id == token.id())
        );
    }

    #[tokio::test]
    async fn a_stream_relies_on_a_token_no_longer_than_the_token_is_valid() {
        let (kept, now, list) = (KeptTokens::new(VALID_FOR), after(Duration::minutes(10)), epoch(1).await);
        let token = kept.read(&tokens(Some(found_token(false))), SECRET, Epoch(1), now).await.unwrap();
        assert_eq!(token.until(), after(Duration::minutes(20)));
        assert!(token.principal(&list, after(Duration::minutes(19))).is_ok());
        let late = token.principal(&list, after(Duration::minutes(20)));
        assert!(matches!(late, Err(CredentialRefusal::Expired)), "{late:?}");
    }

    #[tokio::test]
    async fn a_token_of_a_suspended_user_is_read_again_and_a_deleted_one_is_forgotten() {
        let (kept, list) = (KeptTokens::new(VALID_FOR), epoch(1).await);
        let store = tokens(Some(found_token(true)));
        let token = kept.read(&store, SECRET, Epoch(1), Timestamp::EPOCH).await.unwrap();
        let refused = token.principal(&list, Timestamp::EPOCH);
        assert!(matches!(refused, Err(CredentialRefusal::Revoked(Revocation::Suspended))), "{refused:?}");
        assert!(!is_current(&kept, &list, Timestamp::EPOCH));
        let gone = kept.read(&tokens(None), SECRET, Epoch(1), Timestamp::EPOCH).await;
        assert!(matches!(gone, Err(CredentialRefusal::Unknown)), "{gone:?}");
        assert!(matches!(kept.known(SECRET, &list, Timestamp::EPOCH), Known::Unknown));
    }

    #[tokio::test]
    async fn a_cookie_is_read_again_in_another_epoch_and_is_unknown_if_its_session_is_lost() {
        let (kept, first, second) = (kept_cookies(), epoch(1).await, epoch(2).await);
        let cookie = read(&kept).await;
        assert!(matches!(kept.known(COOKIE, &first, Timestamp::EPOCH), Known::Current(_)));
        assert_eq!(cookie.principal(&first, Timestamp::EPOCH).unwrap().user, user());
        assert!(matches!(kept.known(COOKIE, &second, Timestamp::EPOCH), Known::Outdated(_)));
        let lost = kept.read(&cookies(None), COOKIE, None, Epoch(2), Timestamp::EPOCH).await;
        assert!(matches!(lost, Err(CredentialRefusal::Unknown)), "{lost:?}");
        assert!(matches!(kept.known(COOKIE, &second, Timestamp::EPOCH), Known::Unknown));
        assert!(kept.has_no_session(COOKIE, Epoch(2), Timestamp::EPOCH));
    }

    #[tokio::test]
    async fn a_kept_cookie_ends_with_its_session_and_with_a_suspension_of_its_owner() {
        let kept = kept_cookies();
        let cookie = read(&kept).await;
        let ended = revoked(1, None, true).await;
        let suspended = revoked(1, Some(UserStatus { suspended: true, ..MEMBER }), false).await;
        for (list, revocation) in [(ended, Revocation::SessionEnded), (suspended, Revocation::Suspended)] {
            let refused = cookie.principal(&list, Timestamp::EPOCH);
            assert!(
                matches!(refused, Err(CredentialRefusal::Revoked(found)) if found == revocation),
                "{refused:?}"
            );
        }
    }

    #[tokio::test]
    async fn a_kept_cookie_sees_that_its_owner_became_a_dj_or_a_member_of_the_staff() {
        let kept = kept_cookies();
        let cookie = read(&kept).await;
        for status in [UserStatus { is_dj: true, ..MEMBER }, UserStatus { role: Role::Operator, ..MEMBER }] {
            let list = revoked(1, Some(status), false).await;
            let principal = cookie.principal(&list, Timestamp::EPOCH).unwrap();
            assert_eq!((principal.role, principal.is_dj), (status.role, status.is_dj));
            // The lifetime follows from the role, and a claim replaces the cookie.
            assert!(matches!(kept.known(COOKIE, &list, Timestamp::EPOCH), Known::Outdated(_)), "{status:?}");
            let store = cookies(Some(found_cookie(status)));
            kept.read(&store, COOKIE, None, Epoch(1), Timestamp::EPOCH).await.unwrap();
            assert!(matches!(kept.known(COOKIE, &list, Timestamp::EPOCH), Known::Current(_)), "{status:?}");
        }
    }

    #[tokio::test]
    async fn a_text_that_is_no_cookie_is_not_looked_up() {
        let refused = kept_cookies().read(&MockSessions::new(), "x", None, Epoch(1), Timestamp::EPOCH).await;
        assert!(matches!(refused, Err(CredentialRefusal::Unknown)), "{refused:?}");
        assert!(kept_cookies().has_no_session("x", Epoch(1), Timestamp::EPOCH));
    }
}
