//! The common part of both stores' build scripts: it embeds the migrations, recompiles when one changes, and identifies
//! them by a hash of their contents.

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The statements that apply and revert a migration; every migration's folder has `up.sql`.
const UP: &str = "up.sql";
const DOWN: &str = "down.sql";
/// The optional file that declares, in its only line, that a migration does not run in a transaction.
const METADATA: &str = "metadata.toml";
const NO_TRANSACTION: &str = "run_in_transaction = false";

/// A migration: the name of its folder, and the expressions that embed its statements.
pub(super) struct Embedded {
    pub(super) name: String,
    pub(super) up: String,
    pub(super) down: String,
    pub(super) in_transaction: bool,
}

/// Writes `migrations.rs`, the list of the migrations in a folder relative to the package, each as this entry. Returns
/// their hash.
pub(super) fn embed(folder: &str, entry: impl Fn(&Embedded) -> String) -> Result<u64, Box<dyn Error>> {
    println!("cargo:rerun-if-changed={folder}");
    let package = env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo names no package")?;
    let mut folders = Vec::new();
    for found in fs::read_dir(Path::new(&package).join(folder))? {
        let path = found?.path();
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
        let [up, down] = [UP, DOWN].map(|file| format!("include_str!({:?})", folder.join(file)));
        list.push_str(&entry(&Embedded { name: name.to_owned(), up, down, in_transaction }));
        list.push_str(",\n");
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no folder for what is generated")?);
    fs::write(out.join("migrations.rs"), list)?;
    Ok(hasher.finish())
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
