//! Refresh tokens: who presents one locks its family first, so that of many only the first exchanges it.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Exchange, Sessions, Unavailable};
use cuepoint_domain::session::{Presented, RefreshToken, TokenHash};
use cuepoint_domain::timestamp::Timestamp;
use diesel::prelude::*;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::PostgresStore;
use crate::database::Failure;
use crate::rows::{FamilyRow, TokenRow, column_time};
use crate::schema::{refresh_token_families as families, refresh_tokens as tokens};

#[async_trait]
impl Sessions for PostgresStore {
    async fn begin(&self, token: &RefreshToken) -> Result<(), Unavailable> {
        let (family, token) = (FamilyRow::of(token), TokenRow::of(token));
        self.database
            .write(async |connection| {
                connection.transaction(async |connection| begin(connection, &family, &token).await).await
            })
            .await?;
        Ok(())
    }

    async fn owner(&self, presented: &TokenHash) -> Result<Option<UserId>, Unavailable> {
        let hash = presented.0.to_vec();
        let found: Option<FamilyRow> = self
            .database
            .read(async |connection| {
                let family = tokens::table.find(hash.clone()).select(tokens::family_id);
                Ok(families::table
                    .filter(families::id.eq_any(family))
                    .select(FamilyRow::as_select())
                    .get_result(connection)
                    .await
                    .optional()?)
            })
            .await?;
        found.map(|family| family.user().map_err(Unavailable::new)).transpose()
    }

    async fn exchange(
        &self,
        presented: &TokenHash,
        next: TokenHash,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Exchange, Unavailable> {
        let presented = *presented;
        let exchanged = self
            .database
            .write(async |connection| {
                connection
                    .transaction(async |connection| {
                        exchange(connection, presented, next, expires_at, now).await
                    })
                    .await
            })
            .await?;
        Ok(exchanged)
    }

    async fn end(&self, presented: &TokenHash, now: Timestamp) -> Result<(), Unavailable> {
        self.database
            .write(async |connection| {
                let family = tokens::table.find(presented.0.to_vec()).select(tokens::family_id);
                diesel::update(families::table)
                    .filter(families::id.eq_any(family))
                    .filter(families::ended_at.is_null())
                    .set(families::ended_at.eq(column_time(now)))
                    .execute(connection)
                    .await?;
                Ok(())
            })
            .await?;
        Ok(())
    }
}

/// Keeps the first token of a family.
pub(crate) async fn begin(
    connection: &mut AsyncPgConnection,
    family: &FamilyRow,
    token: &TokenRow,
) -> Result<(), Failure> {
    diesel::insert_into(families::table).values(family).execute(connection).await?;
    diesel::insert_into(tokens::table).values(token).execute(connection).await?;
    Ok(())
}

async fn exchange(
    connection: &mut AsyncPgConnection,
    presented: TokenHash,
    next: TokenHash,
    expires_at: Timestamp,
    now: Timestamp,
) -> Result<Exchange, Failure> {
    let hash = presented.0.to_vec();
    let family = tokens::table.find(hash.clone()).select(tokens::family_id);
    let family: Option<FamilyRow> = families::table
        .filter(families::id.eq_any(family))
        .for_update()
        .select(FamilyRow::as_select())
        .get_result(connection)
        .await
        .optional()?;
    let Some(family) = family.filter(|family| family.ended_at.is_none()) else {
        return Ok(Exchange::Refused);
    };
    let user = family.user()?;
    // Read again under the lock: the one who held it before may have used the token.
    let token: Option<TokenRow> = tokens::table
        .find(hash.clone())
        .select(TokenRow::as_select())
        .get_result(connection)
        .await
        .optional()?;
    let Some(token) = token else { return Ok(Exchange::Refused) };
    let token = token.token(user)?;
    match token.presented(now) {
        Presented::Refuse => Ok(Exchange::Refused),
        Presented::EndFamily => {
            end(connection, family.id, now).await?;
            Ok(Exchange::FamilyEnded(user))
        }
        Presented::Exchange => {
            diesel::update(tokens::table.find(hash))
                .set(tokens::used_at.eq(column_time(now)))
                .execute(connection)
                .await?;
            let next = RefreshToken { hash: next, issued_at: now, expires_at, used_at: None, ..token };
            diesel::insert_into(tokens::table).values(TokenRow::of(&next)).execute(connection).await?;
            Ok(Exchange::Done(user))
        }
    }
}

async fn end(connection: &mut AsyncPgConnection, family: Uuid, now: Timestamp) -> Result<(), Failure> {
    diesel::update(families::table.find(family))
        .set(families::ended_at.eq(column_time(now)))
        .execute(connection)
        .await?;
    Ok(())
}
