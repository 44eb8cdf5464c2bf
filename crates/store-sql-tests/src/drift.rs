//! The tables declared in Rust match those that the migrations create.

use std::collections::BTreeSet;

use cuepoint_store_sql::schema::TABLES;

/// The columns of a database, and how its store declares them.
pub struct Columns<'a> {
    /// The columns that the migrations create, as `table.column type nullability`.
    pub migrated: BTreeSet<String>,
    /// The source of the store's own tables.
    pub own_schema: &'a str,
    /// The name of a Diesel type in the database.
    pub type_name: fn(&str) -> &str,
}

impl Columns<'_> {
    /// A declared column.
    fn column(&self, table: &str, name: &str, diesel: &str, is_nullable: bool) -> String {
        let nullability = if is_nullable { "YES" } else { "NO" };
        format!("{table}.{name} {} {nullability}", (self.type_name)(diesel))
    }

    /// Every column that Rust declares: the columns of all stores, and the columns of the store's own tables.
    fn declared(&self) -> BTreeSet<String> {
        // Copies omit this column, so `TABLES` does not list it.
        let mut columns = BTreeSet::from([self.column("bootstrap_operator", "singleton", "Bool", false)]);
        for table in TABLES {
            columns.extend(
                table
                    .columns
                    .iter()
                    .map(|one| self.column(table.name, one.name, one.sql_type, one.is_nullable)),
            );
        }
        for table in self.own_schema.split("diesel::table! {").skip(1) {
            let name = table.split_whitespace().next().unwrap();
            let body = table.split_once(") {").unwrap().1.split_once('}').unwrap().0;
            for (one, ty) in body.lines().filter_map(|line| line.trim().split_once(" -> ")) {
                let ty = ty.trim_end_matches(',');
                let inner = ty.strip_prefix("Nullable<").and_then(|ty| ty.strip_suffix('>'));
                columns.insert(self.column(name, one, inner.unwrap_or(ty), inner.is_some()));
            }
        }
        columns
    }

    /// Expects the same columns in Rust and in SQL.
    ///
    /// # Panics
    /// When they differ.
    pub fn check(&self) {
        let declared = self.declared();
        let only = |these: &BTreeSet<String>, those| these.difference(those).cloned().collect::<Vec<_>>();
        assert_eq!(only(&declared, &self.migrated), Vec::<String>::new(), "only in Rust");
        assert_eq!(only(&self.migrated, &declared), Vec::<String>::new(), "only in SQL");
    }
}
