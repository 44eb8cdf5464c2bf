//! The archive: the program, what it prints itself, and the files of the commit that an operator needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::{Artifacts, Speed, names_in};
use crate::package;
use crate::workspace::{output_of, root};

/// The files and folders of the repository in the archive.
const FILES: &[&str] = &[
    "CHANGELOG.md",
    "LICENSE",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "docs/guide",
    "docs/storage.md",
    "ops",
];
/// The folders of the archive, and the files that `package::write_sources` puts into them.
const GENERATED: &[(&str, &[&str])] = &[
    ("", &["cuepoint"]),
    ("completions/", &["cuepoint.bash", "cuepoint.fish", "cuepoint.zsh"]),
    ("man/", &["cuepoint.1.gz"]),
];

/// Writes the archive. Git sorts its entries, and gives them the time of the commit and the owner root.
pub(super) fn write(artifacts: &Artifacts, speed: Speed) -> anyhow::Result<()> {
    let top = artifacts.top();
    let tar = artifacts.folder.join(format!("{top}.tar"));
    let mut archive = Command::new("git");
    archive.current_dir(root()).args(["-c", "tar.umask=0022", "archive", "--format=tar"]);
    archive.arg("--output").arg(&tar);
    for (folder, names) in GENERATED {
        archive.arg(format!("--prefix={top}/{folder}"));
        for name in *names {
            archive.arg(format!("--add-file={}", generated(name)?.display()));
        }
    }
    archive.arg(format!("--prefix={top}/")).arg(&artifacts.source.commit).arg("--").args(FILES);
    output_of(&mut archive)?;

    let level = if speed == Speed::Fast { "-1" } else { "-9" };
    output_of(Command::new("gzip").args([level, "--no-name", "--force"]).arg(&tar))?;
    Ok(())
}

/// Extracts the archive into an empty folder; returns its only entry.
pub(super) fn extract(artifacts: &Artifacts, folder: &Path) -> anyhow::Result<PathBuf> {
    output_of(Command::new("tar").arg("-xzf").arg(artifacts.archive()).arg("-C").arg(folder))?;
    let names = names_in(folder)?;
    ensure!(names == [artifacts.top()], "the archive contains {}", names.join(", "));
    Ok(folder.join(artifacts.top()))
}

/// The paths in the archive's folder that must exist.
pub(super) fn expected() -> Vec<String> {
    let generated =
        GENERATED.iter().flat_map(|(folder, names)| names.iter().map(move |name| format!("{folder}{name}")));
    generated.chain(FILES.iter().map(|&file| file.to_owned())).collect()
}

fn generated(name: &str) -> anyhow::Result<PathBuf> {
    let path = package::folder()?.join("release").join(name);
    fs::metadata(&path).with_context(|| format!("{} is missing", path.display()))?;
    Ok(path)
}
