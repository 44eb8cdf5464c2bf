//! `cargo xtask package`: the Debian package, and its test in a bare Debian.

mod check;
mod debian;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::workspace::{cargo, exit_code, output_of, remove_variables, root, target_dir};
use crate::{service, tools};

/// The release of cargo-deb that builds the package.
const CARGO_DEB: &str = "cargo-deb@3.8.0";

/// The options of the command.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Pack this program instead of building one.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Install, use, upgrade and remove the package in a bare Debian. Without --binary, it contains the debug build.
    #[arg(long)]
    check: bool,
    /// Fail instead of skipping the test if a tool is missing.
    #[arg(long, requires = "check")]
    strict: bool,
}

/// Builds the package, and prints its path or what its test found.
///
/// # Errors
/// If it cannot be built, or fails its test.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if arguments.check {
        let cache = folder()?;
        fs::create_dir_all(&cache).with_context(|| format!("{} cannot be created", cache.display()))?;
        if let Err(missing) = debian::prepare(&check::SYSTEMS, &cache) {
            ensure!(!arguments.strict, missing);
            println!("skipped: {missing:#}");
            return Ok(0);
        }
    }
    let binary = match &arguments.binary {
        Some(binary) => std::path::absolute(binary)?,
        None if arguments.check => service::binary()?,
        None => release_binary()?,
    };
    write_sources(&binary)?;
    if arguments.check {
        check::run()?;
    } else {
        println!("{}", pack(&[], None)?.display());
    }
    Ok(0)
}

/// The folder of the packages, which cargo-deb takes for the target folder.
pub(crate) fn folder() -> anyhow::Result<PathBuf> {
    Ok(target_dir()?.join("package"))
}

fn release_binary() -> anyhow::Result<PathBuf> {
    let built = exit_code(cargo().args(["build", "--release", "--locked", "--package", "cuepoint"]))?;
    ensure!(built == 0, "the service cannot be built");
    Ok(target_dir()?.join("release").join("cuepoint"))
}

/// Writes the program, and the files that it prints itself, to where the metadata of the package expects them.
pub(crate) fn write_sources(binary: &Path) -> anyhow::Result<()> {
    let sources = folder()?.join("release");
    fs::create_dir_all(&sources).with_context(|| format!("{} cannot be created", sources.display()))?;
    fs::copy(binary, sources.join("cuepoint"))
        .with_context(|| format!("{} cannot be copied", binary.display()))?;
    for shell in ["bash", "zsh", "fish"] {
        print(binary, &["completions", shell], &sources.join(format!("cuepoint.{shell}")))?;
    }
    let manual = sources.join("cuepoint.1");
    print(binary, &["manual"], &manual)?;
    // Without its name and time, so that equal pages are equal files.
    output_of(Command::new("gzip").args(["-9nf"]).arg(manual))?;
    Ok(())
}

/// Writes what the program prints to a file.
fn print(binary: &Path, arguments: &[&str], to: &Path) -> anyhow::Result<()> {
    let file = File::create(to).with_context(|| format!("{} cannot be written", to.display()))?;
    let mut program = Command::new(binary);
    remove_variables(&mut program, "CUEPOINT_");
    let code = exit_code(program.args(arguments).stdout(file))?;
    ensure!(code == 0, "{} {} failed", binary.display(), arguments.join(" "));
    Ok(())
}

/// Packs the sources, with these options of cargo-deb; returns the path of the package. Its files have this time, in
/// seconds since 1970.
pub(crate) fn pack(options: &[&str], time: Option<&str>) -> anyhow::Result<PathBuf> {
    let mut cargo_deb = Command::new(tools::program(CARGO_DEB, &[])?);
    cargo_deb
        // Its own compression is built without optimisation.
        .args(["--no-build", "--quiet", "--locked", "--package", "cuepoint", "--compress-system"])
        // A debug build contains symbols.
        .args(["--strip", "--output"])
        .arg(folder()?)
        .args(options)
        .env("CARGO_TARGET_DIR", folder()?)
        .envs(time.map(|time| ("SOURCE_DATE_EPOCH", time)))
        .current_dir(root());
    let printed = output_of(&mut cargo_deb)?;
    Ok(PathBuf::from(printed.lines().last().context("cargo-deb printed no path")?))
}
