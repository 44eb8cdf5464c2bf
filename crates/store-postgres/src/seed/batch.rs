//! What is written in one transaction: the lines of each table, and the things that may still move.

use std::collections::BTreeMap;
use std::io::Cursor;

use anyhow::{Context, ensure};
use cuepoint_domain::ledger::{Changes, Outcome};
use cuepoint_domain::money::Currency;
use futures_util::SinkExt;
use tokio_postgres::Client;

use super::copy::Copied;
use crate::rows::{
    EntryRow, KeyRow, MusicRequestRow, NewEventRow, NewPostingRow, NewUserRow, OperationRow, TopupRow,
    WalletRow, WithdrawalRow,
};

/// Rows of many changes.
#[derive(Default)]
pub(super) struct Batch {
    users: String,
    wallets: String,
    operations: String,
    keys: String,
    entries: String,
    postings: String,
    events: String,
    requests: BTreeMap<i64, MusicRequestRow>,
    withdrawals: BTreeMap<i64, WithdrawalRow>,
    topups: BTreeMap<i64, TopupRow>,
}

/// Replaces the image of something that was opened in the same batch.
fn moved<Row>(images: &mut BTreeMap<i64, Row>, id: i64, row: Row) -> anyhow::Result<()> {
    *images.get_mut(&id).with_context(|| format!("{id} moved after it was written"))? = row;
    Ok(())
}

impl Batch {
    /// Adds a person with their wallet.
    pub(super) fn register(&mut self, user: &NewUserRow, wallet: &WalletRow) {
        user.line(&mut self.users);
        wallet.line(&mut self.wallets);
    }

    /// Adds what a plan changed, people and wallets aside.
    pub(super) fn add(&mut self, changes: &Changes, currency: &Currency) -> anyhow::Result<()> {
        if let Some(record) = &changes.operation {
            let adjusts = matches!(record.receipt.outcome, Outcome::Adjustment(..));
            ensure!(!adjusts, "the numbers of adjustments stand in no table, so none can be seeded");
            OperationRow::of(record, currency)?.line(&mut self.operations);
        }
        if let Some(key) = &changes.key {
            KeyRow::of(key).line(&mut self.keys);
        }
        if let Some(request) = &changes.opened_request {
            self.requests.insert(request.id.get(), MusicRequestRow::of(request, currency));
        }
        if let Some(request) = &changes.moved_request {
            moved(&mut self.requests, request.id.get(), MusicRequestRow::of(request, currency))?;
        }
        if let Some(withdrawal) = &changes.opened_withdrawal {
            self.withdrawals.insert(withdrawal.id.get(), WithdrawalRow::of(withdrawal, currency));
        }
        if let Some(withdrawal) = &changes.moved_withdrawal {
            moved(&mut self.withdrawals, withdrawal.id.get(), WithdrawalRow::of(withdrawal, currency))?;
        }
        if let Some(topup) = &changes.opened_topup {
            self.topups.insert(topup.id.get(), TopupRow::of(topup, currency));
        }
        if let Some(topup) = &changes.moved_topup {
            moved(&mut self.topups, topup.id.get(), TopupRow::of(topup, currency))?;
        }
        for entry in &changes.entries {
            EntryRow::of(entry, currency).line(&mut self.entries);
        }
        for posting in &changes.postings {
            NewPostingRow::of(posting, currency).line(&mut self.postings);
        }
        if let Some(event) = &changes.event {
            NewEventRow::of(event).line(&mut self.events);
        }
        Ok(())
    }

    /// Writes it all in one transaction, each table after those that it refers to.
    pub(super) async fn write(self, client: &Client) -> anyhow::Result<()> {
        client.batch_execute("BEGIN").await?;
        copy::<NewUserRow>(client, self.users).await?;
        copy::<WalletRow>(client, self.wallets).await?;
        copy::<OperationRow>(client, self.operations).await?;
        copy::<KeyRow>(client, self.keys).await?;
        copy::<MusicRequestRow>(client, lines(self.requests)).await?;
        copy::<WithdrawalRow>(client, lines(self.withdrawals)).await?;
        copy::<TopupRow>(client, lines(self.topups)).await?;
        copy::<EntryRow>(client, self.entries).await?;
        copy::<NewPostingRow>(client, self.postings).await?;
        copy::<NewEventRow>(client, self.events).await?;
        client.batch_execute("COMMIT").await?;
        Ok(())
    }
}

/// The lines of rows, by their id.
pub(super) fn lines<Row: Copied>(rows: BTreeMap<i64, Row>) -> String {
    let mut lines = String::new();
    rows.values().for_each(|row| row.line(&mut lines));
    lines
}

async fn copy<Row: Copied>(client: &Client, lines: String) -> anyhow::Result<()> {
    copy_into::<Row>(client, Row::TABLE, lines).await
}

/// Copies lines into a table that has the columns of the row's.
pub(super) async fn copy_into<Row: Copied>(
    client: &Client,
    table: &str,
    lines: String,
) -> anyhow::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let statement = format!("COPY {table} ({}) FROM STDIN", Row::COLUMNS.join(", "));
    let sink = client.copy_in::<_, Cursor<Vec<u8>>>(&statement).await?;
    let mut sink = std::pin::pin!(sink);
    sink.send(Cursor::new(lines.into_bytes())).await?;
    sink.finish().await.with_context(|| format!("the rows of {table}"))?;
    Ok(())
}
