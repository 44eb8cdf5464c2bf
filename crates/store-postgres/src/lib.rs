//! PostgreSQL storage for Cuepoint.
//!
//! [`PostgresStore`] implements every storage port of the domain. Plans go through the writer, which commits
//! all waiting plans in one transaction; everything else goes through a small pool. No rule is written in
//! SQL: the tables' constraints are a backstop, and a violation is a bug, not an expected refusal.
//!
//! Several servers may share a database.

#[cfg(all(feature = "testing", not(debug_assertions)))]
compile_error!("the feature `testing` can end the process on purpose, and is not for release builds");

mod backend;
mod by_id;
mod connect;
mod copy;
mod dialect;
mod maintenance;
mod ports;
mod reads;
mod retention;
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
use connect::notifications::{Commits, Exchange};
use connect::per_thread::PerThread;
use connect::pool::Database;
use connect::sentinel::Sentinel;
use connect::{deployment, migrations};
use ports::PostgresIds;
use reads::ReadBatchers;
use writer::Writer;

pub use backend::PostgresBackend;
pub use copy::PostgresCopyEndpoint;
pub use maintenance::finalize::finalize_upgrade;

/// The location and use of a database.
#[derive(Clone)]
pub struct PostgresOptions {
    /// The connection URL; it may hold a password and is never printed.
    pub url: String,
    /// The maximum size of the pool. Plans have a connection of their own, and so have the reads of each web
    /// worker.
    pub pool_size: u32,
    /// Whether to apply missing migrations at the start; otherwise a database that lacks some is refused.
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

/// A store in a PostgreSQL database.
pub struct PostgresStore {
    database: Database,
    together: Arc<ReadBatchers>,
    together_here: PerThread<ReadBatchers>,
    writer: Writer,
    ids: PostgresIds,
    sentinel: Sentinel,
    commits: Arc<Commits>,
    exchange: Exchange,
    currency: Currency,
}

/// The store, by the name that the sources in `store-sql/per_store` use.
type SqlStore = PostgresStore;

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("currency", &self.currency).finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Opens the store and its pool on the current runtime, which must be multi-threaded and outlive the
    /// store. Plans are written by a dedicated thread, and each web worker reads over a connection on its own
    /// runtime.
    ///
    /// The first start records the currency in the database.
    ///
    /// # Errors
    /// When the database cannot be reached, lacks migrations or has another currency. No error repeats the
    /// URL.
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
            Database::new(connector.clone(), options.pool_size).context("cannot create the pool")?;
        let commits = Arc::<Commits>::default();
        let writer = Writer::start(connector.for_writer(), currency.clone(), Arc::clone(&commits))?;
        let together = Arc::new(ReadBatchers::start(&database));
        Ok(Self {
            database,
            together,
            together_here: PerThread::default(),
            writer,
            ids: PostgresIds::default(),
            sentinel: Sentinel::default(),
            exchange: Exchange::start(connector, Arc::clone(&commits)),
            commits,
            currency,
        })
    }

    /// The read batchers; a thread with a runtime of its own has its own.
    fn together(&self) -> Arc<ReadBatchers> {
        let here = self.together_here.here(|| ReadBatchers::start(&self.database));
        here.unwrap_or_else(|| Arc::clone(&self.together))
    }

    /// Completes the waiting plans, accepts no more, and closes every connection.
    pub async fn close(&self) {
        self.writer.close().await;
        self.exchange.stop();
        self.database.close();
    }
}

/// Applies the missing migrations of a database, one server at a time, and returns their names.
///
/// # Errors
/// When the database cannot be reached or a migration fails; earlier migrations stay applied. No error
/// repeats the URL.
pub async fn migrate(url: &str) -> anyhow::Result<Vec<String>> {
    apply_missing(&Connector::new(url)?).await
}

async fn apply_missing(connector: &Connector) -> anyhow::Result<Vec<String>> {
    migrations::migrate(connector, migrations::MIGRATIONS, migrations::Patience::default()).await
}
