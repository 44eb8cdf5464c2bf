//! Showing the whole ledger: two cursors side by side in one snapshot, a batch of rows in memory at a time.

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
use cuepoint_domain::ledger::Auditor;
use cuepoint_domain::ports::{Audit, Unavailable};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use tokio::time::timeout;

use crate::PostgresStore;
use crate::database::Failure;
use crate::rows::{EntryRow, PostingRow, WalletRow};
use crate::schema::{ledger_entries, postings, wallets};

/// How many rows of each table are in memory at most.
const BATCH: i64 = 1_000;
/// How long one batch may take.
const BATCH_DEADLINE: Duration = Duration::from_secs(60);

#[async_trait]
impl Audit for PostgresStore {
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        let mut loan = self.database.lend().await.map_err(Unavailable::from)?;
        let connection = loan.connection()?;
        patiently(async {
            connection
                .batch_execute(
                    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '60s'",
                )
                .await?;
            Ok(())
        })
        .await?;
        self.show_wallets(connection, auditor).await?;
        self.show_postings(connection, auditor).await?;
        patiently(async { Ok(connection.batch_execute("COMMIT").await?) }).await?;
        loan.give_back();
        Ok(())
    }
}

/// What comes of one batch, if it comes in time.
async fn patiently<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    timeout(BATCH_DEADLINE, work).await.unwrap_or(Err(Failure::Deadline))
}

impl PostgresStore {
    /// Each wallet, then its entries; an entry of no wallet comes where its wallet would.
    async fn show_wallets(
        &self,
        connection: &mut AsyncPgConnection,
        auditor: &mut Auditor,
    ) -> Result<(), Failure> {
        let mut entries = Entries::default();
        let mut last = i64::MIN;
        loop {
            let batch: Vec<WalletRow> = patiently(async {
                Ok(wallets::table
                    .filter(wallets::user_id.gt(last))
                    .order(wallets::user_id)
                    .limit(BATCH)
                    .select(WalletRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
            if batch.is_empty() {
                break;
            }
            for wallet in batch {
                last = wallet.user_id;
                while let Some(orphan) = entries.next(connection, |row| row.wallet_id < last).await? {
                    auditor.entry(&orphan.entry(&self.currency)?);
                }
                auditor.wallet(wallet.wallet(&self.currency)?);
                while let Some(entry) = entries.next(connection, |row| row.wallet_id == last).await? {
                    auditor.entry(&entry.entry(&self.currency)?);
                }
            }
        }
        while let Some(orphan) = entries.next(connection, |_| true).await? {
            auditor.entry(&orphan.entry(&self.currency)?);
        }
        Ok(())
    }

    async fn show_postings(
        &self,
        connection: &mut AsyncPgConnection,
        auditor: &mut Auditor,
    ) -> Result<(), Failure> {
        let mut last = i64::MIN;
        loop {
            let batch: Vec<PostingRow> = patiently(async {
                Ok(postings::table
                    .filter(postings::id.gt(last))
                    .order(postings::id)
                    .limit(BATCH)
                    .select(PostingRow::as_select())
                    .load(connection)
                    .await?)
            })
            .await?;
            if batch.is_empty() {
                return Ok(());
            }
            for posting in batch {
                last = posting.id;
                auditor.posting(&posting.posting(&self.currency)?);
            }
        }
    }
}

/// All entries by wallet and number, read a batch at a time.
struct Entries {
    batch: VecDeque<EntryRow>,
    last: (i64, i64),
    ended: bool,
}

impl Default for Entries {
    fn default() -> Self {
        Self { batch: VecDeque::new(), last: (i64::MIN, i64::MIN), ended: false }
    }
}

impl Entries {
    /// The next entry, if there is one that is `wanted`.
    async fn next(
        &mut self,
        connection: &mut AsyncPgConnection,
        wanted: impl Fn(&EntryRow) -> bool,
    ) -> Result<Option<EntryRow>, Failure> {
        if self.batch.is_empty() && !self.ended {
            self.fill(connection).await?;
        }
        Ok(if self.batch.front().is_some_and(wanted) { self.batch.pop_front() } else { None })
    }

    async fn fill(&mut self, connection: &mut AsyncPgConnection) -> Result<(), Failure> {
        let (wallet, seq) = self.last;
        let batch: Vec<EntryRow> = patiently(async {
            let rest = ledger_entries::wallet_id
                .gt(wallet)
                .or(ledger_entries::wallet_id.eq(wallet).and(ledger_entries::seq.gt(seq)));
            Ok(ledger_entries::table
                .filter(ledger_entries::wallet_id.ge(wallet))
                .filter(rest)
                .order((ledger_entries::wallet_id, ledger_entries::seq))
                .limit(BATCH)
                .select(EntryRow::as_select())
                .load(connection)
                .await?)
        })
        .await?;
        match batch.last() {
            Some(row) => self.last = (row.wallet_id, row.seq),
            None => self.ended = true,
        }
        self.batch = batch.into();
        Ok(())
    }
}
