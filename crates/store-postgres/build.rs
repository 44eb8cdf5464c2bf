//! Embeds the migrations, recompiles when one changes, and identifies them by a hash of their contents.

use std::error::Error;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The folder of the migrations, relative to this package.
const FOLDER: &str = "../../migrations/postgres";
/// The statements that apply and revert a migration; every migration's folder has `up.sql`.
const UP: &str = "up.sql";
const DOWN: &str = "down.sql";
/// The optional file that declares, in its only line, that a migration does not run in a transaction.
const METADATA: &str = "metadata.toml";
const NO_TRANSACTION: &str = "run_in_transaction = false";

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
    let mut hasher = DefaultHasher::new();
    let mut list = String::from("&[\n");
    for folder in &folders {
        let name = folder.file_name().and_then(|name| name.to_str()).ok_or("a folder's name is no text")?;
        let in_transaction = runs_in_transaction(folder)?;
        (name, fs::read(folder.join(UP))?, in_transaction).hash(&mut hasher);
        let text = |file| format!("include_str!({:?})", folder.join(file));
        let (up, down) = (text(UP), text(DOWN));
        writeln!(
            list,
            "Migration {{ name: {name:?}, up: {up}, #[cfg(feature = \"testing\")] down: {down}, \
             in_transaction: {in_transaction} }},"
        )?;
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no folder for what is generated")?);
    fs::write(out.join("migrations.rs"), list)?;
    println!("cargo:rustc-env=MIGRATIONS_HASH={:016x}", hasher.finish());
    Ok(())
}

fn runs_in_transaction(folder: &Path) -> Result<bool, Box<dyn Error>> {
    let metadata = folder.join(METADATA);
    match fs::read_to_string(&metadata) {
        Ok(text) if text.trim() == NO_TRANSACTION => Ok(false),
        Ok(_) => {
            Err(format!("{} contains something other than `{NO_TRANSACTION}`", metadata.display()).into())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error.into()),
    }
}
