//! Sessions: a refresh locks the session of its token first, so that only one of concurrent refreshes
//! exchanges it.

use async_trait::async_trait;
use cuepoint_domain::authorization::{FoundCookie, RevocationList};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{BeginOutcome, ExchangeOutcome, PasswordHash, Sessions, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::cookie_session::CookieSession;
use cuepoint_domain::user::session::{
    Candidates, PresentedToken, RefreshToken, Session, SessionSecret, TokenHash,
};
use cuepoint_store_sql::rows::{Corrupt, StoredSession, StoredToken, session_id, user_id};
use cuepoint_store_sql::schema::{login_networks, sessions, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::exists;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use time::Duration;

use crate::SqlStore;
use crate::dialect::{Connection, Database, RunQueryDsl, StoreFailure, columns, locked, page};
use crate::tables::login_networks::see;
use crate::tables::sessions::{OWNER, OwnerRow, alive, begin, end_all, is_login, owner_status, record_use};
use crate::tables::webhooks::disable_own;
use cuepoint_store_sql::schema::refresh_tokens as tokens;

/// The live sessions of a user without the personal access tokens.
fn alive_of(user: UserId, now: Timestamp) -> IntoBoxed<'static, sessions::table, Database> {
    sessions::table
        .filter(sessions::user_id.eq(user.get()))
        .filter(alive(now))
        .filter(is_login())
        .into_boxed()
}

#[async_trait]
impl Sessions for SqlStore {
    async fn begin(
        &self,
        session: &Session,
        secret: SessionSecret,
        checked: &PasswordHash,
    ) -> Result<BeginOutcome, Unavailable> {
        let input = (session.clone(), secret, checked.clone());
        let done = self.transact_repeatable(input, async |connection, (session, secret, checked)| {
            log_in(connection, &session, secret, &checked).await
        });
        Ok(done.await?)
    }

    async fn owner(&self, presented: SessionSecret) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        self.read(presented, async |mut connection, presented| {
            let owner: Option<(i64, i64)> = match presented {
                SessionSecret::RefreshToken(hash) => {
                    let owner =
                        tokens::table.inner_join(sessions::table).filter(tokens::hash.eq(hash.0.to_vec()));
                    let owner = owner.select((sessions::user_id, sessions::id));
                    owner.get_result(&mut connection).await.optional()?
                }
                SessionSecret::Cookie(hash) => {
                    let owner = sessions::table.filter(sessions::cookie_hash.eq(hash.0.to_vec()));
                    let owner = owner.select((sessions::user_id, sessions::id));
                    owner.get_result(&mut connection).await.optional()?
                }
            };
            Ok(owner.map(ids).transpose()?)
        })
        .await
    }

    async fn use_cookie(
        &self,
        hash: &TokenHash,
        network: Option<ClientNetwork>,
        valid_for: Duration,
        now: Timestamp,
    ) -> Result<Option<FoundCookie>, Unavailable> {
        let found = self.read(hash.0.to_vec(), async |mut connection, hash| {
            let row: Option<(StoredSession, OwnerRow)> = sessions::table
                .inner_join(users::table)
                .filter(sessions::cookie_hash.eq(hash))
                .select((StoredSession::as_select(), OWNER))
                .get_result(&mut connection)
                .await
                .optional()?;
            Ok(row.map(found_cookie).transpose()?)
        });
        let Some(mut found) = found.await? else { return Ok(None) };
        if found.principal(now).is_ok()
            && let Some(used) = found.credential.used(found.owner.role, valid_for, now)
        {
            let input = (found.credential.clone(), used.clone(), network);
            let recorded = self.transact_repeatable(input, async |connection, (before, used, network)| {
                record_use(connection, &before, &used, network).await
            });
            match recorded.await.map_err(Unavailable::from) {
                Ok(true) => found.credential = used,
                Ok(false) => {}
                // The session is valid even if its use cannot be recorded.
                Err(error) => tracing::warn!(%error, "the use of a session was not recorded"),
            }
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
        let input = (*presented, successors.clone(), network, (expires_at, now), self.feature_level());
        let done = self.transact_repeatable(
            input,
            async |connection, (presented, successors, network, times, level)| {
                exchange(connection, presented, &successors, network, times, level).await
            },
        );
        Ok(done.await?)
    }

    /// Uses one statement whether or not such a user exists.
    async fn is_known_network(
        &self,
        email: &str,
        network: ClientNetwork,
        since: Timestamp,
    ) -> Result<bool, Unavailable> {
        let input = (email.to_owned(), network.to_string(), since);
        self.read(input, async |mut connection, (email, network, since)| {
            let found = login_networks::table
                .inner_join(users::table)
                .filter(users::email_folded.eq(email))
                .filter(login_networks::network.eq(network))
                .filter(login_networks::seen_at.gt(ColumnTime(since)));
            Ok(diesel::select(exists(found)).get_result(&mut connection).await?)
        })
        .await
    }

    async fn end(
        &self,
        presented: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<(UserId, SessionId)>, Unavailable> {
        self.write((presented.0.to_vec(), now), async |connection, (hash, now)| {
            let session = tokens::table.find(hash).select(tokens::session_id);
            let ended: Option<(i64, i64)> = diesel::update(sessions::table)
                .filter(sessions::id.eq_any(session))
                .filter(alive(now))
                .set(sessions::ended_at.eq(ColumnTime(now)))
                .returning((sessions::user_id, sessions::id))
                .get_result(connection)
                .await
                .optional()?;
            Ok(ended.map(ids).transpose()?)
        })
        .await
    }

    async fn sessions(
        &self,
        user: UserId,
        now: Timestamp,
        asked: PageRequest,
    ) -> Result<Rows<Session>, Unavailable> {
        self.list(asked, (user, now, asked), async |mut connection, (user, now, asked)| {
            let newest_first = (sessions::began_at.desc(), sessions::id.desc());
            let columns = columns::<StoredSession>();
            page!(
                connection, asked, alive_of(user, now), newest_first => BeganLastFirst,
                columns => StoredSession, StoredSession::session
            )
        })
        .await
    }

    async fn end_session(&self, user: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable> {
        self.write((user, id, now), async |connection, (user, id, now)| {
            let ended = diesel::update(sessions::table.find(id.get()))
                .filter(sessions::user_id.eq(user.get()))
                .filter(alive(now))
                .filter(is_login())
                .set(sessions::ended_at.eq(ColumnTime(now)))
                .execute(connection)
                .await?;
            Ok(ended > 0)
        })
        .await
    }

    async fn end_sessions(
        &self,
        user: UserId,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<u64, Unavailable> {
        let input = (user, keep, now, self.feature_level());
        let ended = self.transact(input, async |connection, (user, keep, now, level)| {
            // A personal access token that is being created waits or is found, and is ended.
            locked!(only for_no_key_update, users::table.find(user.get()).select(users::id), connection);
            let ended = end_all(connection, user, keep, now).await?;
            disable_own(connection, user, None, now, level).await?;
            Ok(ended)
        });
        u64::try_from(ended.await?).map_err(Unavailable::new)
    }

    async fn revoked_since(&self, since: Timestamp) -> Result<RevocationList, Unavailable> {
        self.revocations(since).await
    }
}

fn found_cookie((row, owner): (StoredSession, OwnerRow)) -> Result<FoundCookie, Corrupt> {
    let ended_at = row.ended_at;
    Ok(FoundCookie { credential: CookieSession(row.session()?), ended_at, owner: owner_status(owner)? })
}

fn ids((user, session): (i64, i64)) -> Result<(UserId, SessionId), Corrupt> {
    Ok((user_id(user)?, session_id(session)?))
}

/// Begins the session of a login under the lock of its user: a concurrent suspension, password change or
/// erasure either waits and ends the session, or comes first and refuses it.
async fn log_in(
    connection: &mut Connection,
    session: &Session,
    secret: SessionSecret,
    checked: &PasswordHash,
) -> Result<BeginOutcome, StoreFailure> {
    let person = users::table.find(session.user.get()).select((users::password_hash, users::suspended_at));
    let person: Option<(String, Option<Timestamp>)> =
        locked!(for_no_key_update, person).get_result(connection).await.optional()?;
    match person {
        Some((password, None)) if password == checked.0 => {}
        Some((password, Some(_))) if password == checked.0 => return Ok(BeginOutcome::Suspended),
        _ => return Ok(BeginOutcome::PasswordChanged),
    }
    begin(connection, session, secret).await?;
    end_surplus(connection, session.user, session.began_at).await?;
    Ok(BeginOutcome::Done)
}

/// Ends the least recently used sessions of a locked user beyond the limit.
async fn end_surplus(connection: &mut Connection, user: UserId, now: Timestamp) -> Result<(), StoreFailure> {
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
    connection: &mut Connection,
    ids: Vec<i64>,
    now: Timestamp,
) -> Result<usize, StoreFailure> {
    let live = sessions::table
        .filter(sessions::id.eq_any(ids))
        .filter(sessions::ended_at.is_null())
        .select(sessions::id);
    let locked: Vec<i64> = locked!(for_update, live, sessions::id).load(connection).await?;
    Ok(diesel::update(sessions::table)
        .filter(sessions::id.eq_any(locked))
        .set(sessions::ended_at.eq(ColumnTime(now)))
        .execute(connection)
        .await?)
}

async fn exchange(
    connection: &mut Connection,
    presented: TokenHash,
    successors: &Candidates<TokenHash>,
    network: Option<ClientNetwork>,
    (expires_at, now): (Timestamp, Timestamp),
    level: FeatureLevel,
) -> Result<ExchangeOutcome, StoreFailure> {
    let hash = presented.0.to_vec();
    let session = tokens::table.find(hash.clone()).select(tokens::session_id);
    // The user first, as in an erasure: the network that is recorded at the end references them.
    let owner = sessions::table.filter(sessions::id.eq_any(session.clone())).select(sessions::user_id);
    let owner = users::table.filter(users::id.eq_any(owner)).select(users::id);
    locked!(only for_key_share, owner, connection);
    let session = sessions::table.filter(sessions::id.eq_any(session)).select(StoredSession::as_select());
    let session: Option<StoredSession> =
        locked!(for_update, session).get_result(connection).await.optional()?;
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
