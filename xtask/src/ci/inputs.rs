//! Digests of the files that the last green full run read. A usual run repeats a step only if its files have changed since.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::workspace::{output_of, root, target_dir};

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

/// A digest of the files, tracked or not, that these patterns match and git does not ignore: their paths, whether they are
/// executable, and their contents. It is that of a tree in git, made from an index of its own.
///
/// # Errors
/// If a pattern matches no file.
fn digest(patterns: &[&str]) -> anyhow::Result<String> {
    let index = target_dir()?.join(format!("inputs-{}.index", std::process::id()));
    let git = |arguments: &[&str]| {
        output_of(Command::new("git").current_dir(root()).env("GIT_INDEX_FILE", &index).args(arguments))
    };
    let except = format!(":(exclude){FILE}");
    let added = git(&[&["add", "--all", "--"], patterns, &[&except]].concat());
    let tree = added.and_then(|_| git(&["write-tree"]));
    // There is none if git has failed.
    let _ = fs::remove_file(&index);
    Ok(tree?.trim_end().to_owned())
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
    fn each_pattern_matches_files_and_different_files_have_different_digests() {
        for Inputs(patterns) in [&LICENCES, &PACKAGE, &RELEASE] {
            digest(&patterns.concat()).unwrap();
        }
        assert!(digest(&["Cargo.toml", "xtask/no-such-file"]).is_err());
        let [one, other, both] = [&["Cargo.toml"][..], &["Cargo.lock"], &["Cargo.toml", "Cargo.lock"]]
            .map(|files| digest(files).unwrap());
        assert!(one != other && other != both && one != both);
        assert_eq!(digest(&["Cargo.toml"]).unwrap(), one);
    }
}
