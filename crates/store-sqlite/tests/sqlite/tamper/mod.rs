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
mod types;
mod unreadable;

use cuepoint_domain::audit::{Auditor, Finding, Summary};
use cuepoint_domain::ports::Audit;
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::fixtures::open;
pub(crate) use populate::populate;

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

/// Turns off every constraint that would refuse a row; an attacker with access to the file could do the same.
pub(crate) const LAWLESS: &str = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
const TRIGGERS: &str = "SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'";

/// The name of the case, the tampering statements, and the text with which the audit must report them.
type Case = (&'static str, &'static str, &'static str);

/// What the audit counts in the rows of [`populate`].
pub(crate) const WHOLE: Summary = Summary { wallets: 9, entries: 30, postings: 19, entities: 21 };

/// A store whose rows an attacker changes.
struct Tampered {
    store: SqliteStore,
    vandal: SqliteConnection,
    _directory: TestDirectory,
}

impl Tampered {
    /// A consistent ledger without constraints.
    async fn prepare() -> Self {
        let directory = TestDirectory::create();
        let store = open(directory.path()).unwrap();
        let mut vandal = directory.connection();
        populate(&store, &mut vandal).await;
        assert_eq!(audit(&store).await, Ok(WHOLE));
        vandal.batch_execute(LAWLESS).unwrap();
        let triggers: Vec<String> = diesel::dsl::sql::<Text>(TRIGGERS).load(&mut vandal).unwrap();
        vandal.batch_execute(&triggers.join(";")).unwrap();
        for table in TABLES {
            let copy = format!("CREATE TEMP TABLE untouched_{table} AS SELECT * FROM main.{table}");
            vandal.batch_execute(&copy).unwrap();
        }
        Self { store, vandal, _directory: directory }
    }

    /// The cases that the audit does not report as they should be.
    async fn missed(&mut self, cases: &[Case]) -> Vec<String> {
        let mut missed = Vec::new();
        for (name, statements, words) in cases {
            self.vandal.batch_execute(statements).unwrap_or_else(|error| panic!("{name}: {error}"));
            match audit(&self.store).await {
                Err(finding) if finding.to_string().contains(words) => {}
                other => missed
                    .push(format!("{name}: {}", other.map_or_else(|one| one.to_string(), |_| "-".into()))),
            }
            self.restore();
        }
        missed
    }

    fn restore(&mut self) {
        for table in TABLES {
            let again =
                format!("DELETE FROM main.{table}; INSERT INTO main.{table} SELECT * FROM untouched_{table}");
            self.vandal.batch_execute(&again).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tampered_row_is_found_and_named() {
    let mut tampered = Tampered::prepare().await;
    let cases = [
        ledger::LEDGER,
        entities::ENTITIES,
        approvals::APPROVALS,
        topups::TOPUPS,
        positions::POSITIONS,
        unreadable::UNREADABLE,
    ]
    .concat();
    let missed = tampered.missed(&cases).await;
    assert!(missed.is_empty(), "not found, or not named:\n{}", missed.join("\n"));
    assert_eq!(audit(&tampered.store).await, Ok(WHOLE));
}

/// Values of types that the tables refuse, after the schema was rewritten without its types.
#[tokio::test(flavor = "multi_thread")]
async fn every_value_of_a_wrong_type_is_found() {
    let mut tampered = Tampered::prepare().await;
    tampered.vandal.batch_execute(types::UNTYPED).unwrap();
    let missed = tampered.missed(types::TYPES).await;
    assert!(missed.is_empty(), "not found, or not named:\n{}", missed.join("\n"));
    assert_eq!(audit(&tampered.store).await, Ok(WHOLE));
}

pub(crate) async fn audit(store: &SqliteStore) -> Result<Summary, Finding> {
    let mut auditor = Auditor::new();
    store.show(&mut auditor).await.unwrap();
    auditor.finish()
}

/// The names of the cases in a source file: each follows the beginning of a tuple.
fn names(source: &str) -> Vec<&str> {
    let tuples = source.split('(').filter_map(|rest| rest.trim_start().strip_prefix('"'));
    tuples.filter_map(|rest| rest.split('"').next()).collect()
}

/// Every tampering that is tried on PostgreSQL is tried here.
#[test]
fn the_cases_are_those_of_postgresql() {
    macro_rules! both {
        ($file:literal) => {
            (
                names(include_str!(concat!("../../../../store-postgres/tests/postgres/tamper/", $file))),
                names(include_str!($file)),
            )
        };
    }
    for (theirs, ours) in [
        both!("approvals.rs"),
        both!("entities.rs"),
        both!("ledger.rs"),
        both!("positions.rs"),
        both!("topups.rs"),
        both!("unreadable.rs"),
    ] {
        assert!(theirs.len() > 1);
        assert_eq!(theirs, ours);
    }
}
