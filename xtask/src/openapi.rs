//! `cargo xtask openapi`: the document that the code describes, and the one that is committed.

use std::fs;

use anyhow::{Context, bail};

use crate::workspace::{cargo, output_of, root};

/// The committed document.
pub(crate) const DOCUMENT: &str = "docs/openapi.json";

/// Writes the document, or compares it with the committed one.
pub(crate) fn run(check: bool) -> anyhow::Result<u8> {
    let printed = output_of(cargo().args([
        "run",
        "--quiet",
        "--locked",
        "--package",
        "cuepoint-server",
        "--",
        "openapi",
    ]))?;
    let current = format!("{}\n", printed.trim_end());
    let path = root().join(DOCUMENT);
    if check {
        let committed = fs::read_to_string(&path)
            .with_context(|| format!("{DOCUMENT} cannot be read; `cargo xtask openapi` writes it"))?;
        if let Some(line) = first_difference(&committed, &current) {
            bail!(
                "{DOCUMENT} and the routes disagree from line {line} on; `cargo xtask openapi` writes it anew"
            );
        }
    } else {
        fs::write(&path, current).with_context(|| format!("{DOCUMENT} cannot be written"))?;
        println!("{DOCUMENT} is written");
    }
    Ok(0)
}

/// The number of the first line that differs, from 1.
fn first_difference(left: &str, right: &str) -> Option<usize> {
    if left == right {
        return None;
    }
    let same = left.lines().zip(right.lines()).take_while(|(left, right)| left == right).count();
    Some(same.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("a\n", "a"), Some(2));
    }
}
