//! Fills an empty database with a whole history at once.
//!
//! The rows are written by the writer's own statements, thousands at once, and the sequences end where a
//! server would have left them. Memory holds one write set and the last image of each user and wallet; these
//! are written at the end, since updating a row once for each write set would leave as many dead ones.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use cuepoint_domain::ledger::Wallet;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{Changes, Entity, Outcome};
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::user::User;
use cuepoint_store_sql::WriteSet;
use cuepoint_store_sql::rows::{NewUser, StoredUser, StoredWallet};
use cuepoint_store_sql::schema::users;
use diesel::QueryDsl;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::connect::connection::Connector;
use crate::connect::migrations;
use crate::writer::{Insert, PreparedWrites, Update, Writes};

/// Users added by one statement: the protocol allows 65 535 parameters, and a user has 26.
const PEOPLE: usize = 2_000;
/// Rows written by one update at the end.
const UPDATED: usize = 5_000;

/// Each sequence and the table of its ids.
const SEQUENCES: [(&str, &str); 4] = [
    ("user_ids", "users"),
    ("music_request_ids", "music_requests"),
    ("withdrawal_ids", "withdrawals"),
    ("topup_ids", "topups"),
];

/// The rows of one transaction.
#[derive(Default)]
struct Batch {
    users: Vec<NewUser>,
    wallets: Vec<StoredWallet>,
    writes: WriteSet,
}

/// Writes a history into an empty database.
pub struct Seeder {
    currency: Currency,
    batch: Batch,
    users: BTreeMap<i64, StoredUser>,
    wallets: BTreeMap<i64, StoredWallet>,
    batches: mpsc::Sender<Batch>,
    writer: JoinHandle<anyhow::Result<AsyncPgConnection>>,
}

impl std::fmt::Debug for Seeder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seeder").field("currency", &self.currency).finish_non_exhaustive()
    }
}

impl Seeder {
    /// Migrates the database and records the currency, as a first start does.
    ///
    /// # Errors
    /// When the database cannot be reached or migrated, or already has users. No error repeats the URL.
    pub async fn open(url: &str, currency: Currency) -> anyhow::Result<Self> {
        let connector = Connector::new(url)?;
        migrations::migrate(&connector, migrations::MIGRATIONS, migrations::Patience::default()).await?;
        migrations::settle_currency(&connector, &currency).await?;
        let mut connection = connector.connect().await?;
        // Commits wait for the disk: the vacuum at the end treats asynchronous ones as unfinished.
        connection.batch_execute("SET statement_timeout = 0; SET lock_timeout = 0").await?;
        let is_used: bool = diesel::select(diesel::dsl::exists(users::table.select(users::id)))
            .get_result(&mut connection)
            .await?;
        ensure!(!is_used, "the database is not empty");
        // The next batch is built while one is written.
        let (batches, made) = mpsc::channel(1);
        let writer = tokio::spawn(write_batches(connection, made));
        Ok(Self {
            currency,
            batch: Batch::default(),
            users: BTreeMap::new(),
            wallets: BTreeMap::new(),
            batches,
            writer,
        })
    }

    /// Adds a user with an empty wallet.
    pub fn register(&mut self, user: &User, password: &PasswordHash) {
        self.batch.users.push(NewUser::of(user, password, &self.currency));
        self.batch.wallets.push(StoredWallet::of(&Wallet::empty(user.id), &self.currency));
    }

    /// Adds the changes of a plan, in the order of application.
    ///
    /// # Errors
    /// When a wallet was adjusted: no table has the ids of adjustments, so their sequence cannot be set.
    pub fn add(&mut self, changes: &Changes) -> anyhow::Result<()> {
        let outcome = changes.operation.as_ref().map(|record| &record.receipt.outcome);
        ensure!(
            !matches!(outcome, Some(Outcome { entity: Entity::Adjustment(_), .. })),
            "an adjustment cannot be seeded"
        );
        Ok(self.batch.writes.add(changes, None, &self.currency)?)
    }

    /// Writes all rows so far.
    ///
    /// # Errors
    /// When an earlier batch could not be written.
    pub async fn write(&mut self) -> anyhow::Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        self.users.append(&mut batch.writes.entities.users.moved);
        self.wallets.append(&mut batch.writes.wallets);
        if self.batches.send(batch).await.is_err() {
            let ended = (&mut self.writer).await.context("the writer task failed")?;
            ended.context("a batch could not be written")?;
        }
        Ok(())
    }

    /// Writes the rest, sets the sequences, and has the server vacuum and analyze its tables.
    ///
    /// # Errors
    /// When a statement fails.
    pub async fn finish(mut self) -> anyhow::Result<()> {
        self.write().await?;
        drop(self.batches);
        let connection = &mut self.writer.await.context("the writer task failed")??;
        let mut users = self.users.into_values().peekable();
        while users.peek().is_some() {
            users.by_ref().take(UPDATED).collect::<Update<StoredUser>>().execute(connection).await?;
        }
        let mut wallets = self.wallets.into_values().peekable();
        while wallets.peek().is_some() {
            wallets.by_ref().take(UPDATED).collect::<Update<StoredWallet>>().execute(connection).await?;
        }
        for (sequence, table) in SEQUENCES {
            let set = format!("SELECT setval('{sequence}', max(id)) FROM {table} HAVING max(id) IS NOT NULL");
            connection.batch_execute(&set).await?;
        }
        connection.batch_execute("VACUUM ANALYZE").await?;
        connection.batch_execute("CHECKPOINT").await?;
        Ok(())
    }
}

/// Writes batches as they arrive, each in one transaction, and returns the connection at the end.
async fn write_batches(
    mut connection: AsyncPgConnection,
    mut batches: mpsc::Receiver<Batch>,
) -> anyhow::Result<AsyncPgConnection> {
    let mut prepared = PreparedWrites::default();
    while let Some(Batch { users, wallets, writes }) = batches.recv().await {
        connection.batch_execute("BEGIN").await?;
        for people in users.chunks(PEOPLE) {
            diesel::insert_into(users::table).values(people).execute(&mut connection).await?;
        }
        if !wallets.is_empty() {
            wallets.into_iter().collect::<Insert<StoredWallet>>().execute(&mut connection).await?;
        }
        if !writes.is_empty() {
            Writes::of(writes, None, &connection).execute(&mut prepared).await?;
        }
        connection.batch_execute("COMMIT").await?;
    }
    Ok(connection)
}
