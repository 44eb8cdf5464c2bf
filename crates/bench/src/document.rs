//! The document that holds the latest tables.

use std::fs;
use std::path::Path;

use anyhow::Context;

/// A generated part of the document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// The service compared with its limits.
    Table,
    /// The growth of cost with the amount of data.
    Growth,
    /// Latency under open load.
    Latency,
    /// Pages beside the API.
    Pages,
}

/// The results of a run as Markdown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Report {
    /// What the document keeps.
    pub(crate) kept: String,
    /// What is only printed.
    pub(crate) further: String,
}

impl Part {
    /// The markers before and after the part.
    const fn marks(self) -> (&'static str, &'static str) {
        match self {
            Self::Table => ("<!-- the table begins -->", "<!-- the table ends -->"),
            Self::Growth => ("<!-- growth begins -->", "<!-- growth ends -->"),
            Self::Latency => ("<!-- latency begins -->", "<!-- latency ends -->"),
            Self::Pages => ("<!-- pages begin -->", "<!-- pages end -->"),
        }
    }
}

/// Replaces a part of the document.
///
/// # Errors
/// If the document cannot be read or written, or lacks the markers of the part.
pub(crate) fn write(path: &Path, part: Part, text: &str) -> anyhow::Result<()> {
    let old = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let new = replaced(&old, part, text)
        .with_context(|| format!("{} lacks the markers of the part", path.display()))?;
    fs::write(path, new).with_context(|| format!("{} cannot be written", path.display()))
}

fn replaced(document: &str, part: Part, text: &str) -> Option<String> {
    let (begin, end) = part.marks();
    let (before, rest) = document.split_once(begin)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_a_part_of_a_document_is_idempotent() {
        for part in [Part::Table, Part::Growth, Part::Latency, Part::Pages] {
            let (begin, end) = part.marks();
            let document = format!("# Before\n\n{begin}\nold\n{end}\n\nAfter\n");
            let once = replaced(&document, part, "new\n").unwrap();
            assert_eq!(once, format!("# Before\n\n{begin}\n\nnew\n\n{end}\n\nAfter\n"));
            assert_eq!(replaced(&once, part, "new\n").unwrap(), once);
            assert_eq!(replaced("no place", part, "new"), None);
        }
    }
}
