//! The links of the documents: each names a file or folder of the repository and, after `#`, a heading of it. Links to
//! other hosts are not followed.

use std::collections::BTreeSet;

use serde_json::Value;

use super::tree::Tree;
use crate::markdown::{Document, Lines, Link, resolve};
use crate::openapi;

/// Checks every link and reference of every document, and of the descriptions in the OpenAPI document.
pub(super) fn check(tree: &Tree<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for (path, document) in &tree.documents {
        let links = document.links.iter().filter_map(|link| Some((link.line, broken(path, link, tree)?)));
        let undefined = document.undefined.iter();
        let undefined =
            undefined.map(|(line, name)| (*line, format!("the reference [{name}] is not defined")));
        let mut found: Vec<(usize, String)> = links.chain(undefined).collect();
        found.sort();
        complaints.extend(found.into_iter().map(|(line, problem)| format!("{path}:{line}: {problem}")));
    }
    let descriptions = tree.files.iter().filter(|file| file.path == openapi::DOCUMENT);
    complaints.extend(descriptions.flat_map(|file| check_descriptions(&file.text())));
    complaints
}

/// Returns what a link of this document lacks, if it lacks something.
fn broken(document: &str, link: &Link, tree: &Tree<'_>) -> Option<String> {
    let (path, anchor) = link.local()?;
    let target = resolve(document, path);
    let target = target.trim_end_matches('/');
    if !tree.has(target) {
        return Some(format!("the link to {path} names {target}, which does not exist"));
    }
    let anchor = anchor?;
    match tree.documents.get(target) {
        Some(document) if document.has_anchor(anchor) => None,
        Some(_) => Some(format!("the link to {}: {target} has no heading #{anchor}", link.target)),
        None => Some(format!("the link to {}: only documents have headings", link.target)),
    }
}

/// Checks that descriptions, which the service shows without the other documents, link only to URLs.
fn check_descriptions(text: &str) -> Vec<String> {
    let Ok(value) = serde_json::from_str(text) else {
        return vec![format!("{}: it is not JSON", openapi::DOCUMENT)];
    };
    let mut descriptions = BTreeSet::new();
    collect_descriptions(&value, &mut descriptions);
    let lines = Lines::of(text);
    let mut complaints = Vec::new();
    for description in descriptions {
        let document = Document::parse(description);
        let local = document.links.iter().filter(|link| link.local().is_some());
        let local = local.map(|link| (link.target.as_str(), "leads nowhere from /docs/ of the service"));
        let undefined = document.undefined.iter().map(|(_, name)| (name.as_str(), "is not defined"));
        complaints.extend(local.chain(undefined).map(|(name, problem)| {
            let line = lines.number(text.find(name).unwrap_or_default());
            format!("{}:{line}: the link to {name} in a description {problem}", openapi::DOCUMENT)
        }));
    }
    complaints
}

fn collect_descriptions<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == "description" => {
                        found.insert(text);
                    }
                    value => collect_descriptions(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_descriptions(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn check_text(text: &str, expected: &[&str]) {
        let files = [
            file("README.md", text),
            file("docs/api.md", "# API\n\n## Keys\n\n## Keys\n\n[up](../README.md), [keys](#keys-1)\n"),
            file("docs/openapi.json", "{}"),
        ];
        assert_eq!(check(&Tree::of(&files)), expected);
    }

    #[test]
    fn links_to_existing_files_folders_and_headings_are_accepted() {
        check_text(
            "# A\n[a](docs/api.md#keys), [b](docs/), [c](#a), [d](docs/openapi.json), <https://x.org/a.md#b>",
            &[],
        );
        check_text("`[a](gone.md)`, [ ] text, [b]\n\n[b]: docs/api.md#keys-1\n", &[]);
    }

    #[test]
    fn broken_links_are_reported_with_their_lines() {
        check_text(
            "# A\n\n[a](docs/gone.md) and\n[b](docs/api.md#key), [c][x]\n\n[d](#b), [e](docs/openapi.json#f)\n",
            &[
                "README.md:3: the link to docs/gone.md names docs/gone.md, which does not exist",
                "README.md:4: the link to docs/api.md#key: docs/api.md has no heading #key",
                "README.md:4: the reference [x] is not defined",
                "README.md:6: the link to #b: README.md has no heading #b",
                "README.md:6: the link to docs/openapi.json#f: only documents have headings",
            ],
        );
    }

    #[test]
    fn a_link_is_relative_to_the_folder_of_its_document() {
        let files = [
            file("docs/adr/0001-a.md", "[terms](../glossary.md), [next](0002-b.md), [out](../../../x.md)"),
            file("docs/glossary.md", "[why](./adr/0001-a.md), [all](adr/), [gone](adr/0003-c.md)"),
        ];
        let expected = [
            "docs/adr/0001-a.md:1: the link to ../../../x.md names ../x.md, which does not exist",
            "docs/adr/0001-a.md:1: the link to 0002-b.md names docs/adr/0002-b.md, which does not exist",
            "docs/glossary.md:1: the link to adr/0003-c.md names docs/adr/0003-c.md, which does not exist",
        ];
        assert_eq!(check(&Tree::of(&files)), expected);
    }

    #[test]
    fn an_openapi_description_that_links_to_a_file_is_reported() {
        let document = "{\n\"info\": {\"description\": \"[a](https://x.org)\"},\n\
                        \"tags\": [{\"description\": \"[b](api.md)\"}]\n}";
        assert_eq!(
            check(&Tree::of(&[file("docs/openapi.json", document)])),
            [
                "docs/openapi.json:3: the link to api.md in a description leads nowhere from /docs/ of the service"
            ]
        );
    }
}
