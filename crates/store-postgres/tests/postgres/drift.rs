//! The tables declared in Rust match those that the migrations create.

use std::collections::BTreeSet;

use cuepoint_store_postgres::testing::TestDatabase;

use crate::scenario::client;

/// The name of a Diesel type in `information_schema`.
fn type_name(diesel: &str) -> &str {
    match diesel {
        "Bool" => "boolean",
        "SmallInt" => "smallint",
        "Integer" => "integer",
        "BigInt" => "bigint",
        "Text" => "text",
        "Numeric" => "numeric",
        "Double" => "double precision",
        "Timestamptz" => "timestamp with time zone",
        "Bytea" => "bytea",
        "Uuid" => "uuid",
        "Jsonb" => "jsonb",
        other => panic!("{other} is no type that this test knows"),
    }
}

/// Every column that `schema.rs` declares, as `table.column type nullability`.
fn declared() -> BTreeSet<String> {
    let mut columns = BTreeSet::new();
    for table in include_str!("../../src/schema.rs").split("diesel::table! {").skip(1) {
        let name = table.split_whitespace().next().unwrap();
        let body = table.split_once(") {").unwrap().1.split_once('}').unwrap().0;
        for (column, ty) in body.lines().filter_map(|line| line.trim().split_once(" -> ")) {
            let ty = ty.trim_end_matches(',');
            let inner = ty.strip_prefix("Nullable<").and_then(|ty| ty.strip_suffix('>'));
            let nullable = if inner.is_some() { "YES" } else { "NO" };
            columns.insert(format!("{name}.{column} {} {nullable}", type_name(inner.unwrap_or(ty))));
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
