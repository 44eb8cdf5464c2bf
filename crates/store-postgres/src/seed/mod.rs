//! Filling an empty database with a whole history at once, by COPY.
//!
//! The rows are those that the writer would have written for the same changes, and the sequences stand where a server
//! would have left them. Memory holds one batch and the last image of each person and wallet.

mod batch;
mod copy;

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use cuepoint_domain::ledger::{Changes, Wallet};
use cuepoint_domain::money::Currency;
use cuepoint_domain::people::User;
use cuepoint_domain::ports::PasswordHash;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::connection::Connector;
use crate::migrations;
use crate::rows::{NewUserRow, UserRow, WalletRow};
use batch::{Batch, copy_into, lines};
use copy::Copied;

/// Each sequence and the table whose ids it gives out.
const SEQUENCES: [(&str, &str); 4] = [
    ("user_ids", "users"),
    ("music_request_ids", "music_requests"),
    ("withdrawal_ids", "withdrawals"),
    ("topup_ids", "topups"),
];

/// Writes a history into an empty database.
pub struct Seeder {
    currency: Currency,
    batch: Batch,
    users: BTreeMap<i64, UserRow>,
    wallets: BTreeMap<i64, WalletRow>,
    batches: mpsc::Sender<Batch>,
    writer: JoinHandle<anyhow::Result<Client>>,
}

impl std::fmt::Debug for Seeder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seeder").field("currency", &self.currency).finish_non_exhaustive()
    }
}

impl Seeder {
    /// Migrates the database and writes the currency down, as a first start does.
    ///
    /// # Errors
    /// When the database cannot be reached or migrated, or has people already. No error repeats the URL.
    pub async fn open(url: &str, currency: Currency) -> anyhow::Result<Self> {
        let connector = Connector::new(url)?;
        migrations::migrate(&connector, migrations::MIGRATIONS, migrations::Patience::default()).await?;
        migrations::settle_currency(&connector, &currency).await?;
        let client = connector.client().await?;
        // Commits wait for the disk: those that do not are taken for unfinished by the cleaning at the end.
        client.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0").await?;
        let row = client.query_one("SELECT EXISTS (SELECT 1 FROM users)", &[]).await?;
        ensure!(!row.get::<_, bool>(0), "the database is not empty");
        // One batch is written while the next one is made.
        let (batches, made) = mpsc::channel(1);
        let writer = tokio::spawn(write(client, made));
        Ok(Self {
            currency,
            batch: Batch::default(),
            users: BTreeMap::new(),
            wallets: BTreeMap::new(),
            batches,
            writer,
        })
    }

    /// Adds a person with an empty wallet.
    pub fn register(&mut self, user: &User, password: &PasswordHash) {
        let wallet = WalletRow::of(&Wallet::empty(user.id), &self.currency);
        self.batch.register(&NewUserRow::of(user, password, &self.currency), &wallet);
    }

    /// Adds what a plan changed, in the order of applying.
    ///
    /// # Errors
    /// When something moved that was written before, or was adjusted.
    pub fn add(&mut self, changes: &Changes) -> anyhow::Result<()> {
        self.batch.add(changes, &self.currency)?;
        let users = changes.user.iter();
        self.users.extend(users.map(|user| (user.id.get(), UserRow::of(user, &self.currency))));
        let wallets = changes.wallets.iter();
        self.wallets.extend(wallets.map(|wallet| (wallet.user.get(), WalletRow::of(wallet, &self.currency))));
        Ok(())
    }

    /// Writes everything so far: no request, withdrawal or top-up of it can move any more.
    ///
    /// # Errors
    /// When an earlier batch could not be written.
    pub async fn write(&mut self) -> anyhow::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if self.batches.send(batch).await.is_err() {
            let ended = (&mut self.writer).await.context("the writer is lost")?;
            ended.context("a batch could not be written")?;
        }
        Ok(())
    }

    /// Writes the rest, sets the sequences, and has the server count and clean up what it has.
    ///
    /// # Errors
    /// When something could not be written.
    pub async fn finish(mut self) -> anyhow::Result<()> {
        self.write().await?;
        drop(self.batches);
        let client = self.writer.await.context("the writer is lost")??;
        replace(&client, "id", self.users).await?;
        replace(&client, "user_id", self.wallets).await?;
        for (sequence, table) in SEQUENCES {
            let set = format!("SELECT setval('{sequence}', max(id)) FROM {table} HAVING max(id) IS NOT NULL");
            client.batch_execute(&set).await?;
        }
        client.batch_execute("VACUUM ANALYZE").await?;
        client.batch_execute("CHECKPOINT").await?;
        Ok(())
    }
}

/// Writes batches as they come, and gives the connection back at their end.
async fn write(client: Client, mut batches: mpsc::Receiver<Batch>) -> anyhow::Result<Client> {
    while let Some(batch) = batches.recv().await {
        batch.write(&client).await?;
    }
    Ok(client)
}

/// Puts the last images of rows in place of those that are there.
async fn replace<Row: Copied>(client: &Client, key: &str, rows: BTreeMap<i64, Row>) -> anyhow::Result<()> {
    let (table, last) = (Row::TABLE, format!("last_{}", Row::TABLE));
    client.batch_execute(&format!("CREATE TEMPORARY TABLE {last} (LIKE {table} INCLUDING DEFAULTS)")).await?;
    for column in ["email_folded", "password_hash"] {
        // Only registration writes these; a copy of the table wants none of them.
        client.batch_execute(&format!("ALTER TABLE {last} DROP COLUMN IF EXISTS {column}")).await?;
    }
    copy_into::<Row>(client, &last, lines(rows)).await?;
    let columns = Row::COLUMNS.iter().filter(|column| **column != key);
    let set: Vec<String> = columns.map(|column| format!("{column} = {last}.{column}")).collect();
    let set = set.join(", ");
    client
        .batch_execute(&format!(
            "UPDATE {table} SET {set} FROM {last} WHERE {table}.{key} = {last}.{key}; DROP TABLE {last}"
        ))
        .await?;
    Ok(())
}
