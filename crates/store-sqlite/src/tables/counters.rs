//! The next ids: reserved ones in the table `ids`, generated ones in SQLite's own table of sequences.

use cuepoint_store_sql::schema::COUNTERS;
use cuepoint_store_sql::table::{Counter, Counting};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

/// The next id of each counter: greater than every id in use and every one that was used before.
pub(crate) fn next_ids(connection: &mut SqliteConnection) -> QueryResult<Vec<i64>> {
    let next = |Counter { name, counting, greatest, .. }: &Counter| {
        let counted = match counting {
            Counting::Reserved => format!("(SELECT next FROM ids WHERE kind = '{name}')"),
            Counting::Generated => {
                format!("1 + coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{name}'), 0)")
            }
            Counting::Permanent => "1".to_owned(),
        };
        let next = format!("SELECT max({counted}, 1 + coalesce(({greatest}), 0))");
        diesel::dsl::sql::<BigInt>(&next).get_result(connection)
    };
    COUNTERS.iter().map(next).collect()
}

/// Sets the next id of each counter.
pub(crate) fn set_next_ids(connection: &mut SqliteConnection, next_ids: &[i64]) -> QueryResult<()> {
    let mut set = |statement: &str, number: i64, name: &str| {
        diesel::sql_query(statement).bind::<BigInt, _>(number).bind::<Text, _>(name).execute(connection)
    };
    for (Counter { name, counting, .. }, next) in COUNTERS.iter().zip(next_ids) {
        match counting {
            Counting::Reserved => drop(set("UPDATE ids SET next = ? WHERE kind = ?", *next, name)?),
            Counting::Generated => {
                let last = next.saturating_sub(1);
                if set("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", last, name)? == 0 {
                    set("INSERT INTO sqlite_sequence (seq, name) VALUES (?, ?)", last, name)?;
                }
            }
            // SQLite adds one to the greatest.
            Counting::Permanent => {}
        }
    }
    Ok(())
}
