//! Wallets and their statements.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Balance, Entry, EntryKind};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Unavailable, Wallets};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::Income;
use cuepoint_store_sql::rows::{self, StoredEntry};
use cuepoint_store_sql::schema::{ledger_entries, wallets};
use diesel::prelude::*;

use crate::SqlStore;
use crate::dialect::{RunQueryDsl, columns, page};
use crate::tables::ledger_entries::{has_adjusted, income, last_until};

/// More entries than any wallet has, and small enough to subtract from an entry's number.
const FAR: i64 = 1 << 62;

#[async_trait]
impl Wallets for SqlStore {
    async fn balance(&self, user: UserId) -> Result<Option<Balance>, Unavailable> {
        self.balance_by_id(user).await
    }

    async fn balance_at(&self, user: UserId, at: Timestamp) -> Result<Option<Balance>, Unavailable> {
        let last =
            self.read((user, at), async |connection, (user, at)| last_until(connection, user, at).await);
        let (exists, last) = last.await?;
        let after = last.map(|row| row.entry(&self.currency).map(|entry| entry.after)).transpose();
        let after = after.map_err(Unavailable::new)?.unwrap_or_default();
        Ok(exists.then_some(after))
    }

    /// Numbers have no gaps, so a page is a range below the newest one, and nothing is counted.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the database subtracts, and `FAR` keeps it within range"
    )]
    async fn entries(&self, user: UserId, asked: PageRequest) -> Result<Rows<Entry>, Unavailable> {
        let found = self.read((user, asked), async |mut connection, (user, asked)| {
            let limit = i64::from(asked.size());
            let offset = asked.offset().unwrap_or(FAR).min(FAR);
            let newest = wallets::seq - offset;
            let in_page = ledger_entries::wallet_id
                .eq(wallets::user_id)
                .and(ledger_entries::seq.le(newest))
                .and(ledger_entries::seq.gt(wallets::seq - offset - limit));
            let found: Vec<(i64, Option<StoredEntry>)> = wallets::table
                .left_join(ledger_entries::table.on(in_page))
                .filter(wallets::user_id.eq(user.get()))
                .order(ledger_entries::seq.desc())
                .select((wallets::seq, Option::<StoredEntry>::as_select()))
                .load(&mut connection)
                .await?;
            Ok(found)
        });
        let found = found.await?;
        let total = found.as_slice().first().map_or(0, |(seq, _)| *seq);
        let rows = found.into_iter().filter_map(|(_, row)| row).map(|row| row.entry(&self.currency));
        let rows = rows.collect::<Result<_, _>>().map_err(Unavailable::new)?;
        Ok(Rows { rows, total: u64::try_from(total).unwrap_or_default() })
    }

    async fn entries_of_kind(
        &self,
        user: UserId,
        kind: EntryKind,
        asked: PageRequest,
    ) -> Result<Rows<Entry>, Unavailable> {
        let input = (user, kind, asked, self.currency.clone());
        self.list(asked, input, async |mut connection, (user, kind, asked, currency)| {
            let of_kind = ledger_entries::table
                .filter(ledger_entries::wallet_id.eq(user.get()))
                .filter(ledger_entries::kind.eq(kind.name()));
            page!(
                connection, asked, of_kind, ledger_entries::seq.desc() => LastEntryFirst,
                columns::<StoredEntry>() => StoredEntry, |row| row.entry(&currency)
            )
        })
        .await
    }

    async fn entry(&self, user: UserId, number: i64) -> Result<Option<Entry>, Unavailable> {
        let row = self.read((user, number), async |mut connection, (user, number)| {
            let row: Option<StoredEntry> = ledger_entries::table
                .filter(ledger_entries::wallet_id.eq(user.get()))
                .filter(ledger_entries::seq.eq(number))
                .select(StoredEntry::as_select())
                .first(&mut connection)
                .await
                .optional()?;
            Ok(row)
        });
        row.await?.map(|row| row.entry(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn income(
        &self,
        user: UserId,
        after: Timestamp,
        until: Option<Timestamp>,
    ) -> Result<Vec<Income>, Unavailable> {
        let found = self.read((user, after, until), async |connection, (user, after, until)| {
            income(connection, user, after, until).await
        });
        let income =
            found.await?.into_iter().map(|row| rows::income(row, &self.currency).map(|(_, income)| income));
        income.collect::<Result<_, _>>().map_err(Unavailable::new)
    }

    async fn has_adjusted(&self, by: UserId, wallet: UserId, since: Timestamp) -> Result<bool, Unavailable> {
        self.read((by, wallet, since), async |connection, (by, wallet, since)| {
            has_adjusted(connection, by, wallet, since).await
        })
        .await
    }
}
