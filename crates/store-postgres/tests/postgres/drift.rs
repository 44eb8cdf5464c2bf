//! The tables declared in Rust match those that the migrations create.

use std::collections::BTreeSet;

use cuepoint_store_postgres::testing::{TestDatabase, service_role_statements};
use cuepoint_store_sql::schema::{COUNTERS, TABLES};
use cuepoint_store_sql::table::Counter;

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

/// A declared column, as `table.column type nullability`.
fn column(table: &str, name: &str, diesel: &str, is_nullable: bool) -> String {
    format!("{table}.{name} {} {}", type_name(diesel), if is_nullable { "YES" } else { "NO" })
}

/// Every column that Rust declares: those of all stores, and those of `schema.rs`.
fn declared() -> BTreeSet<String> {
    // A copy leaves it out, so that it is not in the list.
    let mut columns = BTreeSet::from([column("bootstrap_operator", "singleton", "Bool", false)]);
    for table in TABLES {
        columns.extend(
            table.columns.iter().map(|one| column(table.name, one.name, one.sql_type, one.is_nullable)),
        );
    }
    for table in include_str!("../../src/schema.rs").split("diesel::table! {").skip(1) {
        let name = table.split_whitespace().next().unwrap();
        let body = table.split_once(") {").unwrap().1.split_once('}').unwrap().0;
        for (one, ty) in body.lines().filter_map(|line| line.trim().split_once(" -> ")) {
            let ty = ty.trim_end_matches(',');
            let inner = ty.strip_prefix("Nullable<").and_then(|ty| ty.strip_suffix('>'));
            columns.insert(column(name, one, inner.unwrap_or(ty), inner.is_some()));
        }
    }
    columns
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_in_rust_match_the_migrations() {
    let database = TestDatabase::create().await;
    let columns = "SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
        FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name <> '__diesel_schema_migrations'";
    let rows = client(database.url()).await.query(columns, &[]).await.unwrap();
    let migrated: BTreeSet<String> = rows.iter().map(|row| row.get(0)).collect();
    let declared = declared();
    assert_eq!(declared.difference(&migrated).collect::<Vec<_>>(), Vec::<&String>::new(), "only in Rust");
    assert_eq!(migrated.difference(&declared).collect::<Vec<_>>(), Vec::<&String>::new(), "only in SQL");
}

#[test]
fn a_restore_moves_every_counter() {
    let text = include_str!("../../src/maintenance/advance_sequences.sql");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for Counter { sequence, greatest, .. } in COUNTERS.iter() {
        let moved = format!("('{sequence}', (SELECT last_value FROM {sequence}), ({greatest}))");
        assert!(text.contains(&moved), "{moved}");
    }
    assert_eq!(text.matches("last_value").count(), COUNTERS.len());
}

#[test]
fn the_grants_name_declared_tables() {
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
