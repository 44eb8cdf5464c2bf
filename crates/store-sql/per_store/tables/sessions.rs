//! Rows of `sessions` and `refresh_tokens`, as transactions begin, use and end them.

use cuepoint_domain::authorization::UserStatus;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Role;
use cuepoint_domain::user::cookie_session::CookieSession;
use cuepoint_domain::user::session::{Session, SessionSecret};
use cuepoint_store_sql::rows::{Corrupt, StoredSession, StoredToken, known};
use cuepoint_store_sql::schema::{personal_tokens, sessions, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{self, And, Gt, IsNull};
use diesel::prelude::*;
use diesel::sql_types::Bool;

use super::login_networks::see;
use crate::dialect::{Connection, RunQueryDsl, StoreFailure, locked};
use cuepoint_store_sql::schema::refresh_tokens as tokens;

/// The type of the condition [`alive`].
pub(crate) type Alive = And<IsNull<sessions::ended_at>, Gt<sessions::expires_at, ColumnTime>>;

/// The condition of [`Session::is_alive`] on a row; a test compares both.
pub(crate) fn alive(now: Timestamp) -> Alive {
    sessions::ended_at.is_null().and(sessions::expires_at.gt(ColumnTime(now)))
}

/// The role, the capacity as a DJ and the suspension of a session's owner.
pub(crate) type OwnerRow = (String, bool, Option<Timestamp>);

/// The columns of [`OwnerRow`].
pub(crate) const OWNER: (users::role, users::is_dj, users::suspended_at) =
    (users::role, users::is_dj, users::suspended_at);

/// The status of a session's owner.
pub(crate) fn owner_status((role, is_dj, suspended_at): OwnerRow) -> Result<UserStatus, Corrupt> {
    let role = known("users.role", Role::stored(&role))?;
    Ok(UserStatus { role, is_dj, suspended: suspended_at.is_some() })
}

/// Stores a session with its first token or its cookie; a session that this secret already began stays as it is.
pub(crate) async fn begin(
    connection: &mut Connection,
    session: &Session,
    secret: SessionSecret,
) -> Result<(), StoreFailure> {
    let row = StoredSession::of(session);
    let cookie = secret.cookie().map(|hash| hash.0.to_vec());
    let begun = diesel::insert_into(sessions::table)
        .values((&row, sessions::cookie_hash.eq(cookie)))
        .on_conflict(sessions::id)
        .do_nothing()
        .execute(connection)
        .await?;
    if begun == 0 {
        return if is_kept(connection, session, secret).await? { Ok(()) } else { Err(StoreFailure::IdTaken) };
    }
    if let SessionSecret::RefreshToken(hash) = secret {
        let token = StoredToken::of(&session.first_token(hash));
        diesel::insert_into(tokens::table).values(&token).execute(connection).await?;
    }
    see(connection, row.user_id, session.client.network(), row.began_at).await
}

/// Whether this secret of this session is stored, used or not.
pub(crate) async fn is_kept(
    connection: &mut Connection,
    session: &Session,
    secret: SessionSecret,
) -> Result<bool, StoreFailure> {
    let id = session.id.get();
    Ok(match secret {
        SessionSecret::RefreshToken(hash) => {
            let kept = tokens::table.find(hash.0.to_vec()).filter(tokens::session_id.eq(id));
            diesel::select(dsl::exists(kept)).get_result(connection).await?
        }
        SessionSecret::Cookie(hash) => {
            let kept = sessions::table.find(id).filter(sessions::cookie_hash.eq(hash.0.to_vec()));
            diesel::select(dsl::exists(kept)).get_result(connection).await?
        }
    })
}

/// Records the use of a session with a cookie and the network, unless another use was recorded or the session ended in
/// the meantime; returns whether it did.
pub(crate) async fn record_use(
    connection: &mut Connection,
    before: &CookieSession,
    after: &CookieSession,
    network: Option<ClientNetwork>,
) -> Result<bool, StoreFailure> {
    let (session, user) = (&after.0, after.0.user.get());
    // The user first, as in an erasure: the network references them.
    locked!(only for_key_share, users::table.find(user).select(users::id), connection);
    let recorded = diesel::update(sessions::table.find(session.id.get()))
        .filter(sessions::ended_at.is_null())
        .filter(sessions::used_at.eq(ColumnTime(before.0.used_at)))
        .set((
            sessions::used_at.eq(ColumnTime(session.used_at)),
            sessions::expires_at.eq(ColumnTime(session.expires_at)),
        ))
        .execute(connection)
        .await?;
    if recorded > 0 {
        see(connection, user, network, session.used_at).await?;
    }
    Ok(recorded > 0)
}

/// The condition of a session that is no personal access token.
#[dsl::auto_type]
pub(crate) fn is_login() -> _ {
    let token = personal_tokens::table.filter(personal_tokens::session_id.eq(sessions::id));
    dsl::not(dsl::exists(token))
}

/// The condition of a session that a restore keeps: it belongs to a guest account, and has a cookie. No login leads to the
/// money of the account. The session is found by the hash of the cookie, so that a reused id cannot be confused with it.
#[dsl::auto_type]
pub(crate) fn outlasts_restore() -> _ {
    let guest: &'static str = Role::Guest.name();
    let owner = users::table.filter(users::id.eq(sessions::user_id)).filter(users::role.eq(guest));
    sessions::cookie_hash.is_not_null().and(dsl::exists(owner))
}

/// Ends a user's live sessions and returns their number: with one to keep, all except this one and the personal access
/// tokens. They are locked by id to avoid deadlocks.
pub(crate) async fn end_all(
    connection: &mut Connection,
    user: UserId,
    keep: Option<SessionId>,
    now: Timestamp,
) -> Result<usize, StoreFailure> {
    let ids = sessions::table
        .filter(sessions::user_id.eq(user.get()))
        .filter(alive(now))
        .filter(sessions::id.ne(keep.map_or(0, SessionId::get)))
        .filter(is_login().or(keep.is_none().into_sql::<Bool>()))
        .select(sessions::id);
    let ids: Vec<i64> = locked!(for_update, ids, sessions::id).load(connection).await?;
    Ok(diesel::update(sessions::table)
        .filter(sessions::id.eq_any(ids))
        .set(sessions::ended_at.eq(ColumnTime(now)))
        .execute(connection)
        .await?)
}

/// Whether the session that is named, if one is, has not ended. It is locked until the end of the transaction: an end
/// of the session waits, and then finds what the transaction did.
pub(crate) async fn is_live(
    connection: &mut Connection,
    session: Option<SessionId>,
) -> Result<bool, StoreFailure> {
    let Some(session) = session else { return Ok(true) };
    let live = sessions::table.find(session.get()).filter(sessions::ended_at.is_null()).select(sessions::id);
    let live: Option<i64> = locked!(for_share, live).get_result(connection).await.optional()?;
    Ok(live.is_some())
}

/// Whether a session is alive. It is not locked: a change of the password ends sessions under the lock of their user.
pub(crate) async fn is_alive(
    connection: &mut Connection,
    session: SessionId,
    now: Timestamp,
) -> Result<bool, StoreFailure> {
    let found = sessions::table.find(session.get()).filter(alive(now));
    Ok(diesel::select(diesel::dsl::exists(found)).get_result(connection).await?)
}
