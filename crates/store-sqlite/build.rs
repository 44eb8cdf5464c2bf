//! Embeds the migrations, and recompiles when one changes.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folder of the migrations, relative to this package.
const FOLDER: &str = "../../migrations/sqlite";
/// The statements that apply and revert a migration.
const UP: &str = "up.sql";
const DOWN: &str = "down.sql";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo names no package")?).join(FOLDER);
    println!("cargo:rerun-if-changed={FOLDER}");
    let mut folders = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.join(UP).is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    let mut list = String::from("&[\n");
    for folder in &folders {
        let name = folder.file_name().and_then(|name| name.to_str()).ok_or("a folder's name is no text")?;
        let text = |file| format!("include_str!({:?})", folder.join(file));
        let (up, down) = (text(UP), text(DOWN));
        writeln!(list, "SqliteMigration {{ name: {name:?}, up: {up}, #[cfg(test)] down: {down} }},")?;
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no folder for what is generated")?);
    fs::write(out.join("migrations.rs"), list)?;
    Ok(())
}
