//! Sessions, their refresh tokens and cookies.

use std::collections::{BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use cuepoint_domain::authorization::{FoundCookie, FoundToken, RevocationList, UserStatus};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::{ClientNetwork, KnownNetwork};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{
    BeginOutcome, ExchangeOutcome, GuestClaim, PasswordHash, PersonalTokens, Sessions, TokenAddition,
    Unavailable,
};
use cuepoint_domain::privacy::personal_data::ExportRecord;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::cookie_session::CookieSession;
use cuepoint_domain::user::personal_token::{PersonalToken, TokenScope};
use cuepoint_domain::user::session::{
    Candidates, ClientInfo, PresentedToken, RefreshToken, Session, SessionSecret, TokenHash,
};
use time::Duration;

use crate::lists::{newest_first, page_of};
use crate::{MemoryStore, State};

/// Sessions, and refresh tokens and cookies by hash.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    sessions: HashMap<SessionId, SessionRecord>,
    tokens: HashMap<TokenHash, RefreshToken>,
    cookies: HashMap<TokenHash, SessionId>,
    /// The known networks of each user, each with its number and the time at which it was last seen.
    networks: HashMap<(UserId, ClientNetwork), (i64, Timestamp)>,
    last_network: i64,
    /// Name, scopes and secret hash of each personal access token.
    personal: HashMap<SessionId, PersonalRecord>,
}

/// The part of a personal access token that no other session has.
#[derive(Debug)]
struct PersonalRecord {
    hash: TokenHash,
    name: Line,
    scopes: BTreeSet<TokenScope>,
}

#[derive(Debug)]
struct SessionRecord {
    session: Session,
    ended_at: Option<Timestamp>,
}

impl SessionRecord {
    fn is_alive(&self, now: Timestamp) -> bool {
        self.session.is_alive(self.ended_at, now)
    }
}

impl SessionTable {
    /// Deletes expired tokens, ended sessions and networks past their retention.
    pub(crate) fn purge_expired(&mut self, now: Timestamp) {
        self.sessions.retain(|_, kept| {
            let end =
                kept.ended_at.map_or(kept.session.expires_at, |ended| ended.min(kept.session.expires_at));
            now < end.plus(Session::RETENTION)
        });
        let sessions = &self.sessions;
        self.tokens.retain(|_, token| now < token.expires_at && sessions.contains_key(&token.session));
        self.cookies.retain(|_, session| sessions.contains_key(session));
        self.personal.retain(|id, _| sessions.contains_key(id));
        let since = now.minus(KnownNetwork::RETENTION);
        self.networks.retain(|_, (_, seen_at)| *seen_at > since);
    }

    /// Records that a session of this user began, was refreshed or was used in this network.
    fn see(&mut self, user: UserId, network: Option<ClientNetwork>, now: Timestamp) {
        let Some(network) = network else { return };
        let (_, seen_at) = self.networks.entry((user, network)).or_insert_with(|| {
            self.last_network = self.last_network.saturating_add(1);
            (self.last_network, now)
        });
        *seen_at = (*seen_at).max(now);
    }

    /// Stores a new session with its first token or its cookie; one that already began with it stays unchanged.
    ///
    /// # Errors
    /// [`Unavailable`] when another session has the id, or the secret.
    pub(crate) fn begin(&mut self, session: &Session, secret: SessionSecret) -> Result<(), Unavailable> {
        if self.was_begun(session, secret) {
            return Ok(());
        }
        if self.sessions.contains_key(&session.id) || self.owner(secret).is_some() {
            return Err(Unavailable::new("the id of a new session is taken"));
        }
        match secret {
            SessionSecret::RefreshToken(hash) => drop(self.tokens.insert(hash, session.first_token(hash))),
            SessionSecret::Cookie(hash) => drop(self.cookies.insert(hash, session.id)),
        }
        self.sessions.insert(session.id, SessionRecord { session: session.clone(), ended_at: None });
        self.see(session.user, session.client.network(), session.began_at);
        Ok(())
    }

    /// The sessions that are no personal access tokens.
    fn logins(&self) -> impl Iterator<Item = &SessionRecord> {
        self.sessions.values().filter(|kept| !self.personal.contains_key(&kept.session.id))
    }

    /// The personal access tokens of a user, ended ones included.
    fn personal_of(&self, user: UserId) -> impl Iterator<Item = (PersonalToken, &SessionRecord)> {
        let theirs = self.sessions.values().filter(move |kept| kept.session.user == user);
        theirs.filter_map(|kept| Some((self.personal_token(kept)?, kept)))
    }

    fn personal_token(&self, kept: &SessionRecord) -> Option<PersonalToken> {
        let PersonalRecord { name, scopes, .. } = self.personal.get(&kept.session.id)?;
        let (name, scopes) = (name.clone(), scopes.clone());
        Some(PersonalToken { session: kept.session.clone(), name, scopes })
    }

    /// Replaces the secrets of a live session by that of a claim; returns whether the session is live.
    pub(crate) fn renew(&mut self, claim: &GuestClaim) -> bool {
        let live = self.sessions.get_mut(&claim.session).filter(|kept| kept.is_alive(claim.at));
        let Some(kept) = live else { return false };
        (kept.session.used_at, kept.session.expires_at) = (claim.at, claim.expires_at);
        self.tokens.retain(|_, token| token.session != claim.session);
        self.cookies.retain(|_, session| *session != claim.session);
        match claim.secret {
            SessionSecret::RefreshToken(hash) => {
                let token = kept.session.claimed_token(hash, claim.at, claim.expires_at);
                self.tokens.insert(hash, token);
            }
            SessionSecret::Cookie(hash) => drop(self.cookies.insert(hash, claim.session)),
        }
        true
    }

    /// Ends a user's surplus of live sessions, the least recently used first.
    fn end_surplus(&mut self, user: UserId, now: Timestamp) {
        let alive = self.logins().filter(|kept| kept.session.user == user && kept.is_alive(now));
        let alive = newest_first(alive.map(|kept| (kept.session.used_at, kept.session.id)), |place| *place);
        for (_, id) in alive.into_iter().skip(Session::MAX_LIVE) {
            self.end(id, now);
        }
    }

    /// Whether this session began with this secret.
    pub(crate) fn was_begun(&self, session: &Session, secret: SessionSecret) -> bool {
        self.owner(secret).is_some_and(|(_, id)| id == session.id)
    }

    /// The user and the session of a secret.
    fn owner(&self, secret: SessionSecret) -> Option<(UserId, SessionId)> {
        match secret {
            SessionSecret::RefreshToken(hash) => {
                self.tokens.get(&hash).map(|token| (token.user, token.session))
            }
            SessionSecret::Cookie(hash) => {
                let kept = self.sessions.get(self.cookies.get(&hash)?)?;
                Some((kept.session.user, kept.session.id))
            }
        }
    }

    /// Ends the live sessions of a user and returns their number: with `keep`, all except this one and the personal
    /// access tokens.
    pub(crate) fn end_all(&mut self, user: UserId, keep: Option<SessionId>, now: Timestamp) -> u64 {
        let mut ended = 0_u64;
        for kept in self.sessions.values_mut() {
            let id = kept.session.id;
            let is_kept = keep.is_some() && (keep == Some(id) || self.personal.contains_key(&id));
            let other = kept.session.user == user && !is_kept;
            if other && kept.is_alive(now) {
                kept.ended_at = Some(now);
                ended = ended.saturating_add(1);
            }
        }
        ended
    }

    /// A user's personal access tokens, including ended ones.
    pub(crate) fn tokens_of(&self, user: UserId) -> impl Iterator<Item = ExportRecord> {
        self.personal_of(user).map(|(token, kept)| ExportRecord::PersonalToken(token, kept.ended_at))
    }

    /// Deletes a user's personal access tokens, and keeps their sessions.
    pub(crate) fn forget_tokens(&mut self, user: UserId) {
        let sessions = &self.sessions;
        self.personal.retain(|id, _| sessions.get(id).is_some_and(|kept| kept.session.user != user));
    }

    /// A user's sessions, including ended ones.
    pub(crate) fn of(&self, user: UserId) -> impl Iterator<Item = ExportRecord> {
        let theirs = self.logins().filter(move |kept| kept.session.user == user);
        theirs.map(|kept| ExportRecord::Session(kept.session.clone(), kept.ended_at))
    }

    /// The users with a session that was used at this time or later.
    pub(crate) fn users_since(&self, time: Timestamp) -> HashSet<UserId> {
        let recent = self.sessions.values().filter(|kept| kept.session.used_at >= time);
        recent.map(|kept| kept.session.user).collect()
    }

    /// Whether a session of the user was used at this time or later.
    pub(crate) fn was_used(&self, user: UserId, since: Timestamp) -> bool {
        self.sessions.values().any(|kept| kept.session.user == user && kept.session.used_at >= since)
    }

    /// Deletes the sessions of a user with their tokens, and the user's known networks.
    pub(crate) fn remove_of(&mut self, user: UserId) {
        self.networks.retain(|(owner, _), _| *owner != user);
        self.tokens.retain(|_, token| token.user != user);
        self.sessions.retain(|_, kept| kept.session.user != user);
        let sessions = &self.sessions;
        self.cookies.retain(|_, session| sessions.contains_key(session));
    }

    /// The known networks of a user.
    pub(crate) fn networks_of(&self, user: UserId) -> impl Iterator<Item = ExportRecord> {
        let known = self.networks.iter().filter(move |((owner, _), _)| *owner == user);
        known.map(|((_, network), (number, seen_at))| {
            ExportRecord::Network(*number, KnownNetwork { network: *network, seen_at: *seen_at })
        })
    }

    /// Deletes the client info of a user's sessions and their known networks.
    pub(crate) fn forget_clients(&mut self, user: UserId) {
        self.networks.retain(|(owner, _), _| *owner != user);
        for kept in self.sessions.values_mut().filter(|kept| kept.session.user == user) {
            kept.session.client = ClientInfo::default();
        }
    }

    /// The user of a session that was ended, and the time of its end.
    pub(crate) fn ended(&self, id: SessionId) -> Option<(UserId, Timestamp)> {
        let kept = self.sessions.get(&id)?;
        Some((kept.session.user, kept.ended_at?))
    }

    /// Whether a session of this user began at this time.
    pub(crate) fn began_at(&self, user: UserId, at: Timestamp) -> bool {
        self.sessions.values().any(|kept| kept.session.user == user && kept.session.began_at == at)
    }

    /// Whether a session exists and was not ended.
    pub(crate) fn is_live(&self, id: SessionId) -> bool {
        self.sessions.get(&id).is_some_and(|kept| kept.ended_at.is_none())
    }

    /// Whether a session exists, was not ended, and has not expired.
    pub(crate) fn is_alive(&self, id: SessionId, now: Timestamp) -> bool {
        self.sessions.get(&id).is_some_and(|kept| kept.is_alive(now))
    }

    fn end(&mut self, id: SessionId, now: Timestamp) -> bool {
        match self.sessions.get_mut(&id).filter(|kept| kept.is_alive(now)) {
            Some(kept) => {
                kept.ended_at = Some(now);
                true
            }
            None => false,
        }
    }

    fn exchange(
        &mut self,
        presented: &TokenHash,
        successors: &Candidates<TokenHash>,
        network: Option<ClientNetwork>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> ExchangeOutcome {
        let successor = successors.iter().find_map(|hash| self.tokens.get(hash)).cloned();
        let Some(token) = self.tokens.get_mut(presented) else { return ExchangeOutcome::Refused };
        let (id, user) = (token.session, token.user);
        let Some(kept) = self.sessions.get_mut(&id).filter(|kept| kept.ended_at.is_none()) else {
            return ExchangeOutcome::Refused;
        };
        match token.presented(successor.as_ref(), now) {
            PresentedToken::Refuse => ExchangeOutcome::Refused,
            PresentedToken::Repeat(kept) => ExchangeOutcome::Repeated(user, id, kept),
            PresentedToken::EndSession => {
                kept.ended_at = Some(now);
                ExchangeOutcome::SessionEnded(user, id)
            }
            PresentedToken::Exchange => {
                token.used_at = Some(now);
                (kept.session.used_at, kept.session.expires_at) = (now, expires_at);
                let hash = successors.current;
                let next =
                    RefreshToken { hash, session: id, user, issued_at: now, expires_at, used_at: None };
                self.tokens.insert(hash, next);
                self.see(user, network, now);
                ExchangeOutcome::Done(user, id)
            }
        }
    }
}

#[async_trait]
impl Sessions for MemoryStore {
    async fn begin(
        &self,
        session: &Session,
        secret: SessionSecret,
        checked: &PasswordHash,
    ) -> Result<BeginOutcome, Unavailable> {
        let State { book, keys, sessions, .. } = &mut *self.lock()?;
        if keys.passwords.get(&session.user) != Some(checked) {
            return Ok(BeginOutcome::PasswordChanged);
        }
        if book.get(session.user).is_some_and(|user| user.suspended_at.is_some()) {
            return Ok(BeginOutcome::Suspended);
        }
        sessions.begin(session, secret)?;
        sessions.end_surplus(session.user, session.began_at);
        Ok(BeginOutcome::Done)
    }

    async fn owner(&self, presented: SessionSecret) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        Ok(self.lock()?.sessions.owner(presented))
    }

    async fn use_cookie(
        &self,
        hash: &TokenHash,
        network: Option<ClientNetwork>,
        valid_for: Duration,
        now: Timestamp,
    ) -> Result<Option<FoundCookie>, Unavailable> {
        let State { book, sessions, .. } = &mut *self.lock()?;
        let Some(kept) = sessions.cookies.get(hash).and_then(|id| sessions.sessions.get_mut(id)) else {
            return Ok(None);
        };
        let Some(owner) = book.get(kept.session.user).map(UserStatus::of) else { return Ok(None) };
        let credential = CookieSession(kept.session.clone());
        let mut found = FoundCookie { credential, ended_at: kept.ended_at, owner };
        if found.principal(now).is_ok()
            && let Some(used) = found.credential.used(owner.role, valid_for, now)
        {
            kept.session = used.0.clone();
            sessions.see(used.0.user, network, now);
            found.credential = used;
        }
        Ok(Some(found))
    }

    async fn exchange(
        &self,
        presented: &TokenHash,
        successors: &Candidates<TokenHash>,
        network: Option<ClientNetwork>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<ExchangeOutcome, Unavailable> {
        let State { sessions, webhooks, .. } = &mut *self.lock()?;
        let exchanged = sessions.exchange(presented, successors, network, expires_at, now);
        if let ExchangeOutcome::SessionEnded(user, session) = exchanged {
            webhooks.disable_own(user, Some(session), now);
        }
        Ok(exchanged)
    }

    async fn is_known_network(
        &self,
        email: &str,
        network: ClientNetwork,
        since: Timestamp,
    ) -> Result<bool, Unavailable> {
        let State { keys, sessions, .. } = &*self.lock()?;
        let known = keys.owner(email).and_then(|user| sessions.networks.get(&(user, network)));
        Ok(known.is_some_and(|(_, seen_at)| *seen_at > since))
    }

    async fn end(
        &self,
        presented: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        let sessions = &mut self.lock()?.sessions;
        let Some(token) = sessions.tokens.get(presented) else { return Ok(None) };
        let (user, id) = (token.user, token.session);
        Ok(sessions.end(id, now).then_some((user, id)))
    }

    async fn sessions(
        &self,
        user: UserId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Rows<Session>, Unavailable> {
        let state = self.lock()?;
        let alive = state.sessions.logins().filter(|kept| kept.is_alive(now));
        let own = alive.map(|kept| &kept.session).filter(|session| session.user == user);
        Ok(page_of(newest_first(own, |session| (session.began_at, session.id)), page))
    }

    async fn end_session(&self, user: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable> {
        let sessions = &mut self.lock()?.sessions;
        let own = sessions.sessions.get(&id).is_some_and(|kept| kept.session.user == user);
        Ok(own && !sessions.personal.contains_key(&id) && sessions.end(id, now))
    }

    async fn end_sessions(
        &self,
        user: UserId,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<u64, Unavailable> {
        let State { sessions, webhooks, .. } = &mut *self.lock()?;
        webhooks.disable_own(user, None, now);
        Ok(sessions.end_all(user, keep, now))
    }

    async fn revoked_since(&self, since: Timestamp) -> Result<RevocationList, Unavailable> {
        let state = self.lock()?;
        let ended =
            state.sessions.sessions.values().filter(|kept| kept.ended_at.is_some_and(|at| at >= since));
        let changed =
            state.book.all::<User>().filter(|user| user.status_changed_at.is_some_and(|at| at >= since));
        Ok(RevocationList {
            sessions: ended.map(|kept| kept.session.id).collect(),
            statuses: changed.map(|user| (user.id, UserStatus::of(user))).collect(),
            ..RevocationList::default()
        })
    }
}

#[async_trait]
impl PersonalTokens for MemoryStore {
    async fn add_token(
        &self,
        token: &PersonalToken,
        hash: TokenHash,
        author: SessionId,
    ) -> Result<TokenAddition, Unavailable> {
        let PersonalToken { session, name, scopes } = token;
        let sessions = &mut self.lock()?.sessions;
        let now = session.began_at;
        if !sessions.is_alive(author, now) {
            return Ok(TokenAddition::SessionEnded);
        }
        let live = sessions.personal_of(session.user).filter(|(_, kept)| kept.is_alive(now)).count();
        if live >= PersonalToken::MAX_LIVE {
            return Ok(TokenAddition::TooMany);
        }
        let (name, scopes) = (name.clone(), scopes.clone());
        sessions.personal.insert(session.id, PersonalRecord { hash, name, scopes });
        sessions.sessions.insert(session.id, SessionRecord { session: session.clone(), ended_at: None });
        Ok(TokenAddition::Added)
    }

    async fn use_token(&self, hash: &TokenHash, now: Timestamp) -> Result<Option<FoundToken>, Unavailable> {
        let State { book, sessions, .. } = &mut *self.lock()?;
        let id = sessions.personal.iter().find_map(|(id, record)| (record.hash == *hash).then_some(*id));
        let Some(kept) = id.and_then(|id| sessions.sessions.get(&id)) else { return Ok(None) };
        let (token, ended_at) = (sessions.personal_token(kept), kept.ended_at);
        let owner = book.get(kept.session.user).map(UserStatus::of);
        let Some((token, owner)) = token.zip(owner) else { return Ok(None) };
        let found = FoundToken { credential: token, ended_at, owner };
        if found.principal(now).is_ok()
            && let Some(kept) = sessions.sessions.get_mut(&found.credential.id())
        {
            kept.session.used_at = kept.session.used_at.max(now);
        }
        Ok(Some(found))
    }

    async fn tokens(&self, owner: UserId, now: Timestamp) -> Result<Vec<PersonalToken>, Unavailable> {
        let state = self.lock()?;
        let live = state.sessions.personal_of(owner).filter(|(_, kept)| kept.is_alive(now));
        Ok(newest_first(live.map(|(token, _)| token), |token| (token.session.began_at, token.id())))
    }

    async fn end_token(&self, owner: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable> {
        let sessions = &mut self.lock()?.sessions;
        let own = sessions.sessions.get(&id).is_some_and(|kept| kept.session.user == owner);
        Ok(own && sessions.personal.contains_key(&id) && sessions.end(id, now))
    }
}
