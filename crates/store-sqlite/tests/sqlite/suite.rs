//! The suite of both SQL stores on SQLite, and what only SQLite refuses or permits.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::Store;
use cuepoint_store_sql_tests::SqlFixture;
use cuepoint_store_sql_tests::dialect::{Dialect, Value};
use cuepoint_store_sql_tests::schema::{APPEND_ONLY, Violation};
use cuepoint_store_sql_tests::tamper::Case;
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::fixtures::{number, open};

/// Turns off every constraint that would refuse a row.
pub(crate) const WITHOUT_CONSTRAINTS: &str =
    "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
const DROP_TRIGGERS: &str = "SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = 'trigger'";

/// Tampering with a value that PostgreSQL does not have.
const TAMPERING: &[Case] = &[(
    "a time beyond all times",
    "UPDATE wallets SET last_at = 9223372036854775807 WHERE user_id = 1",
    "wallet 1: its balance, time or head",
)];

/// Rows that violate a rule of SQLite's own columns and types, and changes of operations.
const VIOLATIONS: &[Violation] = &[
    ("", "UPDATE users SET latitude = 'NaN', longitude = 0 WHERE id = 1", "cannot store TEXT value"),
    (
        "",
        "UPDATE deployment SET copy_state = 'moved', copy_id = {bytes 00}, copy_target = 'x'",
        "deployment_copy_id_check",
    ),
    ("", "UPDATE deployment SET origin_copy_id = {bytes 00}", "deployment_origin_copy_id_check"),
    ("", "UPDATE deployment SET begun_copy_id = {bytes 00}", "deployment_begun_copy_id_check"),
    ("", "DELETE FROM wallets WHERE user_id = 2", "withdrawals_user_id_fkey"),
    ("", "UPDATE operations SET receipt = '[]'", APPEND_ONLY),
    ("", "DELETE FROM operations", APPEND_ONLY),
];

/// A store in a directory of its own.
pub(crate) struct OnSqlite {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) directory: TestDirectory,
    connection: Mutex<SqliteConnection>,
}

impl OnSqlite {
    /// The test's connection.
    pub(crate) fn connection(&self) -> MutexGuard<'_, SqliteConnection> {
        self.connection.lock().unwrap()
    }
}

/// Creates the directory.
pub(crate) async fn database() -> OnSqlite {
    let directory = TestDirectory::create();
    let store = Arc::new(open(directory.path()).unwrap());
    OnSqlite { store, connection: Mutex::new(directory.connection()), directory }
}

/// Values as SQLite writes them.
pub(crate) fn literal(value: Value<'_>) -> String {
    match value {
        Value::Now => "(unixepoch() * 1000000)".to_owned(),
        Value::Time(micros) | Value::Interval(micros) => micros.to_string(),
        Value::Money(amount) => minor_units(amount),
        Value::Id(number) => format!("x'{number:032x}'"),
        Value::NewId => "randomblob(16)".to_owned(),
        Value::Bytes(digits) => format!("x'{digits}'"),
        Value::Read(place) => format!("CAST(json_extract(receipt, '$.{place}') AS TEXT)"),
        Value::With(place, value) => format!("json_set(receipt, '$.{place}', json('{value}'))"),
        Value::Without(places) => {
            let places = places.split(' ').map(|place| format!(", '$.{place}'"));
            format!("json_remove(receipt{})", places.collect::<String>())
        }
        Value::AsJson => String::new(),
    }
}

/// An amount as the text of its cents, with a fraction if it has more decimals.
fn minor_units(amount: &str) -> String {
    let (units, decimals) = amount.split_once('.').unwrap_or((amount, ""));
    let (cents, rest) = if decimals.len() > 2 { decimals.split_at(2) } else { (decimals, "") };
    let cents: i64 = format!("{units}{cents:0<2}").parse().unwrap();
    if rest.is_empty() { format!("'{cents}'") } else { format!("'{cents}.{rest}'") }
}

#[async_trait]
impl SqlFixture for OnSqlite {
    fn dialect(&self) -> Dialect {
        literal
    }

    fn store(&self) -> &dyn Store {
        &*self.store
    }

    async fn other_server(&self) -> Arc<dyn Store> {
        Arc::<SqliteStore>::clone(&self.store)
    }

    async fn reopen(&self) -> Arc<dyn Store> {
        Arc::new(open(self.directory.path()).unwrap())
    }

    async fn try_execute(&self, statements: &str) -> Result<(), String> {
        self.connection().batch_execute(statements).map_err(|error| error.to_string())
    }

    async fn number(&self, query: &str) -> i64 {
        number(&mut self.connection(), query)
    }

    async fn texts(&self, query: &str) -> Vec<String> {
        diesel::dsl::sql::<Text>(query).load(&mut *self.connection()).unwrap()
    }

    fn names(&self, refusal: &str, rule: &str) -> bool {
        match rule.split_once(": ") {
            Some((_, columns)) => refusal == format!("UNIQUE constraint failed: {columns}"),
            None if rule.ends_with("_fkey") => refusal == "FOREIGN KEY constraint failed",
            None if rule == APPEND_ONLY => refusal.ends_with("are append-only"),
            None => refusal.contains(rule),
        }
    }

    async fn remove_constraints(&self) {
        let mut connection = self.connection();
        let triggers: Vec<String> = diesel::dsl::sql::<Text>(DROP_TRIGGERS).load(&mut *connection).unwrap();
        connection.batch_execute(&format!("{WITHOUT_CONSTRAINTS}; {}", triggers.join(";"))).unwrap();
    }

    fn text_columns(&self) -> &'static str {
        "SELECT t.name || '.' || c.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c \
            WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' AND t.name <> '__diesel_schema_migrations' \
            AND c.type IN ('TEXT', 'REAL')"
    }

    fn hold_up(&self, _: UserId) -> String {
        "BEGIN IMMEDIATE".to_owned()
    }

    /// The writer waits for a second at most.
    async fn until_held_up(&self) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    fn many_changes(&self) -> i64 {
        30_000
    }

    /// Sums are texts, which the store decodes.
    fn names_undecodable_rows(&self) -> bool {
        true
    }

    fn own_violations(&self) -> &'static [Violation] {
        VIOLATIONS
    }

    fn own_tampering(&self) -> &'static [Case] {
        TAMPERING
    }
}

cuepoint_store_sql_tests::sql_store_tests!(database);
