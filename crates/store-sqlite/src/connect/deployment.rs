//! The deployment of a database.

use anyhow::{anyhow, ensure};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_store_sql::copy::{Mark, ensure_completed};
use diesel::prelude::*;
use diesel::sql_types::{SmallInt, Text};
use uuid::Uuid;

use crate::schema::deployment;

/// Records the currency at the first start, with a random identity of the database.
const RECORD: &str = "INSERT INTO deployment (singleton, currency, scale, created_at, database_id, feature_level) \
    VALUES (1, ?, ?, unixepoch() * 1000000, randomblob(16), ?) ON CONFLICT DO NOTHING";

/// Records the currency at the first start, and returns the feature level: the newest one, because no server
/// of an earlier version uses the database at the same time.
///
/// # Errors
/// When the database has another currency, was copied to another store, or is the target of an incomplete copy.
pub(crate) fn settle(connection: &mut SqliteConnection, currency: &Currency) -> anyhow::Result<FeatureLevel> {
    let scale = i16::from(currency.scale());
    let newest = FeatureLevel::NEWEST.number();
    diesel::sql_query(RECORD)
        .bind::<Text, _>(currency.code())
        .bind::<SmallInt, _>(scale)
        .bind::<SmallInt, _>(newest)
        .execute(connection)?;
    ensure_currency(connection, currency)?;
    ensure_unmarked(connection)?;
    ensure_copy_completed(connection)?;
    let older = deployment::table.filter(deployment::feature_level.lt(newest));
    diesel::update(older).set(deployment::feature_level.eq(newest)).execute(connection)?;
    Ok(FeatureLevel::NEWEST)
}

/// Refuses a database with another currency; one that no server has used yet has none.
///
/// # Errors
/// When it has another one.
pub(crate) fn ensure_currency(connection: &mut SqliteConnection, currency: &Currency) -> anyhow::Result<()> {
    let scale = i16::from(currency.scale());
    let columns = (deployment::currency, deployment::scale);
    let stored: Option<(String, i16)> =
        deployment::table.select(columns).get_result(connection).optional()?;
    let Some((code, stored_scale)) = stored else { return Ok(()) };
    ensure!(
        code == currency.code() && stored_scale == scale,
        "the database uses {code} with {stored_scale} decimals: wallet.currency and wallet.scale cannot be changed to \
         {} and {scale}",
        currency.code(),
    );
    Ok(())
}

/// Refuses a database that was copied to another store, or whose copy was interrupted.
///
/// # Errors
/// When it is one, with the sentence that names the remedy.
pub(crate) fn ensure_unmarked(connection: &mut SqliteConnection) -> anyhow::Result<()> {
    mark_of(connection)?.map_or(Ok(()), |mark| Err(anyhow!("{}", mark.refusal())))
}

/// Refuses the target of an incomplete copy.
///
/// # Errors
/// When it is one, with the sentence that names the remedy.
pub(crate) fn ensure_copy_completed(connection: &mut SqliteConnection) -> anyhow::Result<()> {
    type Columns = (Option<Vec<u8>>, Option<Vec<u8>>);
    let columns = (deployment::begun_copy_id, deployment::origin_copy_id);
    let row: Option<Columns> = deployment::table.select(columns).get_result(connection).optional()?;
    let (begun, origin) = row.unwrap_or_default();
    ensure_completed(uuid(begun)?, uuid(origin)?)
}

/// The mark of a copy to another store.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn mark_of(connection: &mut SqliteConnection) -> anyhow::Result<Option<Mark>> {
    type Columns = (Option<String>, Option<Vec<u8>>, Option<String>);
    let columns = (deployment::copy_state, deployment::copy_id, deployment::copy_target);
    let row: Option<Columns> = deployment::table.select(columns).get_result(connection).optional()?;
    let (state, copy, target) = row.unwrap_or_default();
    Mark::stored(state.as_deref(), uuid(copy)?, target)
}

/// The id in a nullable column of the deployment.
///
/// # Errors
/// When it is none.
pub(crate) fn uuid(id: Option<Vec<u8>>) -> anyhow::Result<Option<Uuid>> {
    Ok(id.map(|id| Uuid::from_slice(&id)).transpose()?)
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;

    use super::*;
    use crate::testing::TestDirectory;

    #[test]
    fn a_database_refuses_another_currency_or_scale() {
        let directory = TestDirectory::create();
        let mut connection = directory.migrated();
        let usd = Currency::new("USD", 2).unwrap();
        for _ in 0..2 {
            assert_eq!(settle(&mut connection, &usd).unwrap(), FeatureLevel::NEWEST);
        }
        for other in [Currency::new("USD", 3).unwrap(), Currency::new("EUR", 2).unwrap()] {
            let message = settle(&mut connection, &other).unwrap_err().to_string();
            assert!(message.contains("uses USD with 2 decimals"), "{message}");
        }
    }

    #[test]
    fn a_database_is_refused_during_and_after_a_copy_to_another_store() {
        let directory = TestDirectory::create();
        let mut connection = directory.migrated();
        let usd = Currency::new("USD", 2).unwrap();
        settle(&mut connection, &usd).unwrap();
        for (state, part) in [("moving", "storage copy --finish"), ("moved", "in use instead")] {
            let mark = format!(
                "UPDATE deployment SET copy_state = '{state}', copy_id = zeroblob(16), copy_target = 'a place'"
            );
            connection.batch_execute(&mark).unwrap();
            let message = settle(&mut connection, &usd).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
