//! The second build of a release, in a clone of the repository.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

use super::{Artifacts, names_in};
use crate::workspace::{emptied, exit_code, output_of, root, target_dir};

/// Builds the commit again in another folder, and compares the artifacts.
///
/// # Errors
/// The names of artifacts that differ.
pub(super) fn compare(artifacts: &Artifacts) -> anyhow::Result<()> {
    let clone = emptied(target_dir()?.join("release-clone"))?;
    output_of(Command::new("git").args(["clone", "--quiet"]).arg(root()).arg(&clone))?;
    let mut checkout = Command::new("git");
    output_of(
        checkout.args(["checkout", "--quiet", "--detach", &artifacts.source.commit]).current_dir(&clone),
    )?;

    // This program finds the target folder by its own path, and the repository by the variable.
    let target = clone.join("target");
    let program = target.join("debug").join("xtask");
    fs::create_dir_all(target.join("debug"))?;
    fs::copy(env::current_exe()?, &program)?;
    std::os::unix::fs::symlink(target_dir()?.join("tools"), target.join("tools"))?;
    let mut again = Command::new(program);
    again.arg("release").env("CARGO_MANIFEST_DIR", clone.join("xtask")).current_dir(&clone);
    ensure!(exit_code(&mut again)? == 0, "the second build failed");

    let differing = differing(&artifacts.folder, &target.join("release-artifacts"))?;
    ensure!(differing.is_empty(), "two builds differ in {}", differing.join(", "));
    // A folder with differences stays, so that they can be examined.
    fs::remove_dir_all(&clone).with_context(|| format!("{} cannot be removed", clone.display()))?;
    println!("a second build in {} is the same", clone.display());
    Ok(())
}

/// The names of the files that are not the same in both folders.
fn differing(first: &Path, second: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = names_in(first)?;
    names.extend(names_in(second)?);
    names.sort();
    names.dedup();
    let read = |folder: &Path, name: &String| {
        let path = folder.join(name);
        path.exists()
            .then(|| fs::read(&path))
            .transpose()
            .with_context(|| format!("{} cannot be read", path.display()))
    };
    let mut differing = Vec::new();
    for name in names {
        if read(first, &name)? != read(second, &name)? {
            differing.push(name);
        }
    }
    Ok(differing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artifacts_that_differ_or_that_only_one_build_has_are_named() {
        let folder = env::temp_dir().join(format!("cuepoint-release-{}", std::process::id()));
        let (first, second) = (folder.join("first"), folder.join("second"));
        for (build, files) in
            [(&first, ["same 1", "other 1", "first 1"]), (&second, ["same 1", "other 2", "second 1"])]
        {
            emptied(build.clone()).unwrap();
            for file in files {
                let (name, content) = file.split_once(' ').unwrap();
                fs::write(build.join(name), content).unwrap();
            }
        }
        let differing = differing(&first, &second);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(differing.unwrap(), ["first", "other", "second"]);
    }
}
