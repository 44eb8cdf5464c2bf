//! Sessions: a refresh locks the session of its token first, so that only one of concurrent refreshes
//! exchanges it.

use async_trait::async_trait;
use cuepoint_domain::authorization::RevocationList;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{BeginOutcome, ExchangeOutcome, PasswordHash, Sessions, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::{Candidates, PresentedToken, RefreshToken, Session, TokenHash};
use cuepoint_store_sql::rows::{Corrupt, StoredSession, StoredToken, session_id, user_id};
use cuepoint_store_sql::schema::{sessions, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::reads::{BeganLastFirst, Counted, columns, limits, paged};
use crate::tables::login_networks::see;
use crate::tables::sessions::{alive, begin, end_all};
use crate::tables::webhooks::disable_own;
use cuepoint_store_sql::schema::refresh_tokens as tokens;

/// The live sessions of a user.
fn alive_of(user: UserId, now: Timestamp) -> IntoBoxed<'static, sessions::table, Pg> {
    sessions::table.filter(sessions::user_id.eq(user.get())).filter(alive(now)).into_boxed()
}

#[async_trait]
impl Sessions for PostgresStore {
    async fn begin(
        &self,
        session: &Session,
        token: TokenHash,
        checked: &PasswordHash,
    ) -> Result<BeginOutcome, Unavailable> {
        let token = StoredToken::of(&session.first_token(token));
        let begun = self
            .database
            .write_repeatable(async |connection| {
                connection
                    .transaction(async |connection| log_in(connection, session, &token, checked).await)
                    .await
            })
            .await?;
        Ok(begun)
    }

    async fn owner(&self, presented: &TokenHash) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        let hash = presented.0.to_vec();
        let found: Option<(i64, i64)> = self
            .database
            .read(async |mut connection| {
                Ok(tokens::table
                    .inner_join(sessions::table)
                    .filter(tokens::hash.eq(&hash))
                    .select((sessions::user_id, sessions::id))
                    .get_result(&mut connection)
                    .await
                    .optional()?)
            })
            .await?;
        let owner = found.map(|(user, session)| Ok::<_, Corrupt>((user_id(user)?, session_id(session)?)));
        owner.transpose().map_err(Unavailable::new)
    }

    async fn exchange(
        &self,
        presented: &TokenHash,
        successors: &Candidates<TokenHash>,
        network: Option<ClientNetwork>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<ExchangeOutcome, Unavailable> {
        let (presented, level) = (*presented, self.database.cluster().feature_level());
        let exchanged = self
            .database
            .write_repeatable(async |connection| {
                connection
                    .transaction(async |connection| {
                        let times = (expires_at, now);
                        exchange(connection, presented, successors, network, times, level).await
                    })
                    .await
            })
            .await?;
        Ok(exchanged)
    }

    async fn is_known_network(
        &self,
        email: &str,
        network: ClientNetwork,
        since: Timestamp,
    ) -> Result<bool, Unavailable> {
        Ok(self.knows_network(email, network, since).await?)
    }

    async fn end(
        &self,
        presented: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        let ended: Option<(i64, i64)> = self
            .database
            .write(async |connection| {
                let session = tokens::table.find(presented.0.to_vec()).select(tokens::session_id);
                Ok(diesel::update(sessions::table)
                    .filter(sessions::id.eq_any(session))
                    .filter(alive(now))
                    .set(sessions::ended_at.eq(ColumnTime(now)))
                    .returning((sessions::user_id, sessions::id))
                    .get_result(connection)
                    .await
                    .optional()?)
            })
            .await?;
        let both = ended.map(|(user, session)| Ok((user_id(user)?, session_id(session)?)));
        both.transpose().map_err(|corrupt: Corrupt| Unavailable::new(corrupt))
    }

    async fn sessions(
        &self,
        user: UserId,
        now: Timestamp,
        asked: PageRequest,
    ) -> Result<Rows<Session>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<StoredSession> = self
            .database
            .read(async |connection| {
                let page = alive_of(user, now)
                    .order((sessions::began_at.desc(), sessions::id.desc()))
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<StoredSession>());
                paged!(connection, alive_of(user, now).count(), page, BeganLastFirst, offset)
            })
            .await?;
        counted.page(StoredSession::session).map_err(Unavailable::new)
    }

    async fn end_session(&self, user: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable> {
        let ended = self
            .database
            .write(async |connection| {
                Ok(diesel::update(sessions::table.find(id.get()))
                    .filter(sessions::user_id.eq(user.get()))
                    .filter(alive(now))
                    .set(sessions::ended_at.eq(ColumnTime(now)))
                    .execute(connection)
                    .await?)
            })
            .await?;
        Ok(ended > 0)
    }

    async fn end_sessions(
        &self,
        user: UserId,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<u64, Unavailable> {
        let level = self.database.cluster().feature_level();
        let ended = self
            .database
            .write(async |connection| {
                connection
                    .transaction(async |connection| {
                        let ended = end_all(connection, user, keep, now).await?;
                        disable_own(connection, user, None, now, level).await?;
                        Ok::<usize, DatabaseFailure>(ended)
                    })
                    .await
            })
            .await?;
        u64::try_from(ended).map_err(Unavailable::new)
    }

    async fn revoked_since(&self, since: Timestamp) -> Result<RevocationList, Unavailable> {
        Ok(self.sentinel.revoked_since(&self.database, since).await?)
    }
}

/// Begins the session of a login under the lock of its user: a concurrent suspension, password change or
/// erasure either waits and ends the session, or comes first and refuses it.
async fn log_in(
    connection: &mut AsyncPgConnection,
    session: &Session,
    token: &StoredToken,
    checked: &PasswordHash,
) -> Result<BeginOutcome, DatabaseFailure> {
    let person: Option<(String, Option<Timestamp>)> = users::table
        .find(session.user.get())
        .select((users::password_hash, users::suspended_at))
        .for_no_key_update()
        .get_result(connection)
        .await
        .optional()?;
    match person {
        Some((password, None)) if password == checked.0 => {}
        Some((password, Some(_))) if password == checked.0 => return Ok(BeginOutcome::Suspended),
        _ => return Ok(BeginOutcome::PasswordChanged),
    }
    begin(connection, session, token).await?;
    end_surplus(connection, session.user, session.began_at).await?;
    Ok(BeginOutcome::Done)
}

/// Ends the least recently used sessions of a locked user beyond the limit.
async fn end_surplus(
    connection: &mut AsyncPgConnection,
    user: UserId,
    now: Timestamp,
) -> Result<(), DatabaseFailure> {
    let most = i64::try_from(Session::MAX_LIVE).unwrap_or(i64::MAX);
    let surplus: Vec<i64> = alive_of(user, now)
        .order((sessions::used_at.desc(), sessions::id.desc()))
        .offset(most)
        .select(sessions::id)
        .load(connection)
        .await?;
    if !surplus.is_empty() {
        end_these(connection, surplus, now).await?;
    }
    Ok(())
}

/// Ends these sessions unless they have ended already, locked by id to avoid deadlocks.
async fn end_these(
    connection: &mut AsyncPgConnection,
    ids: Vec<i64>,
    now: Timestamp,
) -> Result<usize, DatabaseFailure> {
    let locked: Vec<i64> = sessions::table
        .filter(sessions::id.eq_any(ids))
        .filter(sessions::ended_at.is_null())
        .order(sessions::id)
        .for_update()
        .select(sessions::id)
        .load(connection)
        .await?;
    Ok(diesel::update(sessions::table)
        .filter(sessions::id.eq_any(locked))
        .set(sessions::ended_at.eq(ColumnTime(now)))
        .execute(connection)
        .await?)
}

async fn exchange(
    connection: &mut AsyncPgConnection,
    presented: TokenHash,
    successors: &Candidates<TokenHash>,
    network: Option<ClientNetwork>,
    (expires_at, now): (Timestamp, Timestamp),
    level: FeatureLevel,
) -> Result<ExchangeOutcome, DatabaseFailure> {
    let hash = presented.0.to_vec();
    let session = tokens::table.find(hash.clone()).select(tokens::session_id);
    // The user first, as in an erasure: the network that is recorded at the end references them.
    let owner = sessions::table.filter(sessions::id.eq_any(session.clone())).select(sessions::user_id);
    let _: Vec<i64> = users::table
        .filter(users::id.eq_any(owner))
        .for_key_share()
        .select(users::id)
        .load(connection)
        .await?;
    let session: Option<StoredSession> = sessions::table
        .filter(sessions::id.eq_any(session))
        .for_update()
        .select(StoredSession::as_select())
        .get_result(connection)
        .await
        .optional()?;
    let Some(session) = session.filter(|session| session.ended_at.is_none()) else {
        return Ok(ExchangeOutcome::Refused);
    };
    let (id, user) = (session_id(session.id)?, user_id(session.user_id)?);
    // Read under the lock: its previous holder may have used the token.
    let hashes = std::iter::once(&presented).chain(successors.iter()).map(|hash| hash.0.to_vec());
    let rows: Vec<StoredToken> = tokens::table
        .filter(tokens::hash.eq_any(hashes.collect::<Vec<_>>()))
        .select(StoredToken::as_select())
        .load(connection)
        .await?;
    let kept = rows.into_iter().map(|row| row.token(user)).collect::<Result<Vec<_>, _>>()?;
    let Some(token) = kept.iter().find(|token| token.hash == presented) else {
        return Ok(ExchangeOutcome::Refused);
    };
    let successor = kept.iter().find(|token| token.hash != presented);
    let owner = session.user_id;
    let session = sessions::table.find(session.id);
    let at = ColumnTime(now);
    match token.presented(successor, now) {
        PresentedToken::Refuse => Ok(ExchangeOutcome::Refused),
        PresentedToken::Repeat(kept) => Ok(ExchangeOutcome::Repeated(user, id, kept)),
        PresentedToken::EndSession => {
            diesel::update(session).set(sessions::ended_at.eq(at)).execute(connection).await?;
            disable_own(connection, user, Some(id), now, level).await?;
            Ok(ExchangeOutcome::SessionEnded(user, id))
        }
        PresentedToken::Exchange => {
            diesel::update(tokens::table.find(hash)).set(tokens::used_at.eq(at)).execute(connection).await?;
            let hash = successors.current;
            let next = RefreshToken { hash, issued_at: now, expires_at, used_at: None, ..token.clone() };
            diesel::insert_into(tokens::table).values(&StoredToken::of(&next)).execute(connection).await?;
            diesel::update(session)
                .set((sessions::used_at.eq(at), sessions::expires_at.eq(ColumnTime(expires_at))))
                .execute(connection)
                .await?;
            see(connection, owner, network, now).await?;
            Ok(ExchangeOutcome::Done(user, id))
        }
    }
}
