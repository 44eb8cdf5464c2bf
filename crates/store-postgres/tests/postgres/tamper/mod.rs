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

use cuepoint_domain::audit::{Auditor, Finding, Summary};
use cuepoint_domain::ports::Audit;
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use tokio_postgres::Client;

use crate::scenario::{client, open};
use populate::populate;

/// The tables, in an order in which they can be filled.
const TABLES: [&str; 8] = [
    "users",
    "wallets",
    "music_requests",
    "withdrawals",
    "topups",
    "operations",
    "ledger_entries",
    "postings",
];

/// Drops every constraint that would refuse a row; an attacker with access to the rows could do the same.
const LAWLESS: &str = "
    SET session_replication_role = replica;
    DO $$
    DECLARE rule record;
    BEGIN
        FOR rule IN
            SELECT conname, conrelid::regclass AS relation, contypid
            FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace
        LOOP
            IF rule.contypid <> 0 THEN
                EXECUTE format('ALTER DOMAIN %s DROP CONSTRAINT %I', rule.contypid::regtype, rule.conname);
            ELSE
                EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', rule.relation, rule.conname);
            END IF;
        END LOOP;
    END $$;
    CREATE SCHEMA untouched;";

/// The name of the case, the tampering statements, and the text with which the audit must report them.
type Case = (&'static str, &'static str, &'static str);

#[tokio::test(flavor = "multi_thread")]
async fn every_tampered_row_is_found_and_named() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    populate(&store).await;
    let whole = Summary { wallets: 9, entries: 30, postings: 19, entities: 21 };
    assert_eq!(audit(&store).await, Ok(whole));
    let vandal = client(database.url()).await;
    vandal.batch_execute(LAWLESS).await.unwrap();
    for table in TABLES {
        vandal.batch_execute(&format!("CREATE TABLE untouched.{table} AS TABLE {table}")).await.unwrap();
    }
    let mut missed = Vec::new();
    for (name, statements, words) in [
        ledger::LEDGER,
        entities::ENTITIES,
        approvals::APPROVALS,
        topups::TOPUPS,
        positions::POSITIONS,
        unreadable::UNREADABLE,
    ]
    .concat()
    {
        vandal.batch_execute(statements).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        match audit(&store).await {
            Err(finding) if finding.to_string().contains(words) => {}
            other => {
                missed.push(format!("{name}: {}", other.map_or_else(|one| one.to_string(), |_| "-".into())))
            }
        }
        restore(&vandal).await;
    }
    assert!(missed.is_empty(), "not found, or not named:\n{}", missed.join("\n"));
    assert_eq!(audit(&store).await, Ok(whole));
}

async fn audit(store: &PostgresStore) -> Result<Summary, Finding> {
    let mut auditor = Auditor::new();
    store.show(&mut auditor).await.unwrap();
    auditor.finish()
}

async fn restore(vandal: &Client) {
    for table in TABLES {
        let again = format!(
            "DELETE FROM {table}; INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT * FROM untouched.{table}"
        );
        vandal.batch_execute(&again).await.unwrap();
    }
}
