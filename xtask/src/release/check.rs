//! The checks of a release's artifacts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::build::Toolchain;
use super::components::{Components, Crate};
use super::{Artifacts, CHECKSUMS, VERSION, archive};
use crate::tools;
use crate::workspace::{emptied, output_of, target_dir};

/// The release of the program that prints the dependency list of a program.
const RUST_AUDIT_INFO: &str = "rust-audit-info@0.5.4";

/// Checks what is true for every build: contents, versions, components and checksums.
pub(super) fn artifacts(artifacts: &Artifacts) -> anyhow::Result<()> {
    let top = archive::extract(artifacts, &emptied(extracted("archive")?)?)?;
    for path in archive::expected() {
        ensure!(top.join(&path).exists(), "{path} is not in the archive");
    }
    let packed = version(&top.join("cuepoint"))?;
    println!("archive: {packed}");

    let folder = emptied(extracted("package")?)?;
    let package = artifacts.folder.join(&artifacts.package);
    output_of(Command::new("dpkg-deb").arg("--raw-extract").arg(package).arg(&folder))?;
    let installed = version(&folder.join("usr/bin/cuepoint"))?;
    ensure!(installed == packed, "the program of the package is {installed}");
    println!("package: {installed}");

    let count = components(artifacts)?;
    println!("components: {count} crates");

    let mut sums = Command::new("sha256sum");
    let sums = sums.args(["--check", "--strict", CHECKSUMS]).current_dir(&artifacts.folder);
    let verified = output_of(sums)?.lines().count();
    // The file itself is not in its list.
    ensure!(artifacts.names()?.len().checked_sub(1) == Some(verified), "{CHECKSUMS} lists {verified} files");
    println!("checksums: {verified} files");
    Ok(())
}

/// Checks what is true for the program of a release: the commit in its version, and its dependency list. The list also
/// names what the features of tests add, as cargo-auditable has it from cargo.
pub(super) fn program(artifacts: &Artifacts) -> anyhow::Result<()> {
    let program = extracted("archive")?.join(artifacts.top()).join("cuepoint");
    let version = version(&program)?;
    ensure!(version.contains(&artifacts.source.commit), "its version is {version}");

    let list = output_of(Command::new(tools::program(RUST_AUDIT_INFO, &[])?).arg(&program))?;
    let list: Value = serde_json::from_str(&list)?;
    let listed = crates(objects(&list, "packages")?)?;
    let built = Components::of_program(&artifacts.target)?.licences;
    let missing: Vec<&Crate> = built.keys().filter(|found| !listed.contains(found)).collect();
    ensure!(missing.is_empty(), "the dependency list of the program lacks {missing:?}");
    println!("dependency list in the program: {} crates", listed.len());
    Ok(())
}

/// Refuses names of this machine's folders in any artifact.
pub(super) fn paths(artifacts: &Artifacts, toolchain: &Toolchain) -> anyhow::Result<()> {
    let mut grep = Command::new("grep");
    grep.args(["--recursive", "--text", "--fixed-strings", "--only-matching"]);
    for folder in toolchain.private()? {
        grep.arg("-e").arg(folder);
    }
    grep.args([extracted("archive")?, extracted("package")?, artifacts.components()]);
    let output = grep.output().context("grep did not start")?;
    let found: BTreeSet<String> =
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    ensure!(found.is_empty(), "artifacts name folders of this machine: {found:#?}");
    // 1 means that nothing was found, and more a failure.
    ensure!(output.status.code() == Some(1), "grep failed: {}", String::from_utf8_lossy(&output.stderr));
    println!("paths of this machine: none");
    Ok(())
}

/// The folder that an artifact is extracted into.
fn extracted(name: &str) -> anyhow::Result<PathBuf> {
    Ok(target_dir()?.join("release-check").join(name))
}

/// What a program prints as its version.
fn version(program: &Path) -> anyhow::Result<String> {
    let printed = output_of(Command::new(program).arg("--version"))?;
    let printed = printed.trim_end();
    let expected = format!("cuepoint {VERSION} (commit ");
    ensure!(printed.starts_with(&expected) && printed.contains(", SQLite 3."), "its version is {printed}");
    Ok(printed.to_owned())
}

/// Compares the document with the crates that cargo lists; returns their number.
fn components(artifacts: &Artifacts) -> anyhow::Result<usize> {
    let document: Value = serde_json::from_str(&fs::read_to_string(artifacts.components())?)?;
    let program = document.pointer("/metadata/component").context("it does not describe the program")?;
    let mut components = objects(&document, "components")?.to_vec();
    components.push(program.clone());
    for component in &components {
        let licence = component.pointer("/licenses/0/expression").and_then(Value::as_str);
        ensure!(licence.is_some_and(|licence| !licence.is_empty()), "a licence is missing: {component}");
    }
    let listed = crates(&components)?;
    let built: BTreeSet<Crate> = Components::of_program(&artifacts.target)?.licences.into_keys().collect();
    let differing: Vec<&Crate> = listed.symmetric_difference(&built).collect();
    ensure!(differing.is_empty(), "cargo tree and the list of components differ in {differing:?}");
    Ok(listed.len())
}

/// The list with this name in a document.
fn objects<'a>(document: &'a Value, name: &str) -> anyhow::Result<&'a [Value]> {
    let list = document.get(name).and_then(Value::as_array);
    list.map(Vec::as_slice).with_context(|| format!("the document has no {name}"))
}

/// The names and versions of objects.
fn crates(objects: &[Value]) -> anyhow::Result<BTreeSet<Crate>> {
    let text = |object: &Value, key| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let found =
        objects.iter().map(|object| Some((text(object, "name")?, text(object, "version")?))).collect();
    Option::context(found, "an object has no name or version")
}
