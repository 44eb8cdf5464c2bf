//! `cargo xtask release`: the archive, the Debian package, the list of components, and their checksums.

mod archive;
mod build;
mod check;
mod components;
mod twice;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::workspace::{emptied, output_of, target_dir};
use crate::{ci, node, package, service};
use build::{Source, Toolchain};

/// The version of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The file with the checksums of the others.
const CHECKSUMS: &str = "SHA256SUMS";

/// The options of the command.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Pack the debug build instead of an optimised one, and check every artifact.
    #[arg(long, conflicts_with = "twice")]
    check: bool,
    /// Fail instead of skipping the check if a tool is missing.
    #[arg(long, requires = "check")]
    strict: bool,
    /// Build again in a clone of the repository, and compare every artifact byte for byte.
    #[arg(long)]
    twice: bool,
}

/// Writes the artifacts of a release to `target/release-artifacts`, checks them, and prints their paths.
///
/// # Errors
/// If one cannot be built or fails a check, or if files differ from the commit.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if arguments.check {
        if let Some(missing) = missing_tool() {
            ensure!(!arguments.strict, "{missing} is missing");
            println!("skipped: {missing} is missing");
            return Ok(0);
        }
        let artifacts = Artifacts::pack(&service::binary()?, Source::of_commit()?, Speed::Fast)?;
        check::artifacts(&artifacts)?;
        println!("not checked on a debug build: the dependency list in the program, paths of this machine");
        return Ok(0);
    }
    build::ensure_committed()?;
    ci::ensure_full_run()?;
    let source = Source::of_commit()?;
    let toolchain = Toolchain::find()?;
    let artifacts = Artifacts::pack(&build::binary(&source, &toolchain)?, source, Speed::Small)?;
    check::artifacts(&artifacts)?;
    check::program(&artifacts)?;
    check::paths(&artifacts, &toolchain)?;
    if arguments.twice {
        twice::compare(&artifacts)?;
    }
    for name in artifacts.names()? {
        println!("{}", artifacts.folder.join(name).display());
    }
    Ok(0)
}

/// The name of a program that the checks need and that does not run here.
fn missing_tool() -> Option<&'static str> {
    ["dpkg-deb", "sha256sum"].into_iter().find(|tool| node::version(tool).is_none())
}

/// How much time compression may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Speed {
    Fast,
    Small,
}

/// The files of a release.
struct Artifacts {
    folder: PathBuf,
    source: Source,
    /// The machine that the program runs on, such as `x86_64-unknown-linux-gnu`.
    target: String,
    /// The file name of the Debian package.
    package: String,
}

impl Artifacts {
    /// Writes all files anew, with this program.
    fn pack(binary: &Path, source: Source, speed: Speed) -> anyhow::Result<Self> {
        let folder = emptied(target_dir()?.join("release-artifacts"))?;
        let target = build::host()?;
        package::write_sources(binary)?;
        let options: &[&str] = if speed == Speed::Fast { &["--fast"] } else { &[] };
        let built = package::pack(options, Some(&source.epoch))?;
        let package = built.file_name().and_then(|name| name.to_str()).context("the package has no name")?;
        let artifacts = Self { folder, source, target, package: package.to_owned() };

        fs::copy(&built, artifacts.folder.join(package))?;
        archive::write(&artifacts, speed)?;
        let components = components::document(&artifacts.target, &artifacts.source.time)?;
        fs::write(artifacts.components(), components)?;
        let mut sums = Command::new("sha256sum");
        let sums = output_of(sums.args(artifacts.names()?).current_dir(&artifacts.folder))?;
        fs::write(artifacts.folder.join(CHECKSUMS), sums)?;
        Ok(artifacts)
    }

    /// The folder in the archive, which names the archive, too.
    fn top(&self) -> String {
        format!("cuepoint-{VERSION}-{}", self.target)
    }

    fn archive(&self) -> PathBuf {
        self.folder.join(format!("{}.tar.gz", self.top()))
    }

    fn components(&self) -> PathBuf {
        self.folder.join(format!("cuepoint-{VERSION}.cdx.json"))
    }

    /// The sorted names of all files that exist.
    fn names(&self) -> anyhow::Result<Vec<String>> {
        names_in(&self.folder)
    }
}

/// The sorted names of the files in a folder.
fn names_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<anyhow::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}
