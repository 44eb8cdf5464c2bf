//! Cuepoint's storage on PostgreSQL.
//!
//! [`PostgresStore`] implements every storage port of the domain. Plans go through the writer, which commits all
//! that wait in one transaction; everything else goes through a small pool. No rule is written in SQL:
//! the tables' checks are a backstop, and what they refuse is a bug, not an answer.
//!
//! Several servers may use one database at once.

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can end the process on purpose, and is not for release builds");

mod backend;
mod connect;
mod maintenance;
mod ports;
mod reads;
mod retention;
mod rows;
mod schema;
#[cfg(feature = "seed")]
pub mod seed;
mod statement;
mod tables;
mod telemetry;
#[cfg(feature = "testing")]
pub mod testing;
mod writer;

use std::fmt;
use std::sync::Arc;

use anyhow::Context;
use cuepoint_domain::money::Currency;

use connect::connection::Connector;
use connect::per_thread::PerThread;
use connect::pool::Database;
use connect::sentinel::Sentinel;
use connect::{deployment, migrations};
use ports::IdBlocks;
use reads::ReadTogether;
use writer::Writer;

pub use backend::PostgresBackend;
pub use maintenance::finalize::finalize_upgrade;
pub use maintenance::restore::{open_transfers, restore};

/// Where the database is and how it is used.
#[derive(Clone)]
pub struct PostgresOptions {
    /// The connection URL; it may hold a password and is never printed.
    pub url: String,
    /// The most connections of the pool. Plans have one of their own, and each web worker reads over its own.
    pub pool_size: u32,
    /// Whether to apply missing migrations first; without it, a database that lacks some is refused.
    pub migrate_on_start: bool,
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresOptions")
            .field("url", &"[hidden]")
            .field("pool_size", &self.pool_size)
            .field("migrate_on_start", &self.migrate_on_start)
            .finish()
    }
}

/// Everything that Cuepoint keeps, in a PostgreSQL database.
pub struct PostgresStore {
    database: Database,
    together: Arc<ReadTogether>,
    together_here: PerThread<ReadTogether>,
    writer: Writer,
    ids: IdBlocks,
    sentinel: Sentinel,
    currency: Currency,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("currency", &self.currency).finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Opens the store on the present runtime, which its pool lives on: a multi-threaded one that outlives the store. Plans
    /// are written by a thread of their own, and a web worker reads over a connection that lives on it.
    ///
    /// The first start writes the currency into the database.
    ///
    /// # Errors
    /// When the database cannot be reached, lacks migrations or keeps another currency. No error repeats the URL.
    pub async fn open(options: PostgresOptions, currency: Currency) -> anyhow::Result<Self> {
        let connector = Connector::new(&options.url)?;
        telemetry::describe();
        connector.survey().await;
        if options.migrate_on_start {
            for migration in apply_missing(&connector).await? {
                tracing::info!(migration, "applied a migration");
            }
        } else {
            migrations::ensure_migrated(&connector).await?;
        }
        migrations::settle_currency(&connector, &currency).await?;
        deployment::recognise(&connector).await?;
        let database =
            Database::new(connector.clone(), options.pool_size).context("the pool cannot be made")?;
        let writer = Writer::start(connector.planning_once(), currency.clone())?;
        let together = Arc::new(ReadTogether::start(&database));
        Ok(Self {
            database,
            together,
            together_here: PerThread::default(),
            writer,
            ids: IdBlocks::default(),
            sentinel: Sentinel::default(),
            currency,
        })
    }

    /// The ways to what is read together: a thread that serves alone has its own.
    fn together(&self) -> Arc<ReadTogether> {
        let here = self.together_here.here(|| ReadTogether::start(&self.database));
        here.unwrap_or_else(|| Arc::clone(&self.together))
    }

    /// Answers the plans that wait, takes no more of them, and closes every connection.
    pub async fn close(&self) {
        self.writer.close().await;
        self.database.close();
    }
}

/// Applies the migrations that a database lacks, one server at a time, and returns their names.
///
/// # Errors
/// When the database cannot be reached or a migration fails; those before it stay applied. No error repeats the URL.
pub async fn migrate(url: &str) -> anyhow::Result<Vec<String>> {
    apply_missing(&Connector::new(url)?).await
}

async fn apply_missing(connector: &Connector) -> anyhow::Result<Vec<String>> {
    migrations::migrate(connector, migrations::MIGRATIONS, migrations::Patience::default()).await
}
