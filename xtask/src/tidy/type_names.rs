//! Type names: each is defined once in the product's crates, so that it has one meaning.

use std::collections::BTreeMap;

use super::File;
use super::crates::Crates;
use super::sources::{definition, is_test_file};

/// Names that two modules define, with the reason: they are qualified with the module, as in
/// `withdrawal::Move`, or belong to one source that two crates compile.
const SHARED: &[(&str, &str)] = &[
    ("Decision", "the outcome of a transition's rule, one each for music requests and withdrawals"),
    ("Move", "a transition of a status, one each for music requests and withdrawals"),
    ("MoveRefusal", "the refusals of these transitions"),
    ("OpenRefusal", "the refusals of opening a music request or a withdrawal"),
    ("Expired", "what a purge deletes, which the sources of both SQL stores name"),
    ("Forget", "what an erasure deletes, which the sources of both SQL stores name"),
    ("Reading", "a connection that reads, which the sources of both SQL stores name"),
];

/// Checks the product's crates.
///
/// # Errors
/// If a file is not valid Rust.
pub(super) fn check(files: &[File]) -> anyhow::Result<Vec<String>> {
    check_except(files, SHARED)
}

fn check_except(files: &[File], shared: &[(&str, &str)]) -> anyhow::Result<Vec<String>> {
    let defined = owners(files)?;
    let twice = defined
        .iter()
        .filter(|(name, places)| places.len() > 1 && !shared.iter().any(|(shared, _)| shared == name));
    let mut complaints: Vec<String> = twice
        .map(|(name, places)| format!("the type `{name}` is defined in {}", places.join(", ")))
        .collect();
    for (name, _) in
        shared.iter().filter(|(name, _)| defined.get(*name).is_none_or(|places| places.len() < 2))
    {
        complaints.push(format!("xtask/src/tidy/type_names.rs: `{name}` is defined once and needs no entry"));
    }
    Ok(complaints)
}

/// Returns the visible type names of the service with the files that define them.
fn owners(files: &[File]) -> anyhow::Result<BTreeMap<String, Vec<&str>>> {
    let crates = Crates::of(files);
    let mut defined: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| crates.is_in_service(&file.path)) {
        if !file.has_extension(&["rs"]) || is_test_file(&file.path) {
            continue;
        }
        for name in file.parsed()?.items.iter().filter_map(type_name) {
            defined.entry(name).or_default().push(&file.path);
        }
    }
    Ok(defined)
}

/// Returns the name of a struct, an enum, a union, a trait or an alias that is visible to other files; a
/// private type is clear from its file.
fn type_name(item: &syn::Item) -> Option<String> {
    let (visibility, _, name) = definition(item)?;
    (!matches!(visibility, syn::Visibility::Inherited)).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn public_types_with_the_same_name_are_reported() {
        let one = file("crates/domain/src/a.rs", "pub struct Account;\npub enum Kind {}\n");
        let other = file(
            "crates/cuepoint/src/b.rs",
            "pub trait Account {}\nenum Kind {}\n#[cfg(test)]\nmod tests { struct Kind; }\n",
        );
        let manifests = [
            file("crates/cuepoint/Cargo.toml", "[dependencies]\ncuepoint-domain.workspace = true\n"),
            file("crates/domain/Cargo.toml", ""),
        ];
        let files: Vec<File> = [one, other].into_iter().chain(manifests).collect();
        let found = check_except(&files, &[]).unwrap();
        assert_eq!(
            found,
            ["the type `Account` is defined in crates/domain/src/a.rs, crates/cuepoint/src/b.rs"]
        );
        assert!(check_except(&files, &[("Account", "a reason")]).unwrap().is_empty());
        let found = check_except(&files, &[("Account", "a reason"), ("Kind", "none")]).unwrap();
        assert_eq!(found, ["xtask/src/tidy/type_names.rs: `Kind` is defined once and needs no entry"]);
    }
}
