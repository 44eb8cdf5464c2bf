//! Rows of `sessions` and `refresh_tokens`, as changes begin and end them.

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{StoredSession, StoredToken};
use cuepoint_store_sql::schema::sessions;
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{And, Gt, IsNull};
use diesel::prelude::*;

use super::login_networks::see;
use crate::connect::failure::SqliteFailure;
use cuepoint_store_sql::schema::refresh_tokens as tokens;

/// The condition of `Session::is_alive` on a row.
pub(crate) fn alive(now: Timestamp) -> And<IsNull<sessions::ended_at>, Gt<sessions::expires_at, ColumnTime>> {
    sessions::ended_at.is_null().and(sessions::expires_at.gt(ColumnTime(now)))
}

/// Stores a session with its first token; a session that this token already began stays as it is.
pub(crate) fn begin(
    connection: &mut SqliteConnection,
    session: &StoredSession,
    token: &StoredToken,
    network: Option<&str>,
) -> Result<(), SqliteFailure> {
    let begun = diesel::insert_into(sessions::table)
        .values(session)
        .on_conflict(sessions::id)
        .do_nothing()
        .execute(connection)?;
    if begun == 0 {
        return if is_stored(connection, token)? { Ok(()) } else { Err(SqliteFailure::IdTaken) };
    }
    diesel::insert_into(tokens::table).values(token).execute(connection)?;
    see(connection, session.user_id, network, session.began_at)
}

/// Whether this token of this session is stored, used or not.
pub(crate) fn is_stored(
    connection: &mut SqliteConnection,
    token: &StoredToken,
) -> Result<bool, SqliteFailure> {
    let stored = tokens::table.find(&token.hash).filter(tokens::session_id.eq(token.session_id));
    Ok(diesel::select(diesel::dsl::exists(stored)).get_result(connection)?)
}

/// Ends a user's live sessions except the one to keep, and returns their number.
pub(crate) fn end_all(
    connection: &mut SqliteConnection,
    user: UserId,
    keep: Option<SessionId>,
    now: Timestamp,
) -> Result<usize, SqliteFailure> {
    Ok(diesel::update(sessions::table)
        .filter(sessions::user_id.eq(user.get()))
        .filter(alive(now))
        .filter(sessions::id.ne(keep.map_or(0, SessionId::get)))
        .set(sessions::ended_at.eq(ColumnTime(now)))
        .execute(connection)?)
}

/// Whether the session that is named, if one is, has not ended.
pub(crate) fn is_live(connection: &mut SqliteConnection, session: Option<SessionId>) -> QueryResult<bool> {
    let Some(session) = session else { return Ok(true) };
    let live = sessions::table.find(session.get()).filter(sessions::ended_at.is_null());
    diesel::select(diesel::dsl::exists(live)).get_result(connection)
}
