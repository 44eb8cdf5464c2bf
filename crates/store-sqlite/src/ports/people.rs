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
use cuepoint_store_sql::rows::{
    NewUser, StoredSession, StoredToken, StoredUser, StoredWallet, is_present, names,
};
use cuepoint_store_sql::schema::{bootstrap_operator, users, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, select, sql};
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel::sqlite::Sqlite;

use super::email_changes::is_reserved;
use super::lists::page;
use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::tables::sessions::{begin, is_stored};
use crate::tables::users::ACTING_OPERATOR;
use crate::writer::Repetition;

fn djs(filter: DjFilter) -> IntoBoxed<'static, users::table, Sqlite> {
    // An equality, so that it is looked up in the index.
    let query = users::table.filter(users::is_dj.eq(true).and(is_present())).into_boxed();
    match filter.online {
        Some(online) => query.filter(users::online.eq(online)),
        None => query,
    }
}

/// Users who are not erased, optionally only those with an address.
fn everybody(email: Option<&str>) -> IntoBoxed<'_, users::table, Sqlite> {
    let query = users::table.filter(is_present()).into_boxed();
    match email {
        Some(email) => query.filter(users::email_folded.eq(email)),
        None => query,
    }
}

/// Adds a user with their wallet, and returns whether the address was free.
fn add(
    connection: &mut SqliteConnection,
    person: &NewUser,
    wallet: &StoredWallet,
) -> Result<bool, SqliteFailure> {
    let (user, email, at) = person.address();
    if is_reserved(connection, email, user, at)? {
        return Ok(false);
    }
    let added = diesel::insert_into(users::table)
        .values(person)
        .on_conflict(users::email_folded)
        .do_nothing()
        .execute(connection)?;
    if added > 0 {
        diesel::insert_into(wallets::table).values(wallet).execute(connection)?;
    }
    Ok(added > 0)
}

impl SqliteStore {
    /// The rows of a new user.
    fn new_user(
        &self,
        user: &User,
        password: &PasswordHash,
    ) -> Result<(NewUser, StoredWallet), SqliteFailure> {
        let person = NewUser::of(user, password, &self.currency);
        Ok((person, StoredWallet::of(&Wallet::empty(user.id), &self.currency)))
    }

    /// The rows of a new session with its first token.
    pub(crate) fn new_session(
        &self,
        session: &Session,
        token: TokenHash,
    ) -> Result<(StoredSession, StoredToken, Option<String>), SqliteFailure> {
        let network = session.client.network().map(|network| network.to_string());
        let token = StoredToken::of(&session.first_token(token));
        Ok((StoredSession::of(session), token, network))
    }
}

#[async_trait]
impl People for SqliteStore {
    async fn register<'a>(
        &self,
        user: &User,
        password: &PasswordHash,
        session: Option<(&'a Session, TokenHash)>,
    ) -> Result<Registered, Unavailable> {
        let (person, wallet) = self.new_user(user, password)?;
        let session = session.map(|(session, token)| self.new_session(session, token)).transpose()?;
        let register = move |connection: &mut SqliteConnection| {
            if !add(connection, &person, &wallet)? {
                let own = match &session {
                    Some((_, token, _)) => is_stored(connection, token)?,
                    None => false,
                };
                return Ok(if own { Registered::Done } else { Registered::EmailTaken });
            }
            if let Some((session, token, network)) = &session {
                begin(connection, session, token, network.as_deref())?;
            }
            Ok(Registered::Done)
        };
        Ok(self.writer.change(Repetition::Repeatable, register).await?)
    }

    async fn has_first_operator(&self) -> Result<bool, Unavailable> {
        self.readers.read(|connection| {
            Ok(select(exists(bootstrap_operator::table.select(bootstrap_operator::singleton)))
                .get_result(connection)?)
        })
    }

    async fn register_first_operator(
        &self,
        user: &User,
        password: &PasswordHash,
    ) -> Result<FirstOperator, Unavailable> {
        let (person, wallet) = self.new_user(user, password)?;
        let made_at = ColumnTime(user.created_at);
        let register = move |connection: &mut SqliteConnection| {
            let before = select(exists(bootstrap_operator::table.select(bootstrap_operator::singleton)));
            if before.get_result(connection)? {
                return Ok(FirstOperator::MadeBefore);
            }
            if !add(connection, &person, &wallet)? {
                return Ok(FirstOperator::EmailTaken);
            }
            let once = (bootstrap_operator::singleton.eq(true), bootstrap_operator::made_at.eq(made_at));
            diesel::insert_into(bootstrap_operator::table).values(once).execute(connection)?;
            Ok(FirstOperator::Done)
        };
        Ok(self.writer.change(Repetition::Once, register).await?)
    }

    async fn profile(&self, id: UserId) -> Result<Option<Profile>, Unavailable> {
        self.readers.read(|connection| {
            let both = users::table.inner_join(wallets::table).filter(users::id.eq(id.get()));
            let both = both.select((StoredUser::as_select(), StoredWallet::as_select()));
            let row: Option<(StoredUser, StoredWallet)> = both.get_result(connection).optional()?;
            let Some((user, wallet)) = row else { return Ok(None) };
            let balance = wallet.balance(&self.currency)?;
            Ok(Some(Profile { user: user.user(&self.currency)?, balance }))
        })
    }

    async fn active_operators(&self, after: Option<UserId>, limit: u32) -> Result<Vec<User>, Unavailable> {
        self.readers.read(|connection| {
            let rows: Vec<StoredUser> = users::table
                .filter(sql::<Bool>(ACTING_OPERATOR))
                .filter(users::suspended_at.is_null())
                .filter(users::id.gt(after.map_or(0, UserId::get)))
                .order(users::id)
                .limit(i64::from(limit))
                .select(StoredUser::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(|row| row.user(&self.currency)).collect::<Result<_, _>>()?)
        })
    }

    async fn people<'a>(
        &self,
        email: Option<&'a str>,
        asked: PageRequest,
    ) -> Result<Rows<User>, Unavailable> {
        let newest_first = (users::created_at.desc(), users::id.desc());
        let (email, currency) = (email.map(str::to_owned), self.currency.clone());
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, everybody(email.as_deref()), newest_first, StoredUser, |row| row
                .user(&currency))
        };
        self.readers.list(asked, page).await
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
        self.erasures_after(after, limit)
    }

    async fn finish_erasures(&self) -> Result<(), Unavailable> {
        self.finish_pending_erasures().await
    }

    async fn names(&self, ids: &BTreeSet<UserId>) -> Result<BTreeMap<UserId, Line>, Unavailable> {
        let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
        self.readers.read(|connection| {
            let present = users::table.filter(users::id.eq_any(ids)).filter(is_present());
            let rows: Vec<(i64, String)> = present.select((users::id, users::name)).load(connection)?;
            Ok(names(rows)?)
        })
    }

    async fn djs(&self, filter: DjFilter, asked: PageRequest) -> Result<Rows<User>, Unavailable> {
        let newest_first = (users::created_at.desc(), users::id.desc());
        let currency = self.currency.clone();
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, djs(filter), newest_first, StoredUser, |row| row.user(&currency))
        };
        self.readers.list(asked, page).await
    }
}
