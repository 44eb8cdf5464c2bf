//! Uses of wallet links.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::Purpose;
use cuepoint_domain::user::session::{Session, SessionSecret, TokenHash};
use cuepoint_domain::user::wallet_link::LinkEnd;
use cuepoint_store_sql::schema::{challenges, sessions};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::exists;
use diesel::prelude::*;

use crate::dialect::{Connection, Reading, RunQueryDsl, StoreFailure, reading};
use crate::tables::challenges::with_hash;
use crate::tables::sessions::{begin, end_all};
use crate::tables::users::lock;

/// Uses a link: see [`cuepoint_domain::ports::Logins::use_wallet_link`].
pub(super) async fn open(
    connection: &mut Connection,
    presented: &TokenHash,
    session: &Session,
    cookie: TokenHash,
    currency: &Currency,
) -> Result<Result<User, LinkEnd>, StoreFailure> {
    let Some(user) = lock(connection, session.user, currency).await? else {
        return Ok(Err(LinkEnd::Unknown));
    };
    // Read under the lock, so that the link is used once.
    let Some(row) = with_hash(reading(connection), Purpose::WalletLink, presented).await? else {
        return Ok(Err(LinkEnd::Unknown));
    };
    let (row, link) = (row.id, row.challenge()?);
    let now = session.began_at;
    if let Err(end) = link.opens_wallet(&user, now) {
        return Ok(Err(end));
    }
    diesel::update(challenges::table.find(row))
        .set(challenges::ended_at.eq(ColumnTime(now)))
        .execute(connection)
        .await?;
    end_all(connection, user.id, None, now).await?;
    begin(connection, session, SessionSecret::Cookie(cookie)).await?;
    Ok(Ok(user))
}

diesel::alias!(sessions as begun: Begun);

/// Whether a session ended when a link of its user was used and another session began. A restore also ends links and
/// sessions at the same time, but begins no session.
pub(super) async fn ended(mut connection: Reading<'_>, session: SessionId) -> Result<bool, StoreFailure> {
    let used = challenges::table
        .filter(challenges::user_id.eq(sessions::user_id))
        .filter(challenges::purpose.eq(Purpose::WalletLink.name()))
        .filter(challenges::ended_at.eq(sessions::ended_at));
    let begins = begun
        .filter(begun.field(sessions::user_id).eq(sessions::user_id))
        .filter(begun.field(sessions::began_at).nullable().eq(sessions::ended_at));
    let ended = sessions::table.find(session.get()).filter(exists(used)).filter(exists(begins));
    Ok(diesel::select(exists(ended)).get_result(&mut connection).await?)
}
