//! References in the documents: every path that they mention exists.

use std::collections::BTreeSet;

use super::File;

/// The folders with which a mentioned path begins.
const FOLDERS: &[&str] = &[".ci/", "config/", "crates/", "docs/", "migrations/", "xtask/"];

/// Checks every path that a document has in backticks or as a link target.
pub(super) fn check(files: &[File]) -> Vec<String> {
    let known = files.iter().flat_map(|file| paths_to(&file.path)).collect();
    let documents = files.iter().filter(|file| file.has_extension(&["md"]));
    documents.flat_map(|file| check_document(file, &known)).collect()
}

/// Returns the path and all its parent folders.
fn paths_to(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(end, _)| path.get(..end)).chain([path])
}

fn check_document(file: &File, known: &BTreeSet<&str>) -> Vec<String> {
    let text = file.text();
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mentioned = text.split('`').skip(1).step_by(2).filter(|code| is_path(code)).map(str::to_owned);
    let linked = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let linked = linked.filter(|target| !target.contains("://")).filter_map(|target| {
        let path = target.split('#').next().filter(|path| !path.is_empty())?;
        Some(resolve(folder, path))
    });
    let paths: BTreeSet<String> = mentioned.chain(linked).collect();
    let missing = paths.iter().filter(|path| !known.contains(path.trim_end_matches('/')));
    missing.map(|path| format!("{}: it mentions {path}, which does not exist", file.path)).collect()
}

/// Returns the path of a link target relative to a folder; `..` above the root stays, and names no file.
fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether code in backticks is a path of the repository rather than a command or a pattern.
fn is_path(code: &str) -> bool {
    FOLDERS.iter().any(|folder| code.starts_with(folder))
        && code.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn check_text(text: &str, expected: &[&str]) {
        let files = [
            file("README.md", text),
            file("docs/api.md", "[up](openapi.json)"),
            file("docs/openapi.json", ""),
        ];
        assert_eq!(check(&files), expected);
    }

    #[test]
    fn paths_named_by_documents_exist() {
        check_text("`docs/api.md`, `docs/`, [it](docs/api.md#part), [out](https://example.com/docs/x)", &[]);
        check_text("`migrations/<stamp>/up.sql`, `cargo run`, `text/plain`, [here](#part)", &[]);
        check_text("`docs/old.md`", &["README.md: it mentions docs/old.md, which does not exist"]);
        check_text("[gone](docs/gone.md)", &["README.md: it mentions docs/gone.md, which does not exist"]);
    }

    #[test]
    fn a_link_is_relative_to_the_folder_of_its_document() {
        let files = [
            file("docs/adr/0001-a.md", "[terms](../glossary.md), [next](0002-b.md), [out](../../../x.md)"),
            file("docs/glossary.md", "[why](./adr/0001-a.md#context), [all](adr/), [gone](adr/0003-c.md)"),
        ];
        let expected = [
            "docs/adr/0001-a.md: it mentions ../x.md, which does not exist",
            "docs/adr/0001-a.md: it mentions docs/adr/0002-b.md, which does not exist",
            "docs/glossary.md: it mentions docs/adr/0003-c.md, which does not exist",
        ];
        assert_eq!(check(&files), expected);
    }
}
