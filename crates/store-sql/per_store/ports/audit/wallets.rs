//! Each wallet with its entries, read by two cursors side by side, and then the postings.

use std::collections::VecDeque;

use cuepoint_store_sql::rows::{StoredEntry, StoredPosting, StoredWallet};
use cuepoint_store_sql::schema::{ledger_entries, postings, wallets};
use cuepoint_store_sql::table::Numbered;
use diesel::prelude::*;

use super::{BATCH, End, Showing, after, load_entries, patiently, read, readable};
use crate::dialect::{Connection, RunQueryDsl, StoreFailure};

impl Showing<'_> {
    /// Presents each wallet followed by its entries; an entry without a wallet comes where its wallet would.
    pub(super) async fn wallets(&mut self) -> Result<(), End> {
        let count = ledger_entries::table.count();
        let entries: i64 = patiently(async { Ok(count.get_result(self.connection).await?) }).await?;
        self.auditor.expect(u64::try_from(entries).unwrap_or_default());
        let mut entries = Entries::default();
        let (mut last, mut size) = (i64::MIN, BATCH);
        loop {
            let loaded = load_wallets(self.connection, last, size).await;
            let Some(batch) = readable(loaded, &mut size, || after("wallet", last))? else { continue };
            if batch.is_empty() {
                break;
            }
            for row in batch {
                last = row.user_id;
                self.entries_while(&mut entries, |row| row.wallet_id < last).await?;
                self.auditor.wallet(read(format!("wallet {last}"), row.wallet(self.currency))?);
                self.entries_while(&mut entries, |row| row.wallet_id == last).await?;
            }
        }
        self.entries_while(&mut entries, |_| true).await
    }

    /// Presents the next entries as long as they are `wanted`.
    async fn entries_while(
        &mut self,
        entries: &mut Entries,
        wanted: impl Fn(&StoredEntry) -> bool,
    ) -> Result<(), End> {
        while let Some(row) = entries.next(self.connection, &wanted).await? {
            self.ensure_wanted()?;
            let name = format!("entry {} of wallet {}", row.seq, row.wallet_id);
            self.auditor.entry(&read(name, row.entry(self.currency))?);
        }
        Ok(())
    }

    /// Presents each posting by id.
    pub(super) async fn postings(&mut self) -> Result<(), End> {
        let (mut last, mut size) = (i64::MIN, BATCH);
        loop {
            self.ensure_wanted()?;
            let loaded = load_postings(self.connection, last, size).await;
            let Some(batch) = readable(loaded, &mut size, || after("posting", last))? else { continue };
            if batch.is_empty() {
                return Ok(());
            }
            for row in batch {
                last = row.id;
                self.auditor.posting(&read(format!("posting {last}"), row.posting(self.currency))?);
            }
        }
    }
}

async fn load_wallets(
    connection: &mut Connection,
    after: i64,
    limit: i64,
) -> Result<Vec<StoredWallet>, StoreFailure> {
    let query = wallets::table.filter(wallets::user_id.gt(after)).order(wallets::user_id).limit(limit);
    patiently(async { Ok(query.select(StoredWallet::as_select()).load(connection).await?) }).await
}

async fn load_postings(
    connection: &mut Connection,
    after: i64,
    limit: i64,
) -> Result<Vec<Numbered<StoredPosting>>, StoreFailure> {
    let query = postings::table.filter(postings::id.gt(after)).order(postings::id).limit(limit);
    patiently(async { Ok(query.select(Numbered::<StoredPosting>::as_select()).load(connection).await?) })
        .await
}

/// All entries by wallet and number, read in batches.
struct Entries {
    batch: VecDeque<StoredEntry>,
    last: (i64, i64),
    size: i64,
    ended: bool,
}

impl Default for Entries {
    fn default() -> Self {
        Self { batch: VecDeque::new(), last: (i64::MIN, i64::MIN), size: BATCH, ended: false }
    }
}

impl Entries {
    /// Returns the next entry if it is `wanted`.
    async fn next(
        &mut self,
        connection: &mut Connection,
        wanted: impl Fn(&StoredEntry) -> bool,
    ) -> Result<Option<StoredEntry>, End> {
        while self.batch.is_empty() && !self.ended {
            self.fill(connection).await?;
        }
        Ok(if self.batch.front().is_some_and(wanted) { self.batch.pop_front() } else { None })
    }

    async fn fill(&mut self, connection: &mut Connection) -> Result<(), End> {
        let (wallet, seq) = self.last;
        let loaded = load_entries(connection, self.last, self.size).await;
        let row = || match wallet {
            i64::MIN => "the first entry".to_owned(),
            _ => format!("the entry after entry {seq} of wallet {wallet}"),
        };
        let Some(batch) = readable(loaded, &mut self.size, row)? else { return Ok(()) };
        match batch.last() {
            Some(row) => self.last = (row.wallet_id, row.seq),
            None => self.ended = true,
        }
        self.batch = batch.into();
        Ok(())
    }
}
