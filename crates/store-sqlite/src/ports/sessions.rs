//! Sessions and their refresh tokens.

use async_trait::async_trait;
use cuepoint_domain::authorization::{AccountStatus, Epoch, RevocationList};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{BeginOutcome, ExchangeOutcome, PasswordHash, Sessions, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Role;
use cuepoint_domain::user::session::{Candidates, PresentedToken, RefreshToken, Session, TokenHash};
use cuepoint_store_sql::rows::{Corrupt, StoredSession, StoredToken, known, session_id, user_id};
use cuepoint_store_sql::schema::{login_networks, sessions, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, select};
use diesel::prelude::*;

use super::lists::page;
use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::schema::deployment;
use crate::tables::login_networks::see;
use crate::tables::sessions::{alive, begin, end_all};
use crate::tables::webhooks::disable_own;
use crate::writer::Repetition;
use cuepoint_store_sql::schema::refresh_tokens as tokens;

/// A user whose role or suspension changed: their id, their role, and the time of their suspension.
type StatusRow = (i64, String, bool, Option<Timestamp>);

#[async_trait]
impl Sessions for SqliteStore {
    async fn begin(
        &self,
        session: &Session,
        token: TokenHash,
        checked: &PasswordHash,
    ) -> Result<BeginOutcome, Unavailable> {
        let (session, token, network) = self.new_session(session, token)?;
        let checked = checked.0.clone();
        let log_in = move |connection: &mut SqliteConnection| {
            let person: Option<(String, Option<Timestamp>)> = users::table
                .find(session.user_id)
                .select((users::password_hash, users::suspended_at))
                .get_result(connection)
                .optional()?;
            match person {
                Some((password, None)) if password == checked => {}
                Some((password, Some(_))) if password == checked => return Ok(BeginOutcome::Suspended),
                _ => return Ok(BeginOutcome::PasswordChanged),
            }
            begin(connection, &session, &token, network.as_deref())?;
            end_surplus(connection, session.user_id, session.began_at)?;
            Ok(BeginOutcome::Done)
        };
        Ok(self.writer.change(Repetition::Repeatable, log_in).await?)
    }

    async fn owner(&self, presented: &TokenHash) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        self.readers.read(|connection| {
            let owner: Option<(i64, i64)> = tokens::table
                .inner_join(sessions::table)
                .filter(tokens::hash.eq(presented.0.to_vec()))
                .select((sessions::user_id, sessions::id))
                .get_result(connection)
                .optional()?;
            let owner = owner.map(|(user, session)| Ok::<_, Corrupt>((user_id(user)?, session_id(session)?)));
            Ok(owner.transpose()?)
        })
    }

    async fn exchange(
        &self,
        presented: &TokenHash,
        successors: &Candidates<TokenHash>,
        network: Option<ClientNetwork>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<ExchangeOutcome, Unavailable> {
        let (presented, successors) = (*presented, successors.clone());
        let network = network.map(|network| network.to_string());
        let exchange = move |connection: &mut SqliteConnection| {
            let network = network.as_deref();
            exchange(connection, presented, &successors, network, (expires_at, now))
        };
        Ok(self.writer.change(Repetition::Repeatable, exchange).await?)
    }

    async fn is_known_network(
        &self,
        email: &str,
        network: ClientNetwork,
        since: Timestamp,
    ) -> Result<bool, Unavailable> {
        self.readers.read(|connection| {
            let found = login_networks::table
                .inner_join(users::table)
                .filter(users::email_folded.eq(email))
                .filter(login_networks::network.eq(network.to_string()))
                .filter(login_networks::seen_at.gt(ColumnTime(since)));
            Ok(select(exists(found)).get_result(connection)?)
        })
    }

    async fn end(
        &self,
        presented: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        let hash = presented.0.to_vec();
        let end = move |connection: &mut SqliteConnection| {
            let session = tokens::table.find(hash.clone()).select(tokens::session_id);
            let ended: Option<(i64, i64)> = diesel::update(sessions::table)
                .filter(sessions::id.eq_any(session))
                .filter(alive(now))
                .set(sessions::ended_at.eq(ColumnTime(now)))
                .returning((sessions::user_id, sessions::id))
                .get_result(connection)
                .optional()?;
            let both = ended.map(|(user, session)| Ok((user_id(user)?, session_id(session)?)));
            Ok(both.transpose().map_err(|corrupt: Corrupt| corrupt)?)
        };
        Ok(self.writer.change(Repetition::Once, end).await?)
    }

    async fn sessions(
        &self,
        user: UserId,
        now: Timestamp,
        asked: PageRequest,
    ) -> Result<Rows<Session>, Unavailable> {
        let theirs = sessions::table.filter(sessions::user_id.eq(user.get())).filter(alive(now));
        let newest_first = (sessions::began_at.desc(), sessions::id.desc());
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, theirs, newest_first, StoredSession, |row| row.session())
        };
        self.readers.list(asked, page).await
    }

    async fn end_session(&self, user: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable> {
        let end = move |connection: &mut SqliteConnection| {
            let session = sessions::table.find(id.get()).filter(sessions::user_id.eq(user.get()));
            let ended = diesel::update(session.filter(alive(now)))
                .set(sessions::ended_at.eq(ColumnTime(now)))
                .execute(connection)?;
            Ok(ended > 0)
        };
        Ok(self.writer.change(Repetition::Once, end).await?)
    }

    async fn end_sessions(
        &self,
        user: UserId,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<u64, Unavailable> {
        let end = move |connection: &mut SqliteConnection| {
            disable_own(connection, user, None, now)?;
            end_all(connection, user, keep, now)
        };
        let ended = self.writer.change(Repetition::Once, end).await?;
        u64::try_from(ended).map_err(Unavailable::new)
    }

    /// The storage has no clock of its own: it runs on the machine of the server.
    async fn revoked_since(&self, since: Timestamp) -> Result<RevocationList, Unavailable> {
        self.readers.read(|connection| {
            let ended = sessions::table.filter(sessions::ended_at.ge(ColumnTime(since))).select(sessions::id);
            let ended: Vec<i64> = ended.load(connection)?;
            let changed: Vec<StatusRow> = users::table
                .filter(users::standing_at.ge(ColumnTime(since)))
                .select((users::id, users::role, users::is_dj, users::suspended_at))
                .load(connection)?;
            let epoch: i64 = deployment::table.select(deployment::epoch).get_result(connection)?;
            let status = |(user, role, is_dj, suspended_at): StatusRow| {
                let role = known("role", Role::stored(&role))?;
                Ok((user_id(user)?, AccountStatus { role, is_dj, suspended: suspended_at.is_some() }))
            };
            Ok(RevocationList {
                sessions: ended.into_iter().map(session_id).collect::<Result<_, _>>()?,
                statuses: changed.into_iter().map(status).collect::<Result<_, Corrupt>>()?,
                epoch: Epoch(epoch),
                storage_time: None,
            })
        })
    }
}

/// Ends the least recently used live sessions of a user beyond the limit.
fn end_surplus(connection: &mut SqliteConnection, user: i64, now: Timestamp) -> Result<(), SqliteFailure> {
    let most = i64::try_from(Session::MAX_LIVE).unwrap_or(i64::MAX);
    let surplus: Vec<i64> = sessions::table
        .filter(sessions::user_id.eq(user))
        .filter(alive(now))
        .order((sessions::used_at.desc(), sessions::id.desc()))
        .limit(i64::MAX)
        .offset(most)
        .select(sessions::id)
        .load(connection)?;
    for session in surplus {
        let session = sessions::table.find(session);
        diesel::update(session).set(sessions::ended_at.eq(ColumnTime(now))).execute(connection)?;
    }
    Ok(())
}

fn exchange(
    connection: &mut SqliteConnection,
    presented: TokenHash,
    successors: &Candidates<TokenHash>,
    network: Option<&str>,
    (expires_at, now): (Timestamp, Timestamp),
) -> Result<ExchangeOutcome, SqliteFailure> {
    let hash = presented.0.to_vec();
    let session: Option<StoredSession> = sessions::table
        .filter(sessions::id.eq_any(tokens::table.find(hash.clone()).select(tokens::session_id)))
        .select(StoredSession::as_select())
        .get_result(connection)
        .optional()?;
    let Some(session) = session.filter(|session| session.ended_at.is_none()) else {
        return Ok(ExchangeOutcome::Refused);
    };
    let (id, user) = (session_id(session.id)?, user_id(session.user_id)?);
    let hashes = std::iter::once(&presented).chain(successors.iter()).map(|hash| hash.0.to_vec());
    let rows: Vec<StoredToken> = tokens::table
        .filter(tokens::hash.eq_any(hashes.collect::<Vec<_>>()))
        .select(StoredToken::as_select())
        .load(connection)?;
    let stored = rows.into_iter().map(|row| row.token(user)).collect::<Result<Vec<_>, _>>()?;
    let Some(token) = stored.iter().find(|token| token.hash == presented) else {
        return Ok(ExchangeOutcome::Refused);
    };
    let successor = stored.iter().find(|token| token.hash != presented);
    let row = sessions::table.find(session.id);
    match token.presented(successor, now) {
        PresentedToken::Refuse => Ok(ExchangeOutcome::Refused),
        PresentedToken::Repeat(next) => Ok(ExchangeOutcome::Repeated(user, id, next)),
        PresentedToken::EndSession => {
            diesel::update(row).set(sessions::ended_at.eq(ColumnTime(now))).execute(connection)?;
            disable_own(connection, user, Some(id), now)?;
            Ok(ExchangeOutcome::SessionEnded(user, id))
        }
        PresentedToken::Exchange => {
            diesel::update(tokens::table.find(hash))
                .set(tokens::used_at.eq(ColumnTime(now)))
                .execute(connection)?;
            let hash = successors.current;
            let next = RefreshToken { hash, issued_at: now, expires_at, used_at: None, ..token.clone() };
            diesel::insert_into(tokens::table).values(&StoredToken::of(&next)).execute(connection)?;
            diesel::update(row)
                .set((sessions::used_at.eq(ColumnTime(now)), sessions::expires_at.eq(ColumnTime(expires_at))))
                .execute(connection)?;
            see(connection, session.user_id, network, now)?;
            Ok(ExchangeOutcome::Done(user, id))
        }
    }
}
