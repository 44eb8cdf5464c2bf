//! Embeds the migrations of PostgreSQL.

#[path = "../store-sql/embedded_migrations.rs"]
mod embedded_migrations;

use std::error::Error;

use embedded_migrations::{Embedded, embed};

fn main() -> Result<(), Box<dyn Error>> {
    let hash = embed("../../migrations/postgres", |Embedded { name, up, down, in_transaction }| {
        format!(
            "Migration {{ name: {name:?}, up: {up}, #[cfg(feature = \"testing\")] down: {down}, \
             in_transaction: {in_transaction} }}"
        )
    })?;
    println!("cargo:rustc-env=MIGRATIONS_HASH={hash:016x}");
    Ok(())
}
