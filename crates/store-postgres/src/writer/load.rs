//! The book that a group of plans is judged on: first its rows are locked, then the rest is read.

use std::collections::BTreeSet;

use cuepoint_domain::ids::{OperationId, UserId};
use cuepoint_domain::ledger::{Book, KeyScope, Names, Plan};
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::future::{try_join, try_join5};
use uuid::Uuid;

use crate::adjustments::{AdjustedRow, adjustments};
use crate::database::Failure;
use crate::people::ACTING_OPERATOR;
use crate::rows::{
    Corrupt, KeyRow, MusicRequestRow, OperationRow, ProviderMessageRow, TopupRow, UserRow, WalletRow,
    WithdrawalRow, column_time, known, timestamp,
};
use crate::schema::{
    idempotency_keys, music_requests, operations, provider_messages, topups, users, wallets, withdrawals,
};

/// What all plans of a group name together.
#[derive(Default)]
pub(super) struct Named {
    rows: Names,
    withdrawn_by: BTreeSet<UserId>,
    withdrawn_since: Option<Timestamp>,
    guests: BTreeSet<UserId>,
    djs: BTreeSet<UserId>,
    adjusted: BTreeSet<UserId>,
    adjusted_since: Option<Timestamp>,
    operations: Vec<OperationId>,
    keys: Vec<KeyScope>,
}

impl Named {
    /// The rows that these plans name.
    pub(super) fn by<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Self {
        let mut all = Self::default();
        for plan in plans {
            let names = plan.names();
            all.rows.requests.extend(names.requests);
            all.rows.users.extend(names.users);
            all.rows.operators |= names.operators;
            all.rows.wallets.extend(names.wallets);
            all.rows.withdrawals.extend(names.withdrawals);
            all.rows.topups.extend(names.topups);
            all.rows.provider_messages.extend(names.provider_messages);
            if let Some((user, since)) = names.withdrawn_since {
                all.withdrawn_by.insert(user);
                all.withdrawn_since = Some(all.withdrawn_since.map_or(since, |other| other.min(since)));
            }
            if let Some((guest, dj)) = names.open_requests {
                all.guests.insert(guest);
                all.djs.insert(dj);
            }
            if let Some((wallet, since)) = names.adjusted_since {
                all.adjusted.insert(wallet);
                all.adjusted_since = Some(all.adjusted_since.map_or(since, |other| other.min(since)));
            }
            all.operations.push(plan.origin().operation);
            all.keys.extend(plan.origin().key.map(|key| key.scope));
        }
        all
    }

    /// Locks the rows, each kind by id and the kinds in one order, so that no two groups wait for each other.
    pub(super) async fn lock(&self, connection: &AsyncPgConnection) -> Result<Locked, Failure> {
        /// Locks the named rows of one table.
        macro_rules! lock {
            ($ids:expr, $table:ident, $id:ident, $row:ident) => {
                async {
                    let ids: Vec<i64> = $ids.iter().map(|id| id.get()).collect();
                    if ids.is_empty() {
                        return Ok(Vec::new());
                    }
                    $table::table
                        .filter($table::$id.eq_any(ids))
                        .order($table::$id)
                        .for_no_key_update()
                        .select($row::as_select())
                        .load::<$row>(&mut &*connection)
                        .await
                }
            };
        }
        let names = &self.rows;
        let people = async {
            if names.operators {
                self.lock_operators(connection).await
            } else {
                lock!(names.users, users, id, UserRow).await
            }
        };
        let people_and_things = try_join5(
            lock!(names.requests, music_requests, id, MusicRequestRow),
            people,
            lock!(names.wallets, wallets, user_id, WalletRow),
            lock!(names.withdrawals, withdrawals, id, WithdrawalRow),
            lock!(names.topups, topups, id, TopupRow),
        );
        let messages = lock!(names.provider_messages, provider_messages, id, ProviderMessageRow);
        let ((requests, users, wallets, withdrawals, topups), provider_messages) =
            try_join(people_and_things, messages).await?;
        Ok(Locked { requests, users, wallets, withdrawals, topups, provider_messages })
    }

    /// Locks the named people and every operator, by id in one statement, in the same order as the people of other
    /// groups.
    async fn lock_operators(&self, mut connection: &AsyncPgConnection) -> QueryResult<Vec<UserRow>> {
        let ids: Vec<i64> = self.rows.users.iter().map(|id| id.get()).collect();
        users::table
            .filter(users::id.eq_any(ids).or(sql::<Bool>(ACTING_OPERATOR)))
            .order(users::id)
            .for_no_key_update()
            .select(UserRow::as_select())
            .load(&mut connection)
            .await
    }

    /// Reads what else decides, after the locks: these statements see what the last holder of them committed.
    pub(super) async fn read(&self, connection: &AsyncPgConnection) -> Result<Read, Failure> {
        let (withdrawals, requests, adjusted, operations, keys) = try_join5(
            self.recent_withdrawals(connection),
            self.open_requests(connection),
            self.adjustments(connection),
            self.earlier_operations(connection),
            self.used_keys(connection),
        )
        .await?;
        Ok(Read { withdrawals, requests, adjusted, operations, keys })
    }

    async fn recent_withdrawals(
        &self,
        mut connection: &AsyncPgConnection,
    ) -> QueryResult<Vec<WithdrawalRow>> {
        let Some(since) = self.withdrawn_since else { return Ok(Vec::new()) };
        let of: Vec<i64> = self.withdrawn_by.iter().map(|user| user.get()).collect();
        withdrawals::table
            .filter(withdrawals::user_id.eq_any(of))
            .filter(withdrawals::created_at.ge(column_time(since)))
            .select(WithdrawalRow::as_select())
            .load(&mut connection)
            .await
    }

    async fn open_requests(&self, mut connection: &AsyncPgConnection) -> QueryResult<Vec<MusicRequestRow>> {
        if self.guests.is_empty() {
            return Ok(Vec::new());
        }
        // Every guest with every DJ is more than is asked for, and no wrong count: each plan counts its own pair.
        let guests: Vec<i64> = self.guests.iter().map(|user| user.get()).collect();
        let djs: Vec<i64> = self.djs.iter().map(|user| user.get()).collect();
        music_requests::table
            .filter(music_requests::requester_id.eq_any(guests))
            .filter(music_requests::dj_id.eq_any(djs))
            .filter(music_requests::expires_at.is_not_null())
            .select(MusicRequestRow::as_select())
            .load(&mut connection)
            .await
    }

    async fn adjustments(&self, connection: &AsyncPgConnection) -> QueryResult<Vec<AdjustedRow>> {
        let Some(since) = self.adjusted_since else { return Ok(Vec::new()) };
        let of = self.adjusted.iter().map(|wallet| wallet.get()).collect();
        adjustments(connection, of, column_time(since)).await
    }

    async fn earlier_operations(&self, mut connection: &AsyncPgConnection) -> QueryResult<Vec<OperationRow>> {
        let ids: Vec<Uuid> = self.operations.iter().map(|id| Uuid::from_u128(id.0)).collect();
        operations::table
            .filter(operations::id.eq_any(ids))
            .select(OperationRow::as_select())
            .load(&mut connection)
            .await
    }

    async fn used_keys(
        &self,
        mut connection: &AsyncPgConnection,
    ) -> QueryResult<Vec<(KeyRow, OperationRow)>> {
        let scopes: Vec<Vec<u8>> = self.keys.iter().map(|scope| scope.0.to_vec()).collect();
        if scopes.is_empty() {
            return Ok(Vec::new());
        }
        idempotency_keys::table
            .inner_join(operations::table)
            .filter(idempotency_keys::scope.eq_any(scopes))
            .select((KeyRow::as_select(), OperationRow::as_select()))
            .load(&mut connection)
            .await
    }
}

/// The rows that are locked.
pub(super) struct Locked {
    requests: Vec<MusicRequestRow>,
    users: Vec<UserRow>,
    wallets: Vec<WalletRow>,
    withdrawals: Vec<WithdrawalRow>,
    topups: Vec<TopupRow>,
    provider_messages: Vec<ProviderMessageRow>,
}

impl Locked {
    /// Puts them into the book.
    pub(super) fn enter(self, book: &mut Book, currency: &Currency) -> Result<(), Corrupt> {
        for row in self.requests {
            book.put_request(row.request(currency)?);
        }
        for row in self.users {
            let user = row.user(currency)?;
            book.users.insert(user.id, user);
        }
        for row in self.wallets {
            let wallet = row.wallet(currency)?;
            book.wallets.insert(wallet.user, wallet);
        }
        for row in self.withdrawals {
            book.put_withdrawal(row.withdrawal(currency)?);
        }
        for row in self.topups {
            let topup = row.topup(currency)?;
            book.topups.insert(topup.id, topup);
        }
        for row in self.provider_messages {
            let message = row.message()?;
            book.provider_messages.insert(message.id, message);
        }
        Ok(())
    }
}

/// The rows that decide beside those that are locked.
pub(super) struct Read {
    withdrawals: Vec<WithdrawalRow>,
    requests: Vec<MusicRequestRow>,
    adjusted: Vec<AdjustedRow>,
    operations: Vec<OperationRow>,
    keys: Vec<(KeyRow, OperationRow)>,
}

impl Read {
    /// Puts them into the book.
    pub(super) fn enter(self, book: &mut Book, currency: &Currency) -> Result<(), Corrupt> {
        for row in self.withdrawals {
            book.put_withdrawal(row.withdrawal(currency)?);
        }
        for row in self.requests {
            book.put_request(row.request(currency)?);
        }
        for (wallet, by, at) in self.adjusted {
            let wallet = known("ledger_entries.wallet_id", UserId::new(wallet))?;
            let by = known("operations.actor_user_id", by.and_then(UserId::new))?;
            book.put_adjustment(wallet, by, timestamp(at));
        }
        for row in self.operations {
            let receipt = row.stored(currency)?;
            book.operations.insert(receipt.operation(), receipt);
        }
        for (key, operation) in self.keys {
            let record = key.record(&operation, currency)?;
            book.keys.insert(record.key.scope, record);
        }
        Ok(())
    }
}
