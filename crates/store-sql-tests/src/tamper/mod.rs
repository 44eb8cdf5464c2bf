//! The ledger audit finds and names every tampering with rows behind the store's back.
//!
//! Undetectable changes leave no contradiction: a move of a request without money (pending to accepted), an
//! entity that moved no money, the actor and the reason of an operation, and the removal of the newest
//! operation with every trace of it.

mod approvals;
mod entities;
mod ledger;
mod populate;
mod positions;
mod topups;
mod unreadable;

use cuepoint_domain::audit::Summary;

use crate::SqlFixture;
use crate::dialect::written;
use crate::fixtures::audit;

pub use populate::populate;

/// The tables, in an order in which they can be filled.
const TABLES: [&str; 9] = [
    "users",
    "wallets",
    "music_requests",
    "withdrawals",
    "topups",
    "tips",
    "operations",
    "ledger_entries",
    "postings",
];

/// The name of the case, the tampering statements, and the text with which the audit must report them. A second text,
/// after `|`, is for a store that names the row of an undecodable sum; others name the row before it.
pub type Case = (&'static str, &'static str, &'static str);

/// What the audit counts in the rows of [`populate`].
pub const WHOLE: Summary = Summary { wallets: 11, entries: 33, postings: 21, entities: 23 };

/// Every tampering, on any database.
pub async fn every_tampered_row_is_reported_by_name(database: &dyn SqlFixture) {
    let cases = [
        ledger::LEDGER,
        entities::ENTITIES,
        approvals::APPROVALS,
        topups::TOPUPS,
        positions::POSITIONS,
        unreadable::UNREADABLE,
        database.own_tampering(),
    ];
    check(database, "", &cases.concat()).await;
}

/// Fills the store with a consistent ledger, and removes the constraints of its tables.
async fn prepare(database: &dyn SqlFixture) {
    populate(database.store()).await;
    assert_eq!(audit(database.store()).await, Ok(WHOLE));
    database.remove_constraints().await;
    for table in TABLES {
        database.execute(&format!("CREATE TEMP TABLE untouched_{table} AS SELECT * FROM {table}")).await;
    }
}

/// Fills the store, executes statements that permit the cases, tampers by one case after the other, and expects the
/// audit to report each.
pub async fn check(database: &dyn SqlFixture, permit: &str, cases: &[Case]) {
    prepare(database).await;
    database.execute(permit).await;
    let mut missed = Vec::new();
    for (name, statements, words) in cases {
        let done = database.try_execute(&written(statements, database.dialect())).await;
        done.unwrap_or_else(|error| panic!("{name}: {error}"));
        let words = match words.split_once('|') {
            Some((_, words)) if database.names_undecodable_rows() => words,
            Some((words, _)) => words,
            None => words,
        };
        match audit(database.store()).await {
            Err(finding) if finding.to_string().contains(words) => {}
            other => {
                missed.push(format!("{name}: {}", other.map_or_else(|one| one.to_string(), |_| "-".into())))
            }
        }
        for table in TABLES {
            let again = format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM untouched_{table}");
            database.execute(&again).await;
        }
    }
    assert!(missed.is_empty(), "not found, or not named:\n{}", missed.join("\n"));
    assert_eq!(audit(database.store()).await, Ok(WHOLE));
}
