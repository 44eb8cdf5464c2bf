//! The files of the repository with the documents among them, which the rules about documents share.

use std::collections::{BTreeMap, BTreeSet};

use super::File;
use crate::markdown::Document;

/// The files, the paths that a reference can name, and the parsed documents.
pub(super) struct Tree<'f> {
    pub(super) files: &'f [File],
    known: BTreeSet<&'f str>,
    pub(super) documents: BTreeMap<&'f str, Document>,
}

impl<'f> Tree<'f> {
    /// Parses every document.
    pub(super) fn of(files: &'f [File]) -> Self {
        let documents = files.iter().filter(|file| file.has_extension(&["md"]));
        Self {
            files,
            known: files.iter().flat_map(|file| paths_to(&file.path)).collect(),
            documents: documents.map(|file| (file.path.as_str(), Document::parse(&file.text()))).collect(),
        }
    }

    /// Whether a path names a file or a folder.
    pub(super) fn has(&self, path: &str) -> bool {
        self.known.contains(path.trim_end_matches('/'))
    }
}

/// Returns the path and all its parent folders.
fn paths_to(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(end, _)| path.get(..end)).chain([path])
}
