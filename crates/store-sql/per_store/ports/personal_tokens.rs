//! Personal access tokens: sessions with a name, scopes and the hash of a secret.

use async_trait::async_trait;
use cuepoint_domain::authorization::FoundToken;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::{PersonalTokens, TokenAddition, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::personal_token::PersonalToken;
use cuepoint_domain::user::session::TokenHash;
use cuepoint_store_sql::rows::{Corrupt, StoredPersonalToken, StoredSession};
use cuepoint_store_sql::schema::{personal_tokens, sessions, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;

use crate::SqlStore;
use crate::dialect::{Connection, RunQueryDsl, StoreFailure, locked};
use crate::tables::sessions::{OWNER, OwnerRow, alive, is_alive, is_login, owner_status};

/// A token, its session and its owner.
type FoundRow = (StoredPersonalToken, StoredSession, OwnerRow);

fn found((token, session, owner): FoundRow) -> Result<FoundToken, Corrupt> {
    let ended_at = session.ended_at;
    Ok(FoundToken { credential: token.token(session)?, ended_at, owner: owner_status(owner)? })
}

#[async_trait]
impl PersonalTokens for SqlStore {
    async fn add_token(
        &self,
        token: &PersonalToken,
        hash: TokenHash,
        author: SessionId,
    ) -> Result<TokenAddition, Unavailable> {
        let row = StoredPersonalToken::of(token, hash);
        let added = self.transact((token.clone(), row, author), async |connection, (token, row, author)| {
            add(connection, &token, &row, author).await
        });
        Ok(added.await?)
    }

    async fn use_token(&self, hash: &TokenHash, now: Timestamp) -> Result<Option<FoundToken>, Unavailable> {
        let token = self.read(hash.0.to_vec(), async |mut connection, hash| {
            let row: Option<FoundRow> = personal_tokens::table
                .inner_join(sessions::table.inner_join(users::table))
                .filter(personal_tokens::hash.eq(hash))
                .select((StoredPersonalToken::as_select(), StoredSession::as_select(), OWNER))
                .get_result(&mut connection)
                .await
                .optional()?;
            Ok(row.map(found).transpose()?)
        });
        let Some(token) = token.await? else { return Ok(None) };
        if token.principal(now).is_ok() {
            let input = (token.credential.id().get(), now);
            let used = self.write_repeatable(input, async |connection, (id, now)| {
                let used =
                    diesel::update(sessions::table.find(id)).filter(sessions::used_at.lt(ColumnTime(now)));
                Ok(used.set(sessions::used_at.eq(ColumnTime(now))).execute(connection).await?)
            });
            // The token is valid even if its use cannot be recorded.
            if let Err(error) = used.await {
                tracing::warn!(%error, "the use of a personal access token was not recorded");
            }
        }
        Ok(Some(token))
    }

    async fn tokens(&self, owner: UserId, now: Timestamp) -> Result<Vec<PersonalToken>, Unavailable> {
        self.read((owner.get(), now), async |mut connection, (owner, now)| {
            let rows: Vec<(StoredPersonalToken, StoredSession)> = personal_tokens::table
                .inner_join(sessions::table)
                .filter(sessions::user_id.eq(owner))
                .filter(alive(now))
                .order((sessions::began_at.desc(), sessions::id.desc()))
                .select((StoredPersonalToken::as_select(), StoredSession::as_select()))
                .load(&mut connection)
                .await?;
            let tokens = rows.into_iter().map(|(token, session)| token.token(session));
            Ok(tokens.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn end_token(&self, owner: UserId, id: SessionId, now: Timestamp) -> Result<bool, Unavailable> {
        self.write((owner, id, now), async |connection, (owner, id, now)| {
            let ended = diesel::update(sessions::table.find(id.get()))
                .filter(sessions::user_id.eq(owner.get()))
                .filter(alive(now))
                .filter(diesel::dsl::not(is_login()))
                .set(sessions::ended_at.eq(ColumnTime(now)))
                .execute(connection)
                .await?;
            Ok(ended > 0)
        })
        .await
    }
}

/// Adds a token under the lock of its owner: a concurrent end of all sessions either waits and ends the token, or comes
/// first and ends its author.
async fn add(
    connection: &mut Connection,
    token: &PersonalToken,
    row: &StoredPersonalToken,
    author: SessionId,
) -> Result<TokenAddition, StoreFailure> {
    let (owner, now) = (token.session.user.get(), token.session.began_at);
    let person = users::table.find(owner).select(users::id);
    let person: Option<i64> = locked!(for_no_key_update, person).get_result(connection).await.optional()?;
    if person.is_none() || !is_alive(connection, author, now).await? {
        return Ok(TokenAddition::SessionEnded);
    }
    let live: i64 = personal_tokens::table
        .inner_join(sessions::table)
        .filter(sessions::user_id.eq(owner))
        .filter(alive(now))
        .count()
        .get_result(connection)
        .await?;
    if usize::try_from(live).is_ok_and(|live| live >= PersonalToken::MAX_LIVE) {
        return Ok(TokenAddition::TooMany);
    }
    let session = StoredSession::of(&token.session);
    diesel::insert_into(sessions::table).values(&session).execute(connection).await?;
    diesel::insert_into(personal_tokens::table).values(row).execute(connection).await?;
    Ok(TokenAddition::Added)
}
