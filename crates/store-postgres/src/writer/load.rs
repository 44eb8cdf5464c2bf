//! The book that a group of plans is judged on: first its rows are locked, then the rest is read.

use std::collections::BTreeSet;

use cuepoint_domain::ids::{OperationId, UserId};
use cuepoint_domain::ledger::{Book, KeyScope, Names, Plan};
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

use crate::database::Failure;
use crate::rows::{
    Corrupt, KeyRow, MusicRequestRow, OperationRow, TopupRow, UserRow, WalletRow, WithdrawalRow, column_time,
};
use crate::schema::{idempotency_keys, music_requests, operations, topups, users, wallets, withdrawals};

/// What all plans of a group name together.
#[derive(Default)]
pub(super) struct Named {
    rows: Names,
    withdrawn_by: BTreeSet<UserId>,
    withdrawn_since: Option<Timestamp>,
    guests: BTreeSet<UserId>,
    djs: BTreeSet<UserId>,
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
            all.rows.wallets.extend(names.wallets);
            all.rows.withdrawals.extend(names.withdrawals);
            all.rows.topups.extend(names.topups);
            if let Some((user, since)) = names.withdrawn_since {
                all.withdrawn_by.insert(user);
                all.withdrawn_since = Some(all.withdrawn_since.map_or(since, |other| other.min(since)));
            }
            if let Some((guest, dj)) = names.open_requests {
                all.guests.insert(guest);
                all.djs.insert(dj);
            }
            all.operations.push(plan.origin().operation);
            all.keys.extend(plan.origin().key.map(|key| key.scope));
        }
        all
    }

    /// Locks the rows, each kind by id and the kinds in one order, so that no two groups wait for each other.
    pub(super) async fn lock(
        &self,
        connection: &mut AsyncPgConnection,
        currency: &Currency,
        book: &mut Book,
    ) -> Result<(), Failure> {
        /// Locks the named rows of one table and takes each into the book.
        macro_rules! lock {
            ($ids:expr, $table:ident, $id:ident, $row:ident, $take:expr) => {
                let ids: Vec<i64> = $ids.iter().map(|id| id.get()).collect();
                if !ids.is_empty() {
                    let rows = $table::table
                        .filter($table::$id.eq_any(ids))
                        .order($table::$id)
                        .for_no_key_update()
                        .select($row::as_select())
                        .load::<$row>(connection)
                        .await?;
                    rows.into_iter().try_for_each(|row| -> Result<(), Corrupt> { $take(&mut *book, row) })?;
                }
            };
        }
        let names = &self.rows;
        lock!(
            names.requests,
            music_requests,
            id,
            MusicRequestRow,
            |book: &mut Book, row: MusicRequestRow| {
                book.put_request(row.request(currency)?);
                Ok(())
            }
        );
        lock!(names.users, users, id, UserRow, |book: &mut Book, row: UserRow| {
            let user = row.user(currency)?;
            book.users.insert(user.id, user);
            Ok(())
        });
        lock!(names.wallets, wallets, user_id, WalletRow, |book: &mut Book, row: WalletRow| {
            let wallet = row.wallet(currency)?;
            book.wallets.insert(wallet.user, wallet);
            Ok(())
        });
        lock!(names.withdrawals, withdrawals, id, WithdrawalRow, |book: &mut Book, row: WithdrawalRow| {
            book.put_withdrawal(row.withdrawal(currency)?);
            Ok(())
        });
        lock!(names.topups, topups, id, TopupRow, |book: &mut Book, row: TopupRow| {
            let topup = row.topup(currency)?;
            book.topups.insert(topup.id, topup);
            Ok(())
        });
        Ok(())
    }

    /// Reads what else decides, after the locks: these statements see what the last holder of them committed.
    pub(super) async fn read(
        &self,
        connection: &mut AsyncPgConnection,
        currency: &Currency,
        book: &mut Book,
    ) -> Result<(), Failure> {
        if let Some(since) = self.withdrawn_since {
            let of: Vec<i64> = self.withdrawn_by.iter().map(|user| user.get()).collect();
            let rows = withdrawals::table
                .filter(withdrawals::user_id.eq_any(of))
                .filter(withdrawals::created_at.ge(column_time(since)))
                .select(WithdrawalRow::as_select())
                .load(connection)
                .await?;
            for row in rows {
                book.put_withdrawal(row.withdrawal(currency)?);
            }
        }
        if !self.guests.is_empty() {
            // Every guest with every DJ is more than is asked for, and no wrong count: each plan counts its own pair.
            let guests: Vec<i64> = self.guests.iter().map(|user| user.get()).collect();
            let djs: Vec<i64> = self.djs.iter().map(|user| user.get()).collect();
            let rows = music_requests::table
                .filter(music_requests::requester_id.eq_any(guests))
                .filter(music_requests::dj_id.eq_any(djs))
                .filter(music_requests::expires_at.is_not_null())
                .select(MusicRequestRow::as_select())
                .load(connection)
                .await?;
            for row in rows {
                book.put_request(row.request(currency)?);
            }
        }
        let ids: Vec<Uuid> = self.operations.iter().map(|id| Uuid::from_u128(id.0)).collect();
        let rows = operations::table
            .filter(operations::id.eq_any(ids))
            .select(OperationRow::as_select())
            .load(connection)
            .await?;
        for row in rows {
            let receipt = row.receipt(currency)?;
            book.operations.insert(receipt.operation, receipt);
        }
        let scopes: Vec<Vec<u8>> = self.keys.iter().map(|scope| scope.0.to_vec()).collect();
        if !scopes.is_empty() {
            let rows: Vec<(KeyRow, OperationRow)> = idempotency_keys::table
                .inner_join(operations::table)
                .filter(idempotency_keys::scope.eq_any(scopes))
                .select((KeyRow::as_select(), OperationRow::as_select()))
                .load(connection)
                .await?;
            for (key, operation) in rows {
                let record = key.record(operation, currency)?;
                book.keys.insert(record.key.scope, record);
            }
        }
        Ok(())
    }
}
