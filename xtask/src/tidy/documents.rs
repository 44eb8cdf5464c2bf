//! References to documents and from them: every path, document and section that is mentioned exists.

use std::collections::BTreeMap;
use std::ops::Range;

use super::File;
use super::tree::Tree;
use crate::markdown::{Document, Lines, resolve};

/// The folders with which a mentioned path begins.
const FOLDERS: &[&str] = &[".ci/", "config/", "crates/", "docs/", "migrations/", "ops/", "xtask/"];

/// Checks every path that a document has in backticks, and every document and section that any file mentions.
pub(super) fn check(tree: &Tree<'_>) -> Vec<String> {
    let paths = tree.documents.iter().flat_map(|(path, document)| check_paths(path, document, tree));
    paths.chain(check_mentions(tree)).collect()
}

/// Checks the paths in the code spans of a document.
fn check_paths(path: &str, document: &Document, tree: &Tree<'_>) -> Vec<String> {
    let missing = document.codes.iter().filter(|(_, code)| is_path(code) && !tree.has(code));
    missing.map(|(line, code)| format!("{path}:{line}: it mentions {code}, which does not exist")).collect()
}

/// Checks the documents that sources mention in comments and strings, and the sections that any file names after a
/// document, as in `docs/api.md, "Rate limits"`.
fn check_mentions(tree: &Tree<'_>) -> Vec<String> {
    let sources =
        tree.files.iter().filter(|file| file.has_extension(&["md", "py", "rs", "sql", "toml", "ts"]));
    sources.flat_map(|file| check_file(file, &tree.documents)).collect()
}

fn check_file(file: &File, documents: &BTreeMap<&str, Document>) -> Vec<String> {
    let text = file.text();
    // The tests of these checks mention documents that do not exist.
    let end = text.find("\n#[cfg(test)]").filter(|_| file.path.starts_with("xtask/"));
    let text = end.and_then(|end| text.get(..end)).unwrap_or(&text);
    let is_document = file.has_extension(&["md"]);
    let lines = Lines::of(text);
    let mut complaints = Vec::new();
    for (place, path) in mentions(text) {
        let named = path.trim_start_matches("../");
        let beside = resolve(&file.path, path);
        let document = documents.get(named).or_else(|| documents.get(beside.as_str()));
        let line = lines.number(place.start);
        let section = text.get(place.end..).and_then(section_after);
        match (document, section) {
            // Other rules check the links and code spans of documents. A name without a folder can be any file.
            (None, _) if !is_document && is_path(named) => {
                complaints.push(format!("{}:{line}: it mentions {path}, which does not exist", file.path));
            }
            (Some(document), Some(section)) if !document.headings.iter().any(|one| one.text == section) => {
                complaints.push(format!("{}:{line}: {path} has no section \"{section}\"", file.path));
            }
            _ => {}
        }
    }
    complaints
}

/// Returns every path of a Markdown file in a text, with its place.
fn mentions(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    text.match_indices(".md").filter_map(move |(dot, extension)| {
        let end = dot.saturating_add(extension.len());
        let (before, after) = (text.get(..end)?, text.get(end..)?);
        let start = before.rfind(|c| !is_in_path(c)).map_or(0, |last| last.saturating_add(1));
        let path = before.get(start..).filter(|path| *path != extension && !path.starts_with("//"))?;
        (!after.starts_with(is_in_name)).then_some((start..end, path))
    })
}

/// Returns the section that is quoted right after the mention of a document.
fn section_after(rest: &str) -> Option<String> {
    let rest = rest.trim_start_matches(['`', ')']).strip_prefix(',')?;
    // A string of Rust can continue on the next line, and a comment or a paragraph too.
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '\\' | '/' | '!' | '#'));
    let (section, _) = rest.strip_prefix('"')?.split_once('"')?;
    Some(section.trim_end_matches('\\').split_whitespace().collect::<Vec<_>>().join(" "))
}

fn is_in_path(c: char) -> bool {
    is_in_name(c) || matches!(c, '/' | '.')
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Whether code in backticks is a path of the repository rather than a command or a pattern.
fn is_path(code: &str) -> bool {
    FOLDERS.iter().any(|folder| code.starts_with(folder)) && code.chars().all(is_in_path)
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let files = [
            file(path, text),
            file("docs/api.md", "# API\n\n## Rate limits\n"),
            file("crates/api/src/parts/a.md", "A\n"),
        ];
        assert_eq!(check(&Tree::of(&files)), expected);
    }

    #[test]
    fn missing_paths_that_documents_name_are_reported() {
        check_text(
            "README.md",
            "`docs/api.md`, `docs/`, `migrations/<stamp>/up.sql`, `cargo run`, `text/plain`",
            &[],
        );
        check_text(
            "README.md",
            "# A\n`docs/old.md`",
            &["README.md:2: it mentions docs/old.md, which does not exist"],
        );
    }

    #[test]
    fn missing_documents_that_sources_name_are_reported() {
        let source = "crates/api/src/parts/a.rs";
        check_text(
            source,
            "include_str!(\"../../../../docs/api.md\"), \"a.md\"; // docs/api.md, docs/*.md",
            &[],
        );
        check_text(
            source,
            "//! See\n//! docs/old.md.",
            &["crates/api/src/parts/a.rs:2: it mentions docs/old.md, which does not exist"],
        );
    }

    #[test]
    fn references_to_missing_sections_of_documents_are_reported() {
        let limits = [
            "// `docs/api.md`, \"Rate limits\"",
            "// docs/api.md,\n    // \"Rate limits\"",
            "\"(docs/api.md, \\\n    \\\"Rate limits\\\")\"",
        ];
        for text in limits {
            check_text("crates/api/src/b.rs", text, &[]);
            let other = text.replace("limits", "limit");
            let expected = "crates/api/src/b.rs:1: docs/api.md has no section \"Rate limit\"";
            check_text("crates/api/src/b.rs", &other, &[expected]);
        }
        check_text(
            "CONTRIBUTING.md",
            "[docs/api.md](docs/api.md), \"Limits\"",
            &["CONTRIBUTING.md:1: docs/api.md has no section \"Limits\""],
        );
    }
}
