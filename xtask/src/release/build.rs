//! The program of a release: the same bytes in every folder, with the list of its dependencies.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::tools;
use crate::workspace::{cargo, exit_code, output_of, remove_variables, root, target_dir};

/// The release of cargo-auditable that embeds the dependency list.
const CARGO_AUDITABLE: &str = "cargo-auditable@0.7.7";
/// Separates flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\u{1f}";

/// The commit that is built.
pub(super) struct Source {
    /// The first digits of its hash.
    pub(super) commit: String,
    /// Its time in seconds since 1970, as `SOURCE_DATE_EPOCH` has it.
    pub(super) epoch: String,
    /// The same time in UTC, as in `2026-01-31T12:00:00Z`.
    pub(super) time: String,
}

impl Source {
    /// Describes the commit that is checked out.
    pub(super) fn of_commit() -> anyhow::Result<Self> {
        let mut show = git();
        show.args(["show", "--no-patch", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%H %ct %cd"]);
        let printed = output_of(show.env("TZ", "UTC0"))?;
        let mut words = printed.split_whitespace().map(str::to_owned);
        let mut word = || words.next().context("git show printed no commit");
        let (commit, epoch, time) = (word()?, word()?, word()?);
        Ok(Self { commit: commit.chars().take(8).collect(), epoch, time })
    }
}

/// Refuses changes that are not committed: the program would name a commit that it is not built from.
pub(super) fn ensure_committed() -> anyhow::Result<()> {
    let changed = output_of(git().args(["status", "--porcelain"]))?;
    ensure!(changed.is_empty(), "commit or remove these first:\n{changed}");
    Ok(())
}

/// Returns git, to be run in the root of the repository.
fn git() -> Command {
    let mut command = Command::new("git");
    command.current_dir(root());
    command
}

/// The compiler and its folders.
pub(super) struct Toolchain {
    sysroot: PathBuf,
    /// The commit of the compiler, which names the sources of the standard library.
    commit: String,
    /// The folders with the sources of crates.
    registries: BTreeSet<PathBuf>,
}

impl Toolchain {
    /// Finds the toolchain; downloads missing crates.
    pub(super) fn find() -> anyhow::Result<Self> {
        let sysroot = output_of(rustc().args(["--print", "sysroot"]))?;
        let metadata = output_of(cargo().args(["metadata", "--format-version", "1", "--locked"]))?;
        let metadata: Value = serde_json::from_str(&metadata)?;
        let packages = metadata.get("packages").and_then(Value::as_array);
        let packages = packages.context("cargo metadata lists no packages")?;
        // Packages of the workspace have no source.
        let registry = |package: &Value| {
            package.get("source")?.as_str()?;
            let manifest = Path::new(package.get("manifest_path")?.as_str()?);
            manifest.ancestors().nth(2).map(Path::to_path_buf)
        };
        Ok(Self {
            sysroot: PathBuf::from(sysroot.trim_end()),
            commit: described("commit-hash: ")?,
            registries: packages.iter().filter_map(registry).collect(),
        })
    }

    /// The folders of this machine that compilers see, with their names in the program. The last match counts.
    fn renamed(&self) -> anyhow::Result<Vec<(PathBuf, String)>> {
        let mut renamed = vec![(root().to_path_buf(), ".".to_owned()), (folder()?, "target".to_owned())];
        renamed.extend(self.registries.iter().map(|registry| (registry.clone(), "crates.io".to_owned())));
        let library = self.sysroot.join("lib/rustlib/src/rust");
        renamed.push((library, format!("/rustc/{}", self.commit)));
        Ok(renamed)
    }

    /// The folders of this machine that no artifact may name.
    pub(super) fn private(&self) -> anyhow::Result<BTreeSet<PathBuf>> {
        let mut private = self.registries.clone();
        private.extend([root().to_path_buf(), target_dir()?, self.sysroot.clone()]);
        private.extend(env::var_os("CARGO_HOME").map(PathBuf::from));
        // With a slash at its end, because the name of a home can be a word such as `/root`.
        private.extend(env::home_dir().map(|home| home.join("")));
        Ok(private)
    }
}

/// The name of the machine that the compiler builds for.
pub(super) fn host() -> anyhow::Result<String> {
    described("host: ")
}

/// A line in the compiler's description of itself.
fn described(label: &str) -> anyhow::Result<String> {
    let description = output_of(rustc().arg("-vV"))?;
    let found = description.lines().find_map(|line| line.strip_prefix(label));
    Ok(found.with_context(|| format!("rustc -vV prints no {label}"))?.to_owned())
}

/// Returns the compiler that cargo uses in the repository.
fn rustc() -> Command {
    let mut command = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.current_dir(root());
    command
}

/// The target folder of the build, because its flags differ from those of other builds.
fn folder() -> anyhow::Result<PathBuf> {
    Ok(target_dir()?.join("release-build"))
}

/// Builds the optimised program of a commit; returns its path.
pub(super) fn binary(source: &Source, toolchain: &Toolchain) -> anyhow::Result<PathBuf> {
    let renamed = toolchain.renamed()?;
    let flags = |option: &str, separator: &str| {
        let flag = |(folder, name): &(PathBuf, String)| format!("{option}{}={name}", folder.display());
        renamed.iter().map(flag).collect::<Vec<_>>().join(separator)
    };
    let mut build = Command::new(tools::program(CARGO_AUDITABLE, &[])?);
    // A developer's own profile would be in the program, and the variables of this program's own package would rebuild others.
    for prefix in ["CARGO_PROFILE_", "CARGO_PKG_", "CARGO_MANIFEST_"] {
        remove_variables(&mut build, prefix);
    }
    build
        .args(["auditable", "build", "--release", "--locked", "--package", "cuepoint"])
        .env("CARGO_TARGET_DIR", folder()?)
        .env("CARGO_ENCODED_RUSTFLAGS", flags("--remap-path-prefix=", SEPARATOR))
        .env("CFLAGS", flags("-ffile-prefix-map=", " "))
        .env("SOURCE_DATE_EPOCH", &source.epoch)
        .env("CUEPOINT_COMMIT", &source.commit)
        .current_dir(root());
    ensure!(exit_code(&mut build)? == 0, "the service cannot be built");
    Ok(folder()?.join("release").join("cuepoint"))
}
