//! Digests of the files that the last green full run read. A usual run repeats a step only if its files have changed since.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use sha2::{Digest as _, Sha256};

use crate::workspace::{output_of, root};

/// The committed file with the digests.
const FILE: &str = "xtask/full_run.txt";

/// The name of the digest of all files.
const EVERYTHING: &str = "everything";

/// The files that a step reads, as git's patterns of paths.
pub(super) struct Inputs(&'static [&'static [&'static str]]);

/// The dependencies.
const DEPENDENCIES: &[&str] = &["Cargo.lock", "Cargo.toml", "*/Cargo.toml", ".cargo/config.toml"];

/// The files that a package contains, except the program, and the sources of `cargo xtask package`.
const IN_PACKAGE: &[&str] = &[
    "ops",
    "README.md",
    "CHANGELOG.md",
    "LICENSE*",
    "docs/storage.md",
    "docs/guide",
    "xtask/src/package*",
    "xtask/src/postgres_binaries.rs",
    "xtask/src/server_user.rs",
    "xtask/src/tools.rs",
];

/// The inputs of the check of licences.
pub(super) const LICENCES: Inputs = Inputs(&[
    DEPENDENCIES,
    &["deny.toml", "xtask/cargo-deny", "xtask/src/ci/licences.rs", "xtask/src/python.rs"],
]);
/// The inputs of the package.
pub(super) const PACKAGE: Inputs = Inputs(&[DEPENDENCIES, IN_PACKAGE]);
/// The inputs of the release.
pub(super) const RELEASE: Inputs =
    Inputs(&[DEPENDENCIES, IN_PACKAGE, &["deny.toml", "docs", "xtask/src/release*"]]);

/// Digests of files, by the heading of the step that reads them.
#[derive(PartialEq, Eq, Debug, Default)]
pub(super) struct Recorded(BTreeMap<String, String>);

impl Recorded {
    /// The digests of the last green full run; none if there was none.
    pub(super) fn read() -> anyhow::Result<Self> {
        let path = root().join(FILE);
        let text = if path.is_file() { fs::read_to_string(&path)? } else { String::new() };
        Ok(Self::parsed(&text))
    }

    fn parsed(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let split = lines.filter_map(|line| line.rsplit_once(' '));
        Self(split.map(|(heading, digest)| (heading.to_owned(), digest.to_owned())).collect())
    }

    /// The digests of the current files.
    ///
    /// # Errors
    /// If git cannot list the files, or one cannot be read.
    pub(super) fn of_files<'s>(
        steps: impl Iterator<Item = (&'s str, &'static Inputs)>,
    ) -> anyhow::Result<Self> {
        let mut digests = BTreeMap::from([(EVERYTHING.to_owned(), digest(&["."])?)]);
        for (heading, Inputs(patterns)) in steps {
            digests.insert(heading.to_owned(), digest(&patterns.concat())?);
        }
        Ok(Self(digests))
    }

    /// Whether the files of a step are those of `present`.
    pub(super) fn agrees(&self, present: &Self, heading: &str) -> bool {
        let digest = self.0.get(heading);
        digest.is_some() && digest == present.0.get(heading)
    }

    /// Replaces the committed file.
    pub(super) fn write(&self) -> anyhow::Result<()> {
        let mut text =
            "# Digests of what the last green `cargo xtask ci --full` has read, by step.\n".to_owned();
        for (heading, digest) in &self.0 {
            writeln!(text, "{heading} {digest}")?;
        }
        fs::write(root().join(FILE), text).with_context(|| format!("{FILE} cannot be written"))
    }
}

/// Ensures that no file has changed since the last green full run.
///
/// # Errors
/// If one has, or git cannot list the files.
pub(crate) fn ensure_full_run() -> anyhow::Result<()> {
    let present = Recorded::of_files(std::iter::empty())?;
    ensure!(
        Recorded::read()?.agrees(&present, EVERYTHING),
        "files have changed since the last green full run: run `cargo xtask ci --full`, and commit {FILE}"
    );
    Ok(())
}

/// A digest of the files that these patterns match: their paths, whether they are executable, and their contents.
fn digest(patterns: &[&str]) -> anyhow::Result<String> {
    let mut all = Sha256::new();
    for path in files(patterns)? {
        let content =
            fs::read(root().join(&path)).with_context(|| format!("{} cannot be read", path.display()))?;
        let name = path.as_os_str().as_encoded_bytes();
        for part in [name, &[u8::from(is_program(&root().join(&path))?)], &content] {
            all.update(part.len().to_be_bytes());
            all.update(part);
        }
    }
    Ok(all.finalize().iter().fold(String::new(), |mut text, byte| {
        text.push_str(&format!("{byte:02x}"));
        text
    }))
}

fn is_program(path: &Path) -> anyhow::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(fs::metadata(path)?.permissions().mode() & 0o111 != 0)
}

/// The sorted paths of the files, tracked or not, that git does not ignore.
fn files(patterns: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let mut list = Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z", "--"]).args(patterns);
    let printed = output_of(list.current_dir(root()))?;
    let names = printed.split('\0').filter(|name| !name.is_empty() && *name != FILE);
    let mut paths: Vec<PathBuf> =
        names.map(PathBuf::from).filter(|path| root().join(path).is_file()).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_digests_agree() {
        let recorded = Recorded::parsed("# text\npackage 01\ngenerated calls 02\n");
        let present = Recorded::parsed("package 01\ngenerated calls 03\nrelease 04\n");
        assert!(recorded.agrees(&present, "package"));
        for heading in ["generated calls", "release", "licences"] {
            assert!(!recorded.agrees(&present, heading), "{heading}");
        }
    }

    #[test]
    fn each_pattern_matches_files() {
        for Inputs(patterns) in [&LICENCES, &PACKAGE, &RELEASE] {
            for pattern in patterns.concat() {
                assert!(!files(&[pattern]).unwrap().is_empty(), "{pattern}");
            }
        }
    }

    #[test]
    fn different_files_have_different_digests() {
        let digests = [&["Cargo.toml"][..], &["Cargo.lock"], &["Cargo.toml", "Cargo.lock"]]
            .map(|files| digest(files).unwrap());
        assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2]);
        assert_eq!(digests[0].len(), 64);
    }
}
