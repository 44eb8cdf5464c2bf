//! Wallets and their statements.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Balance, Entry, EntryKind};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Unavailable, Wallets};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{StoredEntry, StoredWallet};
use cuepoint_store_sql::schema::{ledger_entries, wallets};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::reads::batcher::Row;
use crate::reads::{Counted, LastEntryFirst, columns, limits, paged};
use crate::tables::adjustments::adjustments;

/// More entries than any wallet has, and small enough to subtract from an entry's number.
const FAR: i64 = 1 << 62;

impl Row for StoredWallet {
    const TABLE: &'static str = "wallets";

    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, DatabaseFailure> {
        Ok(wallets::table
            .filter(wallets::user_id.eq_any(ids))
            .select(Self::as_select())
            .load(&mut connection)
            .await?)
    }

    fn id(&self) -> i64 {
        self.user_id
    }
}

#[async_trait]
impl Wallets for PostgresStore {
    async fn balance(&self, user: UserId) -> Result<Option<Balance>, Unavailable> {
        let row = self.together().wallets.find(user.get()).await?;
        row.map(|row| row.balance(&self.currency)).transpose().map_err(Unavailable::new)
    }

    /// The entries of a wallet are ordered by time, so that the index by time finds the newest one at `at`.
    async fn balance_at(&self, user: UserId, at: Timestamp) -> Result<Option<Balance>, Unavailable> {
        let (exists, newest): (bool, Option<StoredEntry>) = self
            .database
            .read(async |mut connection| {
                let wallet = wallets::table.find(user.get());
                let exists = diesel::select(exists(wallet)).get_result(&mut connection).await?;
                let newest = ledger_entries::table
                    .filter(ledger_entries::wallet_id.eq(user.get()))
                    .filter(ledger_entries::at.le(ColumnTime(at)))
                    .order((ledger_entries::at.desc(), ledger_entries::seq.desc()))
                    .select(StoredEntry::as_select())
                    .first(&mut connection)
                    .await
                    .optional()?;
                Ok((exists, newest))
            })
            .await?;
        let after = newest.map(|row| row.entry(&self.currency).map(|entry| entry.after)).transpose();
        let after = after.map_err(Unavailable::new)?.unwrap_or_default();
        Ok(exists.then_some(after))
    }

    /// Numbers have no gaps, so a page is a range below the newest one, and nothing is counted.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the server subtracts, and `FAR` keeps it within range"
    )]
    async fn entries(&self, user: UserId, asked: PageRequest) -> Result<Rows<Entry>, Unavailable> {
        let (limit, offset) = limits(asked);
        let offset = offset.min(FAR);
        let counted: Vec<(i64, Option<StoredEntry>)> = self
            .database
            .read(async |mut connection| {
                let newest = wallets::seq - offset;
                let in_page = ledger_entries::wallet_id
                    .eq(wallets::user_id)
                    .and(ledger_entries::seq.le(newest))
                    .and(ledger_entries::seq.gt(wallets::seq - offset - limit));
                Ok(wallets::table
                    .left_join(ledger_entries::table.on(in_page))
                    .filter(wallets::user_id.eq(user.get()))
                    .order(ledger_entries::seq.desc())
                    .select((wallets::seq, Option::<StoredEntry>::as_select()))
                    .load(&mut connection)
                    .await?)
            })
            .await?;
        let total = counted.iter().map(|(seq, _)| *seq).next().unwrap_or(0);
        let counted = Counted { rows: counted.into_iter().filter_map(|(_, row)| row).collect(), total };
        counted.page(|row| row.entry(&self.currency)).map_err(Unavailable::new)
    }

    async fn entries_of_kind(
        &self,
        user: UserId,
        kind: EntryKind,
        asked: PageRequest,
    ) -> Result<Rows<Entry>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<StoredEntry> = self
            .database
            .read(async |connection| {
                let of_kind = ledger_entries::table
                    .filter(ledger_entries::wallet_id.eq(user.get()))
                    .filter(ledger_entries::kind.eq(kind.name()));
                let page = of_kind
                    .order(ledger_entries::seq.desc())
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<StoredEntry>());
                paged!(connection, of_kind.count(), page, LastEntryFirst, offset)
            })
            .await?;
        counted.page(|row| row.entry(&self.currency)).map_err(Unavailable::new)
    }

    async fn entry(&self, user: UserId, number: i64) -> Result<Option<Entry>, Unavailable> {
        let row: Option<StoredEntry> = self
            .database
            .read(async |mut connection| {
                Ok(ledger_entries::table
                    .filter(ledger_entries::wallet_id.eq(user.get()))
                    .filter(ledger_entries::seq.eq(number))
                    .select(StoredEntry::as_select())
                    .first(&mut connection)
                    .await
                    .optional()?)
            })
            .await?;
        row.map(|row| row.entry(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn has_adjusted(&self, by: UserId, wallet: UserId, since: Timestamp) -> Result<bool, Unavailable> {
        let rows = self
            .database
            .read(async |connection| Ok(adjustments(connection, vec![wallet.get()], since).await?))
            .await?;
        Ok(rows.iter().any(|(_, adjuster, _)| *adjuster == Some(by.get())))
    }
}
