//! Rows of append-only tables are neither changed nor deleted nor replaced by a statement, in whatever form.

use std::collections::BTreeMap;

use cuepoint_store_sql_tests::dialect::written;
use cuepoint_store_sql_tests::schema::rows::SOUND;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::suite::literal;

/// The tables of which no row ever changes, but for the receipts of operations.
const TABLES: [&str; 4] = ["operations", "ledger_entries", "postings", "security_events"];

/// A database with rows in every table.
fn filled(directory: &TestDirectory) -> SqliteConnection {
    let mut connection = directory.migrated();
    for (before, row) in SOUND {
        connection.batch_execute(&written(&format!("{before}{row}"), literal)).unwrap();
    }
    connection
}

fn texts(connection: &mut SqliteConnection, query: &str) -> Vec<String> {
    diesel::dsl::sql::<Text>(query).load(connection).unwrap()
}

/// The columns of a table with their types.
fn columns(connection: &mut SqliteConnection, table: &str) -> Vec<(String, String)> {
    let columns = format!("SELECT name || ' ' || type FROM pragma_table_info('{table}') ORDER BY cid");
    let columns = texts(connection, &columns);
    columns.iter().map(|column| column.split_once(' ').unwrap()).map(|(a, b)| (a.into(), b.into())).collect()
}

/// All rows of all tables.
fn dump(connection: &mut SqliteConnection) -> BTreeMap<&'static str, Vec<String>> {
    let mut rows = BTreeMap::new();
    for table in TABLES {
        let columns = columns(connection, table);
        let quoted: Vec<String> = columns.iter().map(|(name, _)| format!("quote({name})")).collect();
        let all = format!("SELECT {} AS row FROM {table} ORDER BY row", quoted.join(" || ',' || "));
        rows.insert(table, texts(connection, &all));
    }
    rows
}

/// Statements that change, delete or replace rows of a table.
fn forbidden(connection: &mut SqliteConnection, table: &str) -> Vec<String> {
    let columns = columns(connection, table);
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(", ");
    let mut statements = vec![
        format!("DELETE FROM {table}"),
        format!("DELETE FROM {table} WHERE at > 0 RETURNING at"),
        format!("WITH all_rows AS (SELECT 1) DELETE FROM {table} WHERE EXISTS (SELECT * FROM all_rows)"),
        format!("REPLACE INTO {table} SELECT * FROM {table}"),
        format!("INSERT OR REPLACE INTO {table} ({names}) SELECT {names} FROM {table}"),
        format!(
            "INSERT INTO {table} SELECT * FROM {table} WHERE true ON CONFLICT DO UPDATE SET at = excluded.at + 1"
        ),
        format!("UPDATE OR REPLACE {table} SET at = at + 1"),
        format!("UPDATE OR IGNORE {table} SET at = at + 1"),
        format!("UPDATE {table} SET at = other.at + 1 FROM (SELECT max(at) AS at FROM {table}) AS other"),
    ];
    for (name, kind) in &columns {
        let value = match kind.as_str() {
            "INTEGER" => format!("coalesce({name}, 0) + 1"),
            "TEXT" => format!("coalesce({name}, '') || '1'"),
            _ => "randomblob(32)".to_owned(),
        };
        statements.push(format!("UPDATE {table} SET {name} = {value}"));
    }
    statements
}

#[test]
fn no_statement_changes_append_only_rows() {
    let directory = TestDirectory::create();
    let mut connection = filled(&directory);
    let before = dump(&mut connection);
    assert!(before.values().all(|rows| !rows.is_empty()));
    for table in TABLES {
        for statement in forbidden(&mut connection, table) {
            let error = connection.batch_execute(&statement).expect_err(&statement).to_string();
            assert!(error.ends_with(&format!("rows of {table} are append-only")), "{statement}: {error}");
        }
    }
    assert_eq!(dump(&mut connection), before);
}

#[test]
fn provider_messages_are_not_replaced() {
    let directory = TestDirectory::create();
    let mut connection = filled(&directory);
    for statement in ["REPLACE INTO", "INSERT OR REPLACE INTO"] {
        let replace = format!("{statement} provider_messages SELECT * FROM provider_messages");
        let error = connection.batch_execute(&replace).unwrap_err().to_string();
        assert!(error.ends_with("rows of provider_messages are append-only"), "{error}");
    }
}

#[test]
fn referenced_rows_cannot_be_deleted() {
    let directory = TestDirectory::create();
    let mut connection = filled(&directory);
    for (table, reason) in [("users", "users_are_kept"), ("wallets", "FOREIGN KEY constraint failed")] {
        let error = connection.batch_execute(&format!("DELETE FROM {table}")).unwrap_err().to_string();
        assert!(error.contains(reason), "{table}: {error}");
    }
}

#[test]
fn the_receipt_of_a_profile_change_can_only_be_reduced_to_the_user_id() {
    let directory = TestDirectory::create();
    let mut connection = filled(&directory);
    let add = "INSERT INTO operations (id, kind, at, receipt) VALUES (x'07070707070707070707070707070707', \
        'change_profile', 1, '{\"profile\": {\"user\": {\"id\": 2, \"name\": \"Ada\"}, \"balance\": {}}}')";
    connection.batch_execute(add).unwrap();
    let set =
        |receipt: &str| format!("UPDATE operations SET receipt = {receipt} WHERE kind = 'change_profile'");
    for receipt in [
        "'{}'",
        "json_object('profile', json_object('user', json_object('id', 3)))",
        "json_set(receipt, '$.profile.user.name', 'Bo')",
        "json_remove(receipt, '$.profile.user.name')",
    ] {
        let error = connection.batch_execute(&set(receipt)).expect_err(receipt).to_string();
        assert!(error.ends_with("rows of operations are append-only"), "{receipt}: {error}");
    }
    let redacted = "json_object('profile', json_object('user', json_object('id', json_extract(receipt, '$.profile.user.id'))))";
    for _ in 0..2 {
        connection.batch_execute(&set(redacted)).unwrap();
    }
    let left = texts(&mut connection, "SELECT receipt FROM operations WHERE kind = 'change_profile'");
    assert_eq!(left, [r#"{"profile":{"user":{"id":2}}}"#]);
}
