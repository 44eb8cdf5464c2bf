//! The pages of the site, made from the files of the repository.

use std::collections::BTreeSet;

use anyhow::Context;

use super::contents::{PARTS, RECORDS, is_record, listed};
use super::{Page, api};
use crate::markdown::{Document, resolve};
use crate::openapi;
use crate::tidy::File;

/// Returns the pages of each part, in their order.
///
/// # Errors
/// If a document has no heading, or the OpenAPI document is not JSON.
pub(super) fn parts(files: &[File]) -> anyhow::Result<Vec<(&'static str, Vec<Page>)>> {
    let tree = Tree::of(files);
    let mut parts = Vec::new();
    for (title, paths) in PARTS {
        let mut pages = Vec::new();
        for path in *paths {
            pages.extend(tree.pages(path)?);
        }
        parts.push((*title, pages));
    }
    Ok(parts)
}

/// The files of the repository, and what links to them become.
struct Tree<'a> {
    files: &'a [File],
    /// The files that the site shows.
    shown: BTreeSet<&'a str>,
    /// The address of the repository.
    repository: Option<String>,
}

impl<'a> Tree<'a> {
    fn of(files: &'a [File]) -> Self {
        let listed = listed();
        let paths = files.iter().map(|file| file.path.as_str());
        let manifest = files.iter().find(|file| file.path == "Cargo.toml");
        Self {
            files,
            shown: paths
                .filter(|path| listed.contains(path) || is_record(path) || is_picture(path))
                .collect(),
            repository: manifest.and_then(|file| repository(&file.text())),
        }
    }

    /// Returns the pages that show a file of the table of contents.
    fn pages(&self, path: &str) -> anyhow::Result<Vec<Page>> {
        let file = |path: &str| {
            let file = self.files.iter().find(|file| file.path == path);
            file.map(File::text).with_context(|| format!("{path} does not exist"))
        };
        if path == openapi::DOCUMENT {
            return Ok(vec![api::list(&serde_json::from_str(&file(path)?)?)]);
        }
        if !path.ends_with(".md") {
            return Ok(vec![listing(path, &file(path)?)]);
        }
        let mut pages = vec![self.document(path, &file(path)?, false)?];
        if path == RECORDS {
            for record in self.shown.iter().filter(|path| is_record(path)) {
                pages.push(self.document(record, &file(record)?, true)?);
            }
        }
        Ok(pages)
    }

    fn document(&self, path: &str, text: &str, is_nested: bool) -> anyhow::Result<Page> {
        let document = Document::parse(text);
        let title = document.title().with_context(|| format!("{path} has no heading"))?.to_owned();
        Ok(Page { path: path.to_owned(), title, text: self.with_links(path, text, &document), is_nested })
    }

    /// Returns the text of a document with links that work in the site.
    fn with_links(&self, path: &str, text: &str, document: &Document) -> String {
        let mut linked = String::new();
        let mut end = 0;
        for link in &document.links {
            let Some((target, anchor)) = link.local().filter(|(target, _)| !target.is_empty()) else {
                continue;
            };
            let label = text.get(link.label.clone()).unwrap_or_default();
            let Some(before) = text.get(end..link.place.start) else { continue };
            linked.push_str(before);
            linked.push_str(&match self.target(path, target) {
                Some(target) => {
                    let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
                    let is_picture = text.get(link.place.clone()).is_some_and(|link| link.starts_with('!'));
                    format!("{}[{label}]({target}{anchor})", if is_picture { "!" } else { "" })
                }
                None => label.to_owned(),
            });
            end = link.place.end;
        }
        linked.push_str(text.get(end..).unwrap_or_default());
        linked
    }

    /// Returns the target of a link in the site: a page, or the file in the repository, if its address is known.
    fn target(&self, document: &str, target: &str) -> Option<String> {
        let path = resolve(document, target.trim_end_matches('/'));
        let index = format!("{path}/README.md");
        if self.shown.contains(path.as_str()) && is_picture(&path) {
            Some(target.to_owned())
        } else if self.shown.contains(path.as_str()) {
            Some(if path.ends_with(".md") { target.to_owned() } else { format!("{target}.md") })
        } else if self.shown.contains(index.as_str()) {
            Some(format!("{}/README.md", target.trim_end_matches('/')))
        } else {
            self.repository.as_ref().map(|repository| format!("{repository}/blob/HEAD/{path}"))
        }
    }
}

/// Whether this is the path of a picture in the documents.
pub(super) fn is_picture(path: &str) -> bool {
    path.starts_with("docs/images/")
}

/// Returns the address of the repository in the manifest of the workspace.
fn repository(manifest: &str) -> Option<String> {
    let value = manifest.lines().find_map(|line| line.strip_prefix("repository = \""))?;
    Some(value.trim_end_matches(['"', '/']).to_owned())
}

/// Returns the page of a file that is shown as code.
fn listing(path: &str, text: &str) -> Page {
    let language = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let text = format!("# {path}\n\n````{language}\n{}\n````\n", text.trim_end());
    Page { path: format!("{path}.md"), title: path.to_owned(), text, is_nested: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    fn check(manifest: &str, cases: &[(&str, &str)]) {
        let files = [
            file("Cargo.toml", manifest),
            file("README.md", "# A"),
            file("config/default.toml", "a = 1\n"),
            file("docs/api.md", "# B"),
            file("docs/adr/README.md", "# C"),
            file("docs/adr/0001-a.md", "# D"),
            file("docs/images/e.png", ""),
            file("crates/a.rs", ""),
        ];
        let tree = Tree::of(&files);
        for (text, expected) in cases {
            assert_eq!(tree.with_links("docs/storage.md", text, &Document::parse(text)), *expected);
        }
    }

    #[test]
    fn links_between_pages_are_kept_or_adapted_to_the_page_names() {
        let unchanged = [
            "[a](../README.md), [b](api.md#c) [d](#e)",
            "![e](images/e.png)",
            "<https://x.org> [f](https://x.org/g.md)",
        ];
        check("", &unchanged.map(|text| (text, text)));
        check(
            "",
            &[("[a](api.md) and [`b`][c]\n\n[c]: adr/", "[a](api.md) and [`b`](adr/README.md)\n\n[c]: adr/")],
        );
        check("", &[("[a](../config/default.toml)", "[a](../config/default.toml.md)")]);
    }

    #[test]
    fn links_to_other_files_lead_to_the_repository_or_become_text() {
        let text = "See [`a.rs`](../crates/a.rs) and [b](../crates/).";
        check("", &[(text, "See `a.rs` and b.")]);
        let at = "https://example.com/x/blob/HEAD/crates";
        let expected = format!("See [`a.rs`]({at}/a.rs) and [b]({at}).");
        check("repository = \"https://example.com/x/\"\n", &[(text, &expected)]);
    }

    #[test]
    fn files_other_than_documents_are_shown_as_code() {
        let page = listing("config/default.toml", "a = 1\n");
        assert_eq!(page.text, "# config/default.toml\n\n````toml\na = 1\n````\n");
        assert_eq!(page.path, "config/default.toml.md");
    }
}
