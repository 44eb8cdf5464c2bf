//! Each wallet with its entries, read by two cursors side by side, and then the postings.

use std::collections::VecDeque;

use cuepoint_store_sql::rows::{StoredEntry, StoredPosting, StoredWallet};
use cuepoint_store_sql::schema::{ledger_entries, postings, wallets};
use cuepoint_store_sql::table::Numbered;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};

use super::{BATCH, End, Showing, after, read, readable};
use crate::connect::failure::SqliteFailure;

impl Showing<'_> {
    /// Shows each wallet followed by its entries; an entry without a wallet comes where its wallet would.
    pub(super) fn wallets(&mut self) -> Result<(), End> {
        let count = ledger_entries::table.count();
        let entries: i64 = count.get_result(self.connection)?;
        self.auditor.expect(u64::try_from(entries).unwrap_or_default());
        let mut entries = Entries::default();
        let (mut last, mut size) = (i64::MIN, BATCH);
        loop {
            let loaded = load_wallets(self.connection, last, size);
            let Some(batch) = readable(loaded, &mut size, || after("wallet", last))? else { continue };
            if batch.is_empty() {
                break;
            }
            for row in batch {
                last = row.user_id;
                self.entries_while(&mut entries, |row| row.wallet_id < last)?;
                self.auditor.wallet(read(format!("wallet {last}"), row.wallet(self.currency))?);
                self.entries_while(&mut entries, |row| row.wallet_id == last)?;
            }
        }
        self.entries_while(&mut entries, |_| true)
    }

    /// Shows the next entries as long as they are `wanted`.
    fn entries_while(
        &mut self,
        entries: &mut Entries,
        wanted: impl Fn(&StoredEntry) -> bool,
    ) -> Result<(), End> {
        while let Some(row) = entries.next(self.connection, &wanted)? {
            self.ensure_wanted()?;
            let name = format!("entry {} of wallet {}", row.seq, row.wallet_id);
            self.auditor.entry(&read(name, row.entry(self.currency))?);
        }
        Ok(())
    }

    /// Shows each posting by id.
    pub(super) fn postings(&mut self) -> Result<(), End> {
        let (mut last, mut size) = (i64::MIN, BATCH);
        loop {
            self.ensure_wanted()?;
            let loaded = load_postings(self.connection, last, size);
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

fn load_wallets(
    connection: &mut SqliteConnection,
    after: i64,
    limit: i64,
) -> Result<Vec<StoredWallet>, SqliteFailure> {
    let query = wallets::table.filter(wallets::user_id.gt(after)).order(wallets::user_id).limit(limit);
    Ok(query.select(StoredWallet::as_select()).load(connection)?)
}

fn load_postings(
    connection: &mut SqliteConnection,
    after: i64,
    limit: i64,
) -> Result<Vec<Numbered<StoredPosting>>, SqliteFailure> {
    let query = postings::table.filter(postings::id.gt(after)).order(postings::id).limit(limit);
    Ok(query.select(Numbered::<StoredPosting>::as_select()).load(connection)?)
}

fn load_entries(
    connection: &mut SqliteConnection,
    (wallet, seq): (i64, i64),
    limit: i64,
) -> Result<Vec<StoredEntry>, SqliteFailure> {
    let later = sql::<Bool>("(wallet_id, seq) > (").bind::<BigInt, _>(wallet).sql(", ");
    let query = ledger_entries::table
        .filter(later.bind::<BigInt, _>(seq).sql(")"))
        .order((ledger_entries::wallet_id, ledger_entries::seq))
        .limit(limit);
    Ok(query.select(StoredEntry::as_select()).load(connection)?)
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
    fn next(
        &mut self,
        connection: &mut SqliteConnection,
        wanted: impl Fn(&StoredEntry) -> bool,
    ) -> Result<Option<StoredEntry>, End> {
        while self.batch.is_empty() && !self.ended {
            self.fill(connection)?;
        }
        Ok(if self.batch.front().is_some_and(wanted) { self.batch.pop_front() } else { None })
    }

    fn fill(&mut self, connection: &mut SqliteConnection) -> Result<(), End> {
        let (wallet, seq) = self.last;
        let loaded = load_entries(connection, self.last, self.size);
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
