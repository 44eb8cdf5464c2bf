//! People.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Wallet;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::people::User;
use cuepoint_domain::ports::{Credentials, DjFilter, PasswordHash, People, Profile, Registered, Unavailable};
use cuepoint_domain::session::RefreshToken;
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error as QueryError};
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::PostgresStore;
use crate::database::Failure;
use crate::reads::{Paged, columns, limits, page};
use crate::rows::{FamilyRow, NewUserRow, TokenRow, UserRow, WalletRow};
use crate::schema::{users, wallets};
use crate::sessions::begin;

fn djs(filter: DjFilter) -> IntoBoxed<'static, users::table, Pg> {
    let query = users::table.filter(users::is_dj).into_boxed();
    match filter.online {
        Some(online) => query.filter(users::online.eq(online)),
        None => query,
    }
}

#[async_trait]
impl People for PostgresStore {
    async fn register<'a>(
        &self,
        user: &User,
        password: &PasswordHash,
        session: Option<&'a RefreshToken>,
    ) -> Result<Registered, Unavailable> {
        let person = NewUserRow::of(user, password, &self.currency);
        let wallet = WalletRow::of(&Wallet::empty(user.id), &self.currency);
        let session = session.map(|token| (FamilyRow::of(token), TokenRow::of(token)));
        let added = self
            .database
            .write(async |connection| {
                connection
                    .transaction(async |connection| {
                        diesel::insert_into(users::table).values(&person).execute(connection).await?;
                        diesel::insert_into(wallets::table).values(&wallet).execute(connection).await?;
                        if let Some((family, token)) = &session {
                            begin(connection, family, token).await?;
                        }
                        Ok::<(), Failure>(())
                    })
                    .await
            })
            .await;
        match added {
            Ok(()) => Ok(Registered::Done),
            Err(Failure::Query(QueryError::DatabaseError(DatabaseErrorKind::UniqueViolation, info)))
                if info.constraint_name() == Some("users_email_folded_key") =>
            {
                Ok(Registered::EmailTaken)
            }
            Err(failure) => Err(failure.into()),
        }
    }

    async fn profile(&self, id: UserId) -> Result<Option<Profile>, Unavailable> {
        let found: Option<(UserRow, WalletRow)> = self
            .database
            .read(async |connection| {
                Ok(users::table
                    .inner_join(wallets::table)
                    .filter(users::id.eq(id.get()))
                    .select((UserRow::as_select(), WalletRow::as_select()))
                    .get_result(connection)
                    .await
                    .optional()?)
            })
            .await?;
        let Some((user, wallet)) = found else { return Ok(None) };
        let balance = wallet.balance(&self.currency).map_err(Unavailable::new)?;
        let user = user.user(&self.currency).map_err(Unavailable::new)?;
        Ok(Some(Profile { user, balance }))
    }

    async fn credentials(&self, email: &str) -> Result<Option<Credentials>, Unavailable> {
        let found: Option<(i64, String)> = self
            .database
            .read(async |connection| {
                Ok(users::table
                    .filter(users::email_folded.eq(email))
                    .select((users::id, users::password_hash))
                    .get_result(connection)
                    .await
                    .optional()?)
            })
            .await?;
        let Some((id, password)) = found else { return Ok(None) };
        let user = UserId::new(id).ok_or_else(|| Unavailable::new("a person's id is not positive"))?;
        Ok(Some(Credentials { user, password: PasswordHash(password) }))
    }

    async fn djs(&self, filter: DjFilter, asked: PageRequest) -> Result<Rows<User>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Vec<(i64, Option<UserRow>)> = self
            .database
            .read(async |connection| {
                let paged = Paged {
                    count: djs(filter).count(),
                    page: djs(filter)
                        .order((users::created_at.desc(), users::id.desc()))
                        .limit(limit)
                        .offset(offset)
                        .select(columns::<UserRow>()),
                };
                Ok(paged.load(connection).await?)
            })
            .await?;
        page(counted, |row| row.user(&self.currency)).map_err(Unavailable::new)
    }
}
