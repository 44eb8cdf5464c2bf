//! A copy of the database as of one moment, made while a server may use it.

use std::path::{self, Path};

use anyhow::Context;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::PreparedData;
use cuepoint_domain::timestamp::Timestamp;
use diesel::RunQueryDsl;
use diesel::sql_types::{BigInt, Text};

use super::prepared_file::{PreparedFile, check, on_own_thread};
use super::restore::ensure_own_schema;
use crate::connect::connection::{Access, open, uri};
use crate::connect::data_directory::existing_database;
use crate::connect::migrations::{self, MIGRATIONS};
use crate::connect::{application, deployment, in_use, part};

/// The clock of the machine, in microseconds since 1970.
const NOW: &str = "SELECT unixepoch() * 1000000";

/// Copies the database in a data directory to a temporary file beside `file`, marks the copy as a backup, and checks
/// its structure. It takes no lock that a server needs, but the write-ahead log grows until the copy is made.
///
/// # Errors
/// When `file` exists, there is no database, it has another version, schema or currency, or it cannot be copied;
/// nothing is left beside `file` then.
pub(crate) async fn backup(
    directory: &Path,
    file: &Path,
    currency: &Currency,
) -> anyhow::Result<Box<dyn PreparedData>> {
    let source = existing_database(directory)?;
    in_use::ensure_database(directory)?;
    let file = path::absolute(file).with_context(|| format!("{} is not a path", file.display()))?;
    let temporary = part::part_of(&file);
    let refused = || format!("{} cannot be created", temporary.display());
    part::remove_abandoned_beside(&file).with_context(refused)?;
    let mut copy = PreparedFile::create(temporary.clone(), file.clone(), currency, None)?;
    let currency = currency.clone();
    let began = on_own_thread(move || {
        let mut connection = open(&source, Access::Backup)?;
        // The audit of the copy reads every table of this version.
        migrations::ensure_migrated(&mut connection, MIGRATIONS)?;
        ensure_own_schema(&mut connection, MIGRATIONS)?;
        deployment::ensure_currency(&mut connection, &currency)?;
        let began = diesel::dsl::sql::<BigInt>(NOW).get_result(&mut connection)?;
        let copied = diesel::sql_query("VACUUM INTO ?")
            .bind::<Text, _>(uri(&temporary, "rw"))
            .execute(&mut connection);
        copied.with_context(|| format!("{} cannot be written", file.display()))?;
        application::mark_as_backup(&mut open(&temporary, Access::Copy)?)?;
        check(&temporary).context("the copy cannot be used")?;
        Ok(Timestamp::from_unix_micros(began))
    })
    .await?;
    copy.record_in(directory.to_owned(), began);
    Ok(Box::new(copy))
}
