//! The tables declared in Rust match those that the migrations create.

use std::collections::BTreeSet;

use cuepoint_store_sql::schema::{COUNTERS, TABLES};
use cuepoint_store_sql::table::{ColumnKind, Counting, Table};
use cuepoint_store_sql_tests::drift::Columns;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::prelude::*;
use diesel::sql_types::Text;

/// The type of a column in a strict table for a Diesel type.
fn type_name(diesel: &str) -> &str {
    match diesel {
        "Bool" | "SmallInt" | "Integer" | "BigInt" | "UtcTime" => "INTEGER",
        "Text" | "MoneySum" | "Json" => "TEXT",
        "Double" => "REAL",
        "Binary" | "OperationUuid" => "BLOB",
        other => panic!("{other} is no type that this test knows"),
    }
}

#[test]
fn the_tables_in_rust_match_the_migrations() {
    let directory = TestDirectory::create();
    let columns = "SELECT t.name || '.' || c.name || ' ' || c.type || \
            iif(c.\"notnull\" OR c.pk AND c.type = 'INTEGER' OR c.pk AND t.wr, ' NO', ' YES') \
        FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c \
        WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' AND t.name <> '__diesel_schema_migrations'";
    let migrated: Vec<String> = diesel::dsl::sql::<Text>(columns).load(&mut directory.migrated()).unwrap();
    let migrated: BTreeSet<String> = migrated.into_iter().collect();
    Columns { migrated, own_schema: include_str!("../../src/schema.rs"), type_name }.check();
}

#[test]
fn every_column_is_copied_or_listed_as_excluded() {
    let directory = TestDirectory::create();
    let not_copied = |column: &str| {
        ["deployment.", "ids.", "bootstrap_operator.singleton"].iter().any(|name| column.starts_with(name))
    };
    let columns = "SELECT t.name || '.' || c.name || ' ' || c.type FROM pragma_table_list AS t \
        JOIN pragma_table_info(t.name) AS c \
        WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' AND t.name <> '__diesel_schema_migrations'";
    let stored: Vec<String> = diesel::dsl::sql::<Text>(columns).load(&mut directory.migrated()).unwrap();
    let stored: BTreeSet<String> = stored.into_iter().filter(|column| !not_copied(column)).collect();
    let storage = |kind| match kind {
        ColumnKind::Integer | ColumnKind::Boolean | ColumnKind::Time => "INTEGER",
        ColumnKind::Text | ColumnKind::Money | ColumnKind::Json => "TEXT",
        ColumnKind::Real => "REAL",
        ColumnKind::Id | ColumnKind::Bytes => "BLOB",
    };
    let columns = |table: &Table| {
        let name = table.name;
        table.columns.iter().map(move |column| format!("{name}.{} {}", column.name, storage(column.kind)))
    };
    let copied: BTreeSet<String> = TABLES.iter().flat_map(columns).collect();
    assert_eq!(stored.difference(&copied).collect::<Vec<_>>(), Vec::<&String>::new(), "only in the database");
    assert_eq!(copied.difference(&stored).collect::<Vec<_>>(), Vec::<&String>::new(), "only in the list");
    let counted = |statement: &str| -> BTreeSet<String> {
        let names: Vec<String> = diesel::dsl::sql::<Text>(statement).load(&mut directory.migrated()).unwrap();
        names.into_iter().collect()
    };
    let listed = |counting| -> BTreeSet<String> {
        let counters = COUNTERS.iter().filter(|counter| counter.counting == counting);
        counters.map(|counter| counter.name.to_owned()).collect()
    };
    assert_eq!(counted("SELECT kind FROM ids"), listed(Counting::Reserved));
    let generated = "SELECT name FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'";
    assert_eq!(counted(generated), listed(Counting::Generated));
}

#[test]
fn every_table_is_strict() {
    let directory = TestDirectory::create();
    let lax = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND NOT strict AND name NOT LIKE 'sqlite_%'";
    let lax: Vec<String> = diesel::dsl::sql::<Text>(lax).load(&mut directory.migrated()).unwrap();
    assert_eq!(lax, Vec::<String>::new());
}
