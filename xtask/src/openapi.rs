//! `cargo xtask openapi`: the OpenAPI document of the code, compared with the committed one or an earlier
//! one.

mod comparison;
pub(crate) mod values;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::service;
use crate::workspace::{output_of, root};

/// The committed document.
pub(crate) const DOCUMENT: &str = "docs/openapi.json";

/// The options of `cargo xtask openapi`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail if the file differs.
    #[arg(long)]
    pub(crate) check: bool,
    /// List the changes of the wire format since this document, ignoring its texts.
    #[arg(long, value_name = "OLD.json", conflicts_with = "check")]
    compare: Option<PathBuf>,
}

/// Writes the document; with `--check`, compares it with the committed one; with `--compare`, lists the
/// changes of the wire format since another document. Returns 1 if there are changes other than additions.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.compare {
        Some(old) => compare(old),
        None if arguments.check => check(),
        None => write(),
    }
}

fn write() -> anyhow::Result<u8> {
    fs::write(root().join(DOCUMENT), described()?)
        .with_context(|| format!("{DOCUMENT} cannot be written"))?;
    println!("{DOCUMENT} is written");
    Ok(0)
}

fn check() -> anyhow::Result<u8> {
    if let Some(line) = first_difference(&committed()?, &described()?) {
        bail!("{DOCUMENT} and the routes disagree from line {line} on; `cargo xtask openapi` regenerates it");
    }
    Ok(0)
}

fn compare(old: &Path) -> anyhow::Result<u8> {
    let old = fs::read_to_string(old).with_context(|| format!("{} cannot be read", old.display()))?;
    let old: Value = serde_json::from_str(&old).context("the old document is not JSON")?;
    let new: Value = serde_json::from_str(&described()?).context("the new document is not JSON")?;
    let changes = comparison::changes(&old, &new);
    changes.iter().for_each(|change| println!("{change}"));
    let additions = changes.iter().filter(|change| change.is_addition()).count();
    let others = changes.len().saturating_sub(additions);
    println!("{additions} additions, {others} other changes");
    Ok(u8::from(others > 0))
}

/// Returns the committed document.
pub(crate) fn committed() -> anyhow::Result<String> {
    fs::read_to_string(root().join(DOCUMENT))
        .with_context(|| format!("{DOCUMENT} cannot be read; `cargo xtask openapi` writes it"))
}

/// Returns the document of the code, in its committed form.
pub(crate) fn described() -> anyhow::Result<String> {
    let mut program = Command::new(service::binary()?);
    Ok(format!("{}\n", output_of(program.arg("openapi"))?.trim_end()))
}

/// Returns the number of the first line that differs, counted from 1.
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
    fn the_first_different_line_is_reported() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
        assert_eq!(first_difference("a\n", "a"), Some(2));
    }
}
