//! The tables declared in Rust match those that the migrations create.

use std::collections::BTreeSet;

use cuepoint_store_postgres::testing::{TestDatabase, service_role_statements};
use cuepoint_store_sql::schema::{COUNTERS, TABLES};
use cuepoint_store_sql::table::Counter;
use cuepoint_store_sql_tests::drift::Columns;

use crate::scenario::client;

/// The name of a Diesel type in `information_schema`.
fn type_name(diesel: &str) -> &str {
    match diesel {
        "Bool" => "boolean",
        "SmallInt" => "smallint",
        "Integer" => "integer",
        "BigInt" => "bigint",
        "Text" => "text",
        "MoneySum" => "numeric",
        "Double" => "double precision",
        "Timestamptz" | "UtcTime" => "timestamp with time zone",
        "Binary" => "bytea",
        "Uuid" | "OperationUuid" => "uuid",
        "Json" => "jsonb",
        other => panic!("{other} is no type that this test knows"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_in_rust_match_the_migrations() {
    let database = TestDatabase::create().await;
    let columns = "SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
        FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name <> '__diesel_schema_migrations'";
    let rows = client(database.url()).await.query(columns, &[]).await.unwrap();
    let migrated: BTreeSet<String> = rows.iter().map(|row| row.get(0)).collect();
    Columns { migrated, own_schema: include_str!("../../src/schema.rs"), type_name }.check();
}

#[test]
fn restore_advances_every_sequence() {
    let text = include_str!("../../src/maintenance/advance_sequences.sql");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for Counter { sequence, greatest, .. } in COUNTERS.iter() {
        let moved = format!("('{sequence}', (SELECT last_value FROM {sequence}), ({greatest}))");
        assert!(text.contains(&moved), "{moved}");
    }
    assert_eq!(text.matches("last_value").count(), COUNTERS.len());
}

#[test]
fn the_grants_name_only_declared_tables() {
    let declared: BTreeSet<&str> = TABLES.iter().map(|table| table.name).chain(["deployment"]).collect();
    let mut granted = 0;
    let (_, grants) = service_role_statements().unwrap();
    for statement in grants.split(';') {
        let Some(of) = statement.trim().strip_prefix("GRANT ") else { continue };
        let tables = of.split_once(" ON ").unwrap().1.split_once(" TO ").unwrap().0;
        for table in tables.split(',').map(str::trim).filter(|tables| !tables.starts_with("ALL ")) {
            assert!(declared.contains(table), "{table}");
            granted += 1;
        }
    }
    assert_ne!(granted, 0);
}
