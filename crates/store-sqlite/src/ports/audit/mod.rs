//! Shows the whole ledger to the audit in one snapshot, one batch of rows in memory at a time.

#[path = "../../../../store-sql/per_store/ports/audit/entities.rs"]
mod entities;
mod moves;
mod positions;
#[path = "../../../../store-sql/per_store/ports/audit/rows.rs"]
mod rows;
mod strays;
#[path = "../../../../store-sql/per_store/ports/audit/wallets.rs"]
mod wallets;

use std::mem;

use async_trait::async_trait;
use cuepoint_domain::audit::Auditor;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Audit, Unavailable};
use cuepoint_store_sql::rows::StoredEntry;
use cuepoint_store_sql::schema::ledger_entries;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};

use self::rows::{BATCH, End, after, read, readable};
use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::connect::integrity::Check;
use crate::dialect::{RunQueryDsl, at_once};

/// A snapshot, and the auditor that reads it.
struct Showing<'a> {
    connection: &'a mut SqliteConnection,
    currency: &'a Currency,
    auditor: &'a mut Auditor,
    /// Whether the caller still waits for the result.
    is_wanted: &'a dyn Fn() -> bool,
}

#[async_trait]
impl Audit for SqliteStore {
    /// On a thread and a connection of its own, since an audit takes minutes. The check of the file comes
    /// last, so that a defect of a row is named by the audit.
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        let (mut shown, currency) = (mem::take(auditor), self.currency.clone());
        let show = move |connection: &mut SqliteConnection, is_wanted: &dyn Fn() -> bool| {
            show_ledger(connection, &currency, &mut shown, is_wanted)?;
            Ok(shown)
        };
        *auditor = self.readers.read_on_own_thread(show).await?;
        Ok(())
    }
}

/// Shows the whole ledger of a snapshot: the connection's transaction. It ends early when `is_wanted`
/// returns false.
///
/// # Errors
/// [`SqliteFailure`] when a statement fails.
pub(crate) fn show_ledger(
    connection: &mut SqliteConnection,
    currency: &Currency,
    auditor: &mut Auditor,
    is_wanted: &dyn Fn() -> bool,
) -> Result<(), SqliteFailure> {
    let mut showing = Showing { connection, currency, auditor, is_wanted };
    at_once(async {
        match showing.everything().await.and_then(|()| showing.file()) {
            Ok(()) => {}
            Err(End::Unreadable(what)) => showing.auditor.unreadable(what),
            Err(End::Failed(failure)) => return Err(failure),
        }
        Ok(())
    })
}

impl Showing<'_> {
    /// Shows all rows; if one of their pages is damaged, the error names it.
    async fn everything(&mut self) -> Result<(), End> {
        match self.rows().await {
            Err(End::Failed(SqliteFailure::Damaged(defect))) => Err(match self.file() {
                Ok(()) => damaged(&defect),
                Err(end) => end,
            }),
            shown => shown,
        }
    }

    /// Checks every page and every index of the database file.
    fn file(&mut self) -> Result<(), End> {
        self.ensure_wanted()?;
        match Check::Full.run(self.connection)? {
            Some(defect) => Err(damaged(&defect)),
            None => Ok(()),
        }
    }

    /// Ends an abandoned audit.
    fn ensure_wanted(&self) -> Result<(), End> {
        if (self.is_wanted)() { Ok(()) } else { Err(End::Failed(SqliteFailure::Interrupted)) }
    }
}

/// The end of an audit by a damaged file.
fn damaged(defect: &str) -> End {
    End::Unreadable(format!("the database file is damaged: restore a backup ({defect})"))
}

/// Awaits a statement, which has no time limit.
async fn patiently<T>(work: impl Future<Output = Result<T, SqliteFailure>>) -> Result<T, SqliteFailure> {
    work.await
}

/// Loads the entries after one, by wallet and number.
async fn load_entries(
    connection: &mut SqliteConnection,
    (wallet, seq): (i64, i64),
    limit: i64,
) -> Result<Vec<StoredEntry>, SqliteFailure> {
    let later = sql::<Bool>("(wallet_id, seq) > (").bind::<BigInt, _>(wallet).sql(", ");
    let query = ledger_entries::table
        .filter(later.bind::<BigInt, _>(seq).sql(")"))
        .order((ledger_entries::wallet_id, ledger_entries::seq))
        .limit(limit);
    Ok(query.select(StoredEntry::as_select()).load(connection).await?)
}
