//! The table of contents of the site.

use std::collections::BTreeSet;

/// The parts of the site and the files of the repository that each shows: documents as they are, the OpenAPI document
/// as a list of its operations, and other files as code.
pub(super) const PARTS: &[(&str, &[&str])] = &[
    ("", &["README.md"]),
    (
        "Guides",
        &[
            "docs/guide/app.md",
            "docs/guide/pages.md",
            "docs/guide/gigs.md",
            "docs/guide/events.md",
            "docs/guide/providers.md",
            "docs/guide/operator.md",
            "docs/guide/postgresql.md",
        ],
    ),
    ("API", &["docs/api.md", "docs/openapi.json"]),
    (
        "Reference",
        &[
            "config/default.toml",
            "docs/storage.md",
            "docs/security.md",
            "docs/payout-addresses.md",
            "docs/attacks.md",
            "docs/PERFORMANCE.md",
            "docs/glossary.md",
            "CHANGELOG.md",
        ],
    ),
    ("Development", &["ARCHITECTURE.md", "CONTRIBUTING.md", "migrations/README.md", RECORDS]),
];

/// The list of decision records. The records in its folder are listed below it.
pub(super) const RECORDS: &str = "docs/adr/README.md";

/// Returns the files in the table of contents.
pub(super) fn listed() -> BTreeSet<&'static str> {
    PARTS.iter().flat_map(|(_, paths)| paths.iter().copied()).collect()
}

/// Whether a file of the repository is a document that the site must show.
fn is_document(path: &str) -> bool {
    let is_in_place = !path.contains('/') || path.starts_with("docs/") || path.starts_with("migrations/");
    path.ends_with(".md") && is_in_place
}

/// Whether a document is a decision record.
pub(super) fn is_record(path: &str) -> bool {
    let folder = RECORDS.trim_end_matches("README.md");
    path != RECORDS && path.starts_with(folder) && path.ends_with(".md")
}

/// Compares the table of contents with the files of the repository; returns a line for each difference.
pub(super) fn differences(files: &BTreeSet<&str>) -> Vec<String> {
    let listed = listed();
    let missing = listed.difference(files).map(|path| format!("{path} is listed and does not exist"));
    let unlisted = files.difference(&listed).filter(|path| is_document(path) && !is_record(path));
    missing.chain(unlisted.map(|path| format!("{path} is not listed"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy;

    #[test]
    fn every_document_is_in_the_table_of_contents() {
        let files = tidy::read_files().unwrap();
        let paths = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(differences(&paths), [""; 0]);
    }

    #[test]
    fn missing_and_unlisted_documents_are_reported() {
        let mut files = listed();
        files.extend(["docs/adr/0001-a.md", "crates/api/src/openapi/description.md", "docs/new.md"]);
        files.remove("docs/storage.md");
        let expected = ["docs/storage.md is listed and does not exist", "docs/new.md is not listed"];
        assert_eq!(differences(&files), expected);
    }
}
