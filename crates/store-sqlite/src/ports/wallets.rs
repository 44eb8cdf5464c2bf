//! The port of wallets.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Balance, Entry, EntryKind};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Unavailable, Wallets};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{StoredEntry, StoredWallet};
use cuepoint_store_sql::schema::{ledger_entries, operations, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;

use super::lists::{limits, page, rows};
use crate::SqliteStore;

#[async_trait]
impl Wallets for SqliteStore {
    async fn balance(&self, user: UserId) -> Result<Option<Balance>, Unavailable> {
        self.readers.read(|connection| {
            let row = wallets::table.find(user.get()).select(StoredWallet::as_select());
            let row: Option<StoredWallet> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.balance(&self.currency)).transpose()?)
        })
    }

    async fn balance_at(&self, user: UserId, at: Timestamp) -> Result<Option<Balance>, Unavailable> {
        self.readers.read(|connection| {
            let newest = wallets::table.find(user.get()).select(wallets::seq);
            let Some(newest) = newest.get_result(connection).optional()? else { return Ok(None) };
            let number = newest_at(connection, user, newest, at)?;
            let row = ledger_entries::table.find((user.get(), number)).select(StoredEntry::as_select());
            let row: Option<StoredEntry> = row.get_result(connection).optional()?;
            let entry = row.map(|row| row.entry(&self.currency)).transpose()?;
            Ok(Some(entry.map(|entry| entry.after).unwrap_or_default()))
        })
    }

    /// Numbers have no gaps, so a page is a range below the newest one, and nothing is counted.
    async fn entries(&self, user: UserId, asked: PageRequest) -> Result<Rows<Entry>, Unavailable> {
        let (limit, offset) = limits(asked);
        self.readers.read(|connection| {
            let newest = wallets::table.find(user.get()).select(wallets::seq);
            let total: i64 = newest.get_result(connection).optional()?.unwrap_or_default();
            let first = total.saturating_sub(offset);
            let found: Vec<StoredEntry> = ledger_entries::table
                .filter(ledger_entries::wallet_id.eq(user.get()))
                .filter(ledger_entries::seq.le(first))
                .filter(ledger_entries::seq.gt(first.saturating_sub(limit)))
                .order(ledger_entries::seq.desc())
                .select(StoredEntry::as_select())
                .load(connection)?;
            rows(total, found, |row| row.entry(&self.currency))
        })
    }

    async fn entries_of_kind(
        &self,
        user: UserId,
        kind: EntryKind,
        asked: PageRequest,
    ) -> Result<Rows<Entry>, Unavailable> {
        let of_kind = ledger_entries::table
            .filter(ledger_entries::wallet_id.eq(user.get()))
            .filter(ledger_entries::kind.eq(kind.name()));
        let newest_first = ledger_entries::seq.desc();
        let currency = self.currency.clone();
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, of_kind, newest_first, StoredEntry, |row| row.entry(&currency))
        };
        self.readers.list(asked, page).await
    }

    async fn entry(&self, user: UserId, number: i64) -> Result<Option<Entry>, Unavailable> {
        self.readers.read(|connection| {
            let row = ledger_entries::table.find((user.get(), number)).select(StoredEntry::as_select());
            let row: Option<StoredEntry> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.entry(&self.currency)).transpose()?)
        })
    }

    async fn has_adjusted(&self, by: UserId, wallet: UserId, since: Timestamp) -> Result<bool, Unavailable> {
        self.readers.read(|connection| {
            let adjusted = ledger_entries::table
                .inner_join(operations::table.on(operations::id.eq(ledger_entries::operation_id)))
                .filter(ledger_entries::wallet_id.eq(wallet.get()))
                .filter(ledger_entries::at.gt(ColumnTime(since)))
                // The condition of the partial index.
                .filter(sql::<Bool>("ledger_entries.kind = 'adjustment'"))
                .filter(operations::actor_user_id.eq(by.get()));
            Ok(diesel::select(exists(adjusted)).get_result(connection)?)
        })
    }
}

/// Returns the number of a wallet's last entry at a time, or 0 if there was none; `newest` is that of its newest
/// entry. The entries are ordered by time, so that they are bisected: with an index by time, each entry would
/// change one more page.
fn newest_at(
    connection: &mut SqliteConnection,
    user: UserId,
    newest: i64,
    at: Timestamp,
) -> QueryResult<i64> {
    let (mut before, mut after) = (0, newest.saturating_add(1));
    while after.saturating_sub(before) > 1 {
        let middle = i64::midpoint(before, after);
        let entry = ledger_entries::table.find((user.get(), middle)).select(ledger_entries::at);
        let entry: Timestamp = entry.get_result(connection)?;
        if entry <= at { before = middle } else { after = middle }
    }
    Ok(before)
}
