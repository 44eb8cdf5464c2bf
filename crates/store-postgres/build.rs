//! Compiles the migrations in again whenever one changes, and gives them a name by what they say.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::{fs, io, path::Path};

fn main() -> io::Result<()> {
    let folder = Path::new("../../migrations");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut migrations = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            migrations.push((entry.file_name(), fs::read(entry.path().join("up.sql"))?));
        }
    }
    migrations.sort();
    let mut hasher = DefaultHasher::new();
    migrations.hash(&mut hasher);
    println!("cargo:rustc-env=MIGRATIONS_HASH={:016x}", hasher.finish());
    Ok(())
}
