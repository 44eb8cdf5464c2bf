//! Embeds the migrations of SQLite, each of which runs in a transaction.

#[path = "../store-sql/embedded_migrations.rs"]
mod embedded_migrations;

use std::error::Error;

use embedded_migrations::{Embedded, embed};

fn main() -> Result<(), Box<dyn Error>> {
    embed("../../migrations/sqlite", |Embedded { name, up, down, in_transaction }| {
        assert!(in_transaction, "{name}: a migration of SQLite cannot run without a transaction");
        format!("SqliteMigration {{ name: {name:?}, up: {up}, #[cfg(test)] down: {down} }}")
    })?;
    Ok(())
}
