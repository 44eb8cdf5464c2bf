//! The integrity of the database file: damaged pages, and indexes that do not match their tables.

use std::path::Path;

use anyhow::Context;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::connection::damaged;
use super::failure::SqliteFailure;

/// The result of a check without a defect.
const SOUND: &str = "ok";
/// The maximum size of a file that is checked at each start, in bytes: a check reads the whole file.
pub(crate) const CHECKED_AT_START: u64 = 64 * 1024 * 1024;

/// The thoroughness of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Check {
    /// All pages and all values of rows.
    Quick,
    /// Also each index against its table.
    Full,
}

impl Check {
    const fn statement(self) -> &'static str {
        match self {
            Self::Quick => "PRAGMA quick_check(1)",
            Self::Full => "PRAGMA integrity_check(1)",
        }
    }

    /// Returns the first defect of the file. Rows that violate a constraint are none: the ledger audit judges
    /// rows, and names them.
    ///
    /// # Errors
    /// [`SqliteFailure`] when the file cannot be read.
    pub(crate) fn run(self, connection: &mut SqliteConnection) -> Result<Option<String>, SqliteFailure> {
        connection.batch_execute("PRAGMA ignore_check_constraints = ON")?;
        let found = diesel::dsl::sql::<Text>(self.statement()).get_result::<String>(connection);
        connection.batch_execute("PRAGMA ignore_check_constraints = OFF")?;
        match found.map_err(SqliteFailure::from) {
            Ok(found) if found == SOUND => Ok(None),
            // The first line names the database, of which there is one.
            Ok(found) => Ok(Some(found.trim_start_matches("*** in database main ***").trim().to_owned())),
            Err(SqliteFailure::Damaged(defect)) => Ok(Some(defect)),
            Err(failure) => Err(failure),
        }
    }
}

/// Refuses a damaged database file at the start, unless a check would take long.
///
/// # Errors
/// When the file is damaged or cannot be read.
pub(crate) fn ensure_undamaged(connection: &mut SqliteConnection, path: &Path) -> anyhow::Result<()> {
    let size = std::fs::metadata(path).with_context(|| format!("the database {}", path.display()))?.len();
    if size >= CHECKED_AT_START {
        return Ok(());
    }
    match Check::Quick.run(connection)? {
        Some(defect) => Err(damaged(path, &defect)),
        None => Ok(()),
    }
}
