//! Sessions and their refresh tokens.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::authorization::{RevocationList, UserStatus};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::{ClientNetwork, KnownNetwork};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{BeginOutcome, ExchangeOutcome, PasswordHash, Sessions, Unavailable};
use cuepoint_domain::privacy::personal_data::ExportRecord;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::session::{
    Candidates, ClientInfo, PresentedToken, RefreshToken, Session, TokenHash,
};

use crate::lists::{newest_first, page_of};
use crate::{MemoryStore, State};

/// Sessions, and refresh tokens by hash.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    sessions: HashMap<SessionId, SessionRecord>,
    tokens: HashMap<TokenHash, RefreshToken>,
    /// The known networks of each user, each with its number and the time at which it was last seen.
    networks: HashMap<(UserId, ClientNetwork), (i64, Timestamp)>,
    last_network: i64,
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
        let since = now.minus(KnownNetwork::RETENTION);
        self.networks.retain(|_, (_, seen_at)| *seen_at > since);
    }

    /// Records that a session of this user began or was refreshed in this network.
    fn see(&mut self, user: UserId, network: Option<ClientNetwork>, now: Timestamp) {
        let Some(network) = network else { return };
        let (_, seen_at) = self.networks.entry((user, network)).or_insert_with(|| {
            self.last_network = self.last_network.saturating_add(1);
            (self.last_network, now)
        });
        *seen_at = (*seen_at).max(now);
    }

    /// Stores a new session with its first token; one that already began with this token stays unchanged.
    ///
    /// # Errors
    /// [`Unavailable`] when another session has the id, or the token.
    pub(crate) fn begin(&mut self, session: &Session, token: TokenHash) -> Result<(), Unavailable> {
        if self.was_begun(session, token) {
            return Ok(());
        }
        if self.sessions.contains_key(&session.id) || self.tokens.contains_key(&token) {
            return Err(Unavailable::new("the id of a new session is taken"));
        }
        self.tokens.insert(token, session.first_token(token));
        self.sessions.insert(session.id, SessionRecord { session: session.clone(), ended_at: None });
        self.see(session.user, session.client.network(), session.began_at);
        Ok(())
    }

    /// Ends a user's surplus of live sessions, the least recently used first.
    fn end_surplus(&mut self, user: UserId, now: Timestamp) {
        let alive = self.sessions.values().filter(|kept| kept.session.user == user && kept.is_alive(now));
        let alive = newest_first(alive.map(|kept| (kept.session.used_at, kept.session.id)), |place| *place);
        for (_, id) in alive.into_iter().skip(Session::MAX_LIVE) {
            self.end(id, now);
        }
    }

    /// Whether this session began with this token.
    pub(crate) fn was_begun(&self, session: &Session, token: TokenHash) -> bool {
        self.tokens.get(&token).is_some_and(|token| token.session == session.id)
    }

    /// Ends the live sessions of a user except `keep`, and returns their number.
    pub(crate) fn end_all(&mut self, user: UserId, keep: Option<SessionId>, now: Timestamp) -> u64 {
        let mut ended = 0_u64;
        for kept in self.sessions.values_mut() {
            let other = kept.session.user == user && Some(kept.session.id) != keep;
            if other && kept.is_alive(now) {
                kept.ended_at = Some(now);
                ended = ended.saturating_add(1);
            }
        }
        ended
    }

    /// A user's sessions, including ended ones.
    pub(crate) fn of(&self, user: UserId) -> impl Iterator<Item = ExportRecord> {
        let theirs = self.sessions.values().filter(move |kept| kept.session.user == user);
        theirs.map(|kept| ExportRecord::Session(kept.session.clone(), kept.ended_at))
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
        token: TokenHash,
        checked: &PasswordHash,
    ) -> Result<BeginOutcome, Unavailable> {
        let State { book, keys, sessions, .. } = &mut *self.lock()?;
        if keys.passwords.get(&session.user) != Some(checked) {
            return Ok(BeginOutcome::PasswordChanged);
        }
        if book.get(session.user).is_some_and(|user| user.suspended_at.is_some()) {
            return Ok(BeginOutcome::Suspended);
        }
        sessions.begin(session, token)?;
        sessions.end_surplus(session.user, session.began_at);
        Ok(BeginOutcome::Done)
    }

    async fn owner(&self, presented: &TokenHash) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        Ok(self.lock()?.sessions.tokens.get(presented).map(|token| (token.user, token.session)))
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
        let alive = state.sessions.sessions.values().filter(|kept| kept.is_alive(now));
        let own = alive.map(|kept| &kept.session).filter(|session| session.user == user);
        Ok(page_of(newest_first(own, |session| (session.began_at, session.id)), page))
    }

    async fn end_session(&self, user: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable> {
        let sessions = &mut self.lock()?.sessions;
        let own = sessions.sessions.get(&id).is_some_and(|kept| kept.session.user == user);
        Ok(own && sessions.end(id, now))
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
