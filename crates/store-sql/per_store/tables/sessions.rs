//! Rows of `sessions` and `refresh_tokens`, as transactions begin and end them.

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::Session;
use cuepoint_store_sql::rows::{StoredSession, StoredToken};
use cuepoint_store_sql::schema::{personal_tokens, sessions};
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

/// Stores a session with its first token; a session that this token already began stays as it is.
pub(crate) async fn begin(
    connection: &mut Connection,
    session: &Session,
    token: &StoredToken,
) -> Result<(), StoreFailure> {
    let row = StoredSession::of(session);
    let begun = diesel::insert_into(sessions::table)
        .values(&row)
        .on_conflict(sessions::id)
        .do_nothing()
        .execute(connection)
        .await?;
    if begun == 0 {
        return if is_kept(connection, token).await? { Ok(()) } else { Err(StoreFailure::IdTaken) };
    }
    diesel::insert_into(tokens::table).values(token).execute(connection).await?;
    see(connection, row.user_id, session.client.network(), row.began_at).await
}

/// Whether this token of this session is stored, used or not.
pub(crate) async fn is_kept(connection: &mut Connection, token: &StoredToken) -> Result<bool, StoreFailure> {
    let kept = tokens::table.find(&token.hash).filter(tokens::session_id.eq(token.session_id));
    Ok(diesel::select(diesel::dsl::exists(kept)).get_result(connection).await?)
}

/// The condition of a session that is no personal access token.
#[dsl::auto_type]
pub(crate) fn is_login() -> _ {
    let token = personal_tokens::table.filter(personal_tokens::session_id.eq(sessions::id));
    dsl::not(dsl::exists(token))
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
