//! Claims of guest accounts.

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::GuestClaim;
use cuepoint_domain::user::guest_account::Claimed;
use cuepoint_domain::user::session::SessionSecret;
use cuepoint_store_sql::rows::{StoredSession, StoredToken, StoredUser};
use cuepoint_store_sql::schema::{refresh_tokens, sessions, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;

use super::email_changes::moves;
use crate::dialect::{Connection, RunQueryDsl, StoreFailure, locked};
use crate::tables::sessions::{alive, end_all};

/// Makes a guest account a member: see [`cuepoint_domain::ports::Logins::claim`].
///
/// # Errors
/// [`StoreFailure::EmailTaken`], or a unique violation, if another user can restore or has the address.
pub(super) async fn claim(
    connection: &mut Connection,
    claim: &GuestClaim,
    currency: &Currency,
) -> Result<Claimed, StoreFailure> {
    // The address is a key of the user: a weaker lock would have to be raised after an exchange of a refresh token has
    // locked the user and waits for the session.
    let row = locked!(for_update, users::table.find(claim.user.get()).select(StoredUser::as_select()));
    let row: Option<StoredUser> = row.get_result(connection).await.optional()?;
    let guest = row.map(|row| row.user(currency)).transpose()?;
    let Some(member) = guest.and_then(|guest| guest.claimed(&claim.details, claim.at)) else {
        return Ok(Claimed::NotAGuest);
    };
    let cookie = claim.secret.cookie().map(|hash| hash.0.to_vec());
    let session: Option<StoredSession> = diesel::update(sessions::table.find(claim.session.get()))
        .filter(sessions::user_id.eq(claim.user.get()))
        .filter(alive(claim.at))
        .set((
            sessions::used_at.eq(ColumnTime(claim.at)),
            sessions::expires_at.eq(ColumnTime(claim.expires_at)),
            sessions::cookie_hash.eq(cookie),
        ))
        .returning(StoredSession::as_returning())
        .get_result(connection)
        .await
        .optional()?;
    let Some(session) = session else { return Ok(Claimed::NotAGuest) };
    moves(connection, &member, claim.at, currency).await?;
    diesel::update(users::table.find(claim.user.get()))
        .set(users::password_hash.eq(&claim.password.0))
        .execute(connection)
        .await?;
    end_all(connection, claim.user, Some(claim.session), claim.at).await?;
    diesel::delete(refresh_tokens::table.filter(refresh_tokens::session_id.eq(claim.session.get())))
        .execute(connection)
        .await?;
    if let SessionSecret::RefreshToken(hash) = claim.secret {
        let token = session.session()?.claimed_token(hash, claim.at, claim.expires_at);
        let token = StoredToken::of(&token);
        diesel::insert_into(refresh_tokens::table).values(&token).execute(connection).await?;
    }
    Ok(Claimed::Done(Box::new(member)))
}
