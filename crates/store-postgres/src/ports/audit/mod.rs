//! Presents the whole ledger to the audit in one snapshot, one batch of rows in memory at a time.

#[path = "../../../../store-sql/per_store/ports/audit/entities.rs"]
mod entities;
mod moves;
mod positions;
#[path = "../../../../store-sql/per_store/ports/audit/rows.rs"]
mod rows;
mod strays;
#[path = "../../../../store-sql/per_store/ports/audit/wallets.rs"]
mod wallets;

use std::time::Duration;

use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Audit, Unavailable};
use cuepoint_store_sql::rows::StoredEntry;
use cuepoint_store_sql::schema::ledger_entries;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use tokio::time::timeout;

use self::rows::{BATCH, End, after, read, readable};
use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;

/// Time limit of one statement.
const STATEMENT_DEADLINE: Duration = Duration::from_secs(60);

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = '60s'";

/// A snapshot, and the auditor that it is presented to.
struct Showing<'a> {
    connection: &'a mut AsyncPgConnection,
    currency: &'a Currency,
    auditor: &'a mut Auditor,
}

#[async_trait]
impl Audit for PostgresStore {
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        // Outside the pool: an audit takes minutes, and requests must not wait for its connection.
        let mut opened = self.database.open_beside().await?;
        let connection = &mut *opened;
        patiently(async { Ok(connection.batch_execute(BEGIN).await?) }).await?;
        Ok(show_ledger(connection, &self.currency, auditor).await?)
    }
}

/// Presents the ledger that the connection's transaction sees.
pub(crate) async fn show_ledger(
    connection: &mut AsyncPgConnection,
    currency: &Currency,
    auditor: &mut Auditor,
) -> Result<(), DatabaseFailure> {
    let mut showing = Showing { connection, currency, auditor };
    let shown = showing.rows().await;
    match shown {
        Ok(()) => {}
        Err(End::Unreadable(what)) => auditor.unreadable(what),
        Err(End::Failed(failure)) => return Err(failure),
    }
    Ok(())
}

impl Showing<'_> {
    /// Does nothing: an audit that is not wanted any more is dropped.
    fn ensure_wanted(&self) -> Result<(), End> {
        Ok(())
    }
}

/// Awaits a statement within [`STATEMENT_DEADLINE`].
async fn patiently<T>(work: impl Future<Output = Result<T, DatabaseFailure>>) -> Result<T, DatabaseFailure> {
    timeout(STATEMENT_DEADLINE, work).await.unwrap_or(Err(DatabaseFailure::Deadline))
}

/// Loads the entries after one, by wallet and number.
async fn load_entries(
    connection: &mut AsyncPgConnection,
    (wallet, seq): (i64, i64),
    limit: i64,
) -> Result<Vec<StoredEntry>, DatabaseFailure> {
    let later = ledger_entries::wallet_id
        .gt(wallet)
        .or(ledger_entries::wallet_id.eq(wallet).and(ledger_entries::seq.gt(seq)));
    let query = ledger_entries::table
        .filter(ledger_entries::wallet_id.ge(wallet))
        .filter(later)
        .order((ledger_entries::wallet_id, ledger_entries::seq))
        .limit(limit);
    patiently(async { Ok(query.select(StoredEntry::as_select()).load(connection).await?) }).await
}
