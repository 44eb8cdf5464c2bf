//! The port of users.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{EntryKind, Wallet};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{
    DjFilter, Erased, FirstOperator, PasswordHash, People, Profile, Registered, Unavailable, UnusedGuests,
};
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::{Session, SessionSecret};
use cuepoint_domain::user::{Role, StandingFacts, User};
use cuepoint_store_sql::Lock;
use cuepoint_store_sql::rows::{
    ACTING_OPERATOR, Corrupt, INCOME, Named, NewUser, StoredUser, StoredWallet, is_present, known, names,
};
use cuepoint_store_sql::schema::{bootstrap_operator, ledger_entries, users, wallets};
use diesel::dsl::{exists, select, sql};
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::Bool;

use super::email_changes::{ensure_unreserved, unless_taken};
use crate::SqlStore;
use crate::dialect::{
    Connection, Database, RunQueryDsl, StoreFailure, columns, is_dj, lock_beside, page, record_first_operator,
};
use crate::tables::sessions::{begin, is_kept};

fn djs(filter: DjFilter) -> IntoBoxed<'static, users::table, Database> {
    let query = users::table.filter(is_dj().and(is_present())).into_boxed();
    match filter.online {
        Some(online) => query.filter(users::online.eq(online)),
        None => query,
    }
}

/// Users who are not erased, optionally only those with an address.
fn everybody(email: Option<&str>) -> IntoBoxed<'_, users::table, Database> {
    let query = users::table.filter(is_present()).into_boxed();
    match email {
        Some(email) => query.filter(users::email_folded.eq(email)),
        None => query,
    }
}

/// Adds a user with their wallet, and returns whether no user had the address.
///
/// # Errors
/// [`StoreFailure::EmailTaken`] if another user can restore it.
async fn add(
    connection: &mut Connection,
    person: &NewUser,
    wallet: &StoredWallet,
) -> Result<bool, StoreFailure> {
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

impl SqlStore {
    /// The rows of a new user.
    fn new_user(&self, user: &User, password: &PasswordHash) -> (NewUser, StoredWallet) {
        let wallet = StoredWallet::of(&Wallet::empty(user.id), &self.currency);
        (NewUser::of(user, password, &self.currency), wallet)
    }
}

/// Whether there ever was an operator.
#[diesel::dsl::auto_type]
fn had_operator() -> _ {
    select(exists(bootstrap_operator::table.select(bootstrap_operator::singleton)))
}

#[async_trait]
impl People for SqlStore {
    async fn register<'a>(
        &self,
        user: &User,
        password: &PasswordHash,
        session: Option<(&'a Session, SessionSecret)>,
    ) -> Result<Registered, Unavailable> {
        if user.is_guest_account() && self.feature_level() < FeatureLevel::GUEST_ACCOUNTS {
            return Ok(Registered::NotYet);
        }
        let first = session.map(|(session, secret)| (session.clone(), secret));
        let input = (self.new_user(user, password), first);
        let done = self.transact_repeatable(input, async |connection, ((person, wallet), session)| {
            if !add(connection, &person, &wallet).await? {
                let own = match &session {
                    Some((session, secret)) => is_kept(connection, session, *secret).await?,
                    None => false,
                };
                return Ok(if own { Registered::Done } else { Registered::EmailTaken });
            }
            if let Some((session, secret)) = &session {
                begin(connection, session, *secret).await?;
            }
            Ok(Registered::Done)
        });
        Ok(unless_taken(done.await, Registered::EmailTaken)?)
    }

    async fn has_first_operator(&self) -> Result<bool, Unavailable> {
        self.read((), async |mut connection, ()| Ok(had_operator().get_result(&mut connection).await?)).await
    }

    async fn register_first_operator(
        &self,
        user: &User,
        password: &PasswordHash,
    ) -> Result<FirstOperator, Unavailable> {
        let input = (self.new_user(user, password), user.created_at);
        let done = self.transact(input, async |connection, ((person, wallet), at)| {
            lock_beside(connection, Lock::FirstOperator).await?;
            if had_operator().get_result(connection).await? {
                return Ok(FirstOperator::MadeBefore);
            }
            if !add(connection, &person, &wallet).await? {
                return Ok(FirstOperator::EmailTaken);
            }
            record_first_operator(connection, at).await?;
            Ok(FirstOperator::Done)
        });
        Ok(unless_taken(done.await, FirstOperator::EmailTaken)?)
    }

    async fn record_first_operator(&self, at: Timestamp) -> Result<(), Unavailable> {
        let done = self.transact(at, async |connection, at| {
            lock_beside(connection, Lock::FirstOperator).await?;
            if !had_operator().get_result(connection).await? {
                record_first_operator(connection, at).await?;
            }
            Ok(())
        });
        Ok(done.await?)
    }

    async fn profile(&self, id: UserId) -> Result<Option<Profile>, Unavailable> {
        self.profile_by_id(id).await
    }

    async fn active_operators(&self, after: Option<UserId>, limit: u32) -> Result<Vec<User>, Unavailable> {
        let input = (after, limit, self.currency.clone());
        self.read_aside(input, async |mut connection, (after, limit, currency)| {
            let rows: Vec<StoredUser> = users::table
                .filter(sql::<Bool>(ACTING_OPERATOR))
                .filter(users::suspended_at.is_null())
                .filter(users::id.gt(after.map_or(0, UserId::get)))
                .order(users::id)
                .limit(i64::from(limit))
                .select(StoredUser::as_select())
                .load(&mut connection)
                .await?;
            Ok(rows.into_iter().map(|row| row.user(&currency)).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn people<'a>(
        &self,
        email: Option<&'a str>,
        asked: PageRequest,
    ) -> Result<Rows<User>, Unavailable> {
        let input = (email.map(str::to_owned), asked, self.currency.clone());
        self.list(asked, input, async |mut connection, (email, asked, currency)| {
            let newest_first = (users::created_at.desc(), users::id.desc());
            page!(
                connection, asked, everybody(email.as_deref()), newest_first => NewestFirst,
                columns::<StoredUser>() => StoredUser, |row| row.user(&currency)
            )
        })
        .await
    }

    async fn erase(
        &self,
        id: UserId,
        confirmed: &PasswordHash,
        expected_since: Timestamp,
        now: Timestamp,
    ) -> Result<Erased, Unavailable> {
        self.erase_person(id, confirmed, expected_since, now).await
    }

    async fn unused_guests(
        &self,
        before: Timestamp,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<UnusedGuests, Unavailable> {
        self.guests_to_delete(before, after, limit).await
    }

    async fn delete_guest(&self, id: UserId, before: Timestamp) -> Result<bool, Unavailable> {
        self.delete_unused_guest(id, before).await
    }

    async fn pending_erasures(&self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, Unavailable> {
        self.erasures_after(after, limit).await
    }

    async fn finish_erasures(&self) -> Result<(), Unavailable> {
        self.finish_pending_erasures().await
    }

    async fn names(&self, ids: &BTreeSet<UserId>) -> Result<BTreeMap<UserId, Line>, Unavailable> {
        let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
        self.read(ids, async |mut connection, ids| {
            let present = users::table.filter(users::id.eq_any(&ids)).filter(is_present());
            let rows: Vec<(i64, String)> =
                present.select((users::id, users::name)).load(&mut connection).await?;
            Ok(names(rows)?)
        })
        .await
    }

    async fn standing(&self, user: UserId) -> Result<Option<StandingFacts>, Unavailable> {
        self.read(user.get(), async |mut connection, user| {
            let entries = || ledger_entries::table.filter(ledger_entries::wallet_id.eq(user));
            // The index on income finds nearly every user who has paid.
            let has_income = exists(entries().filter(sql::<Bool>(INCOME)));
            let has_paid =
                has_income.or(exists(entries().filter(ledger_entries::kind.eq(EntryKind::Capture.name()))));
            let is_verified = users::email_verified.or(users::phone_verified);
            let found = users::table.find(user).select((users::role, is_verified, has_paid));
            let found: Option<(Named<Role>, bool, bool)> =
                found.get_result(&mut connection).await.optional()?;
            let facts = found.map(|(role, is_verified, has_paid)| {
                Ok::<_, Corrupt>(StandingFacts {
                    role: known("users.role", role.get())?,
                    is_verified,
                    has_paid,
                })
            });
            Ok(facts.transpose()?)
        })
        .await
    }

    async fn djs(&self, filter: DjFilter, asked: PageRequest) -> Result<Rows<User>, Unavailable> {
        let input = (filter, asked, self.currency.clone());
        self.list(asked, input, async |mut connection, (filter, asked, currency)| {
            let newest_first = (users::created_at.desc(), users::id.desc());
            page!(
                connection, asked, djs(filter), newest_first => NewestFirst,
                columns::<StoredUser>() => StoredUser, |row| row.user(&currency)
            )
        })
        .await
    }
}
