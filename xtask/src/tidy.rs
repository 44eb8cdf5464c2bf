//! `cargo xtask tidy`: the rules of the repository that no compiler checks.

pub(crate) mod attacks;
mod budgets;
mod crates;
mod dependencies;
mod docs;
mod documents;
pub(crate) mod figures;
mod imports;
mod layers;
mod layout;
mod lengths;
mod links;
mod manifests;
mod sources;
mod templates;
mod tree;
mod type_names;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use self::tree::Tree;
use crate::workspace::{cargo, output_of, root};

/// A file of the repository, or of another folder: its path from there, separated by `/`, and its bytes.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) content: Vec<u8>,
}

impl File {
    /// Its text, with replacement characters for invalid UTF-8.
    pub(crate) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.content)
    }

    /// Its parsed source.
    ///
    /// # Errors
    /// If it is not valid Rust.
    fn parsed(&self) -> anyhow::Result<syn::File> {
        syn::parse_file(&self.text()).map_err(|error| anyhow::anyhow!("{}: {error}", self.path))
    }

    /// Whether its name ends with one of these extensions.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        let extension = Path::new(&self.path).extension();
        extension.is_some_and(|found| extensions.iter().any(|extension| found == *extension))
    }
}

/// Checks every file; prints a line for each violation, and returns 1 if there are any.
pub(crate) fn run() -> anyhow::Result<u8> {
    let files = read_files()?;
    let mut complaints = layout::check_top_level(&files);
    complaints.extend(layout::check_migrations(&files));
    complaints.extend(layout::check_modules(&files));
    complaints.extend(manifests::check(&files));
    complaints.extend(sources::check(&files));
    complaints.extend(docs::check(&files)?);
    complaints.extend(templates::check(&files));
    let tree = Tree::of(&files);
    complaints.extend(documents::check(&tree));
    complaints.extend(links::check(&tree));
    complaints.extend(lengths::check(&tree));
    complaints.extend(attacks::check(&files));
    complaints.extend(layers::check(&files)?);
    complaints.extend(type_names::check(&files)?);
    complaints.extend(budgets::check(&files));
    let tree = "tree --package cuepoint-domain --edges normal --all-features --prefix none --locked";
    complaints.extend(dependencies::check_domain(&output_of(cargo().args(tree.split(' ')))?));

    for (path, lines) in sources::long_files(&files) {
        println!("note: {path} has {lines} lines; past {} it fails", sources::LINES_ALLOWED);
    }
    for complaint in &complaints {
        println!("{complaint}");
    }
    if complaints.is_empty() {
        println!("tidy: {} files follow the rules", files.len());
        return Ok(0);
    }
    println!("tidy: {} violations", complaints.len());
    Ok(1)
}

/// Returns every file that git does not ignore, sorted by path.
pub(crate) fn read_files() -> anyhow::Result<Vec<File>> {
    let ignored = fs::read_to_string(root().join(".gitignore")).unwrap_or_default();
    let ignored: Vec<PathBuf> = ignored
        .lines()
        .filter_map(|line| line.trim().strip_prefix('/'))
        .map(|name| root().join(name.trim_end_matches('/')))
        .chain([root().join(".git")])
        .collect();
    read_folder(root(), &ignored)
}

/// Returns every file below a folder that is not ignored, sorted by path; the paths begin at the folder.
pub(crate) fn read_folder(top: &Path, ignored: &[PathBuf]) -> anyhow::Result<Vec<File>> {
    let mut files = Vec::new();
    let mut folders = vec![top.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?;
        for entry in entries {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            if ignored.contains(&path) {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let content =
                    fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
                let path = path.strip_prefix(top)?.to_string_lossy().into_owned();
                files.push(File { path, content });
            }
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Creates a file for the tests of the checks.
    pub(crate) fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), content: text.as_bytes().to_vec() }
    }

    /// Asserts that there is a complaint with each of these texts, in their order, and no other one.
    pub(super) fn assert_complaints(complaints: &[String], texts: &[&str]) {
        assert_eq!(complaints.len(), texts.len(), "{complaints:?}");
        for (complaint, text) in complaints.iter().zip(texts) {
            assert!(complaint.contains(text), "{complaint}");
        }
    }

    /// Asserts that there is a complaint that begins with each of these texts, in their order, and no other one.
    pub(super) fn assert_beginnings(complaints: &[String], beginnings: &[&str]) {
        assert_complaints(complaints, beginnings);
        for (complaint, beginning) in complaints.iter().zip(beginnings) {
            assert!(complaint.starts_with(beginning), "{complaint}");
        }
    }
}
