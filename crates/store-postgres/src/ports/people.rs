//! The port of users.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Wallet;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{
    DjFilter, Erased, FirstOperator, PasswordHash, People, Profile, Registered, Unavailable,
};
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::session::{Session, TokenHash};
use cuepoint_store_sql::rows::{NewUser, StoredToken, StoredUser, StoredWallet, is_present, names};
use cuepoint_store_sql::schema::{bootstrap_operator, users, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, select, sql};
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};

use super::email_changes::{ensure_unreserved, unless_taken};
use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::reads::{Counted, NewestFirst, ProfileRow, columns, limits, paged};
use crate::tables::advisory_locks::{FIRST_OPERATOR, pg_advisory_xact_lock};
use crate::tables::sessions::{begin, is_kept};
use crate::tables::users::ACTING_OPERATOR;

fn djs(filter: DjFilter) -> IntoBoxed<'static, users::table, Pg> {
    let query = users::table.filter(users::is_dj.and(is_present())).into_boxed();
    match filter.online {
        Some(online) => query.filter(users::online.eq(online)),
        None => query,
    }
}

/// Users who are not erased, optionally only those with an address.
fn everybody(email: Option<&str>) -> IntoBoxed<'_, users::table, Pg> {
    let query = users::table.filter(is_present()).into_boxed();
    match email {
        Some(email) => query.filter(users::email_folded.eq(email)),
        None => query,
    }
}

/// Adds a user with their wallet, and returns whether no user had the address.
///
/// # Errors
/// [`DatabaseFailure::EmailTaken`] if another user can restore it.
async fn add(
    connection: &mut AsyncPgConnection,
    person: &NewUser,
    wallet: &StoredWallet,
) -> Result<bool, DatabaseFailure> {
    let added = diesel::insert_into(users::table)
        .values(person)
        .on_conflict(users::email_folded)
        .do_nothing()
        .execute(connection)
        .await?;
    if added > 0 {
        let (user, email, at) = person.address();
        ensure_unreserved(connection, email, user, at).await?;
        diesel::insert_into(wallets::table).values(wallet).execute(connection).await?;
    }
    Ok(added > 0)
}

impl PostgresStore {
    /// A page of these users, newest first.
    async fn page_of<'q>(
        &self,
        asked: PageRequest,
        people: impl Fn() -> IntoBoxed<'q, users::table, Pg> + Send + Sync,
    ) -> Result<Rows<User>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<StoredUser> = self
            .database
            .read(async |connection| {
                let page = people()
                    .order((users::created_at.desc(), users::id.desc()))
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<StoredUser>());
                paged!(connection, people().count(), page, NewestFirst, offset)
            })
            .await?;
        counted.page(|row| row.user(&self.currency)).map_err(Unavailable::new)
    }
}

#[async_trait]
impl People for PostgresStore {
    async fn register<'a>(
        &self,
        user: &User,
        password: &PasswordHash,
        session: Option<(&'a Session, TokenHash)>,
    ) -> Result<Registered, Unavailable> {
        let person = NewUser::of(user, password, &self.currency);
        let wallet = StoredWallet::of(&Wallet::empty(user.id), &self.currency);
        let session = session.map(|(session, token)| (session, StoredToken::of(&session.first_token(token))));
        let registered = self
            .database
            .write_repeatable(async |connection| {
                let registered = connection
                    .transaction(async |connection| {
                        if !add(connection, &person, &wallet).await? {
                            let own = match &session {
                                Some((_, token)) => is_kept(connection, token).await?,
                                None => false,
                            };
                            return Ok(if own { Registered::Done } else { Registered::EmailTaken });
                        }
                        if let Some((session, token)) = &session {
                            begin(connection, session, token).await?;
                        }
                        Ok::<Registered, DatabaseFailure>(Registered::Done)
                    })
                    .await;
                unless_taken(registered, Registered::EmailTaken)
            })
            .await?;
        Ok(registered)
    }

    async fn has_first_operator(&self) -> Result<bool, Unavailable> {
        let made = self.database.read(async |mut connection| {
            Ok(select(exists(bootstrap_operator::table.select(bootstrap_operator::singleton)))
                .get_result(&mut connection)
                .await?)
        });
        Ok(made.await?)
    }

    async fn register_first_operator(
        &self,
        user: &User,
        password: &PasswordHash,
    ) -> Result<FirstOperator, Unavailable> {
        let person = NewUser::of(user, password, &self.currency);
        let wallet = StoredWallet::of(&Wallet::empty(user.id), &self.currency);
        let made_at = ColumnTime(user.created_at);
        let made = self.database.write(async |connection| {
            let made = connection
                .transaction(async |connection| {
                    select(pg_advisory_xact_lock(FIRST_OPERATOR, 0)).execute(connection).await?;
                    let before =
                        select(exists(bootstrap_operator::table.select(bootstrap_operator::singleton)));
                    if before.get_result(connection).await? {
                        return Ok(FirstOperator::MadeBefore);
                    }
                    if !add(connection, &person, &wallet).await? {
                        return Ok(FirstOperator::EmailTaken);
                    }
                    let once = bootstrap_operator::made_at.eq(made_at);
                    diesel::insert_into(bootstrap_operator::table).values(once).execute(connection).await?;
                    Ok::<FirstOperator, DatabaseFailure>(FirstOperator::Done)
                })
                .await;
            unless_taken(made, FirstOperator::EmailTaken)
        });
        Ok(made.await?)
    }

    async fn profile(&self, id: UserId) -> Result<Option<Profile>, Unavailable> {
        let Some(ProfileRow { user, wallet }) = self.together().profiles.find(id.get()).await? else {
            return Ok(None);
        };
        let balance = wallet.balance(&self.currency).map_err(Unavailable::new)?;
        let user = user.user(&self.currency).map_err(Unavailable::new)?;
        Ok(Some(Profile { user, balance }))
    }

    async fn active_operators(&self, after: Option<UserId>, limit: u32) -> Result<Vec<User>, Unavailable> {
        let rows: Vec<StoredUser> = self
            .database
            .read_by_pool(async |mut connection| {
                let operators = users::table
                    .filter(sql::<Bool>(ACTING_OPERATOR))
                    .filter(users::suspended_at.is_null())
                    .filter(users::id.gt(after.map_or(0, UserId::get)))
                    .order(users::id)
                    .limit(i64::from(limit))
                    .select(StoredUser::as_select());
                Ok(operators.load(&mut connection).await?)
            })
            .await?;
        let operators = rows.into_iter().map(|row| row.user(&self.currency));
        operators.collect::<Result<_, _>>().map_err(Unavailable::new)
    }

    async fn people<'a>(
        &self,
        email: Option<&'a str>,
        asked: PageRequest,
    ) -> Result<Rows<User>, Unavailable> {
        self.page_of(asked, || everybody(email)).await
    }

    async fn erase(
        &self,
        id: UserId,
        expected_since: Timestamp,
        now: Timestamp,
    ) -> Result<Erased, Unavailable> {
        self.erase_person(id, expected_since, now).await
    }

    async fn pending_erasures(&self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, Unavailable> {
        Ok(self.erasures_after(after, limit).await?)
    }

    async fn finish_erasures(&self) -> Result<(), Unavailable> {
        self.finish_pending_erasures().await
    }

    async fn names(&self, ids: &BTreeSet<UserId>) -> Result<BTreeMap<UserId, Line>, Unavailable> {
        let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
        let rows: Vec<(i64, String)> = self
            .database
            .read(async |mut connection| {
                let present = users::table.filter(users::id.eq_any(&ids)).filter(is_present());
                Ok(present.select((users::id, users::name)).load(&mut connection).await?)
            })
            .await?;
        names(rows).map_err(Unavailable::new)
    }

    async fn djs(&self, filter: DjFilter, asked: PageRequest) -> Result<Rows<User>, Unavailable> {
        self.page_of(asked, || djs(filter)).await
    }
}
