//! Replays the corpus: seeds of the fuzzer, and inputs that once violated a property.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cuepoint_fuzz::TARGETS;

/// The maximum size of the corpus, in bytes.
const MAX_BYTES: u64 = 100_000;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_corpus_input_satisfies_the_properties_of_its_target() {
    for (name, check) in TARGETS {
        let inputs = files(&corpus().join(name));
        assert!(!inputs.is_empty(), "{name} has no input");
        for input in inputs {
            println!("{}", input.display());
            check(&fs::read(input).unwrap());
        }
    }
}

#[test]
fn the_corpus_covers_every_target_in_less_than_100_kilobytes() {
    let folders = files(&corpus());
    let names: BTreeSet<&str> =
        folders.iter().filter_map(|folder| folder.file_name()).filter_map(|name| name.to_str()).collect();
    assert_eq!(names, TARGETS.iter().map(|(name, _)| *name).collect());
    let bytes: u64 =
        folders.iter().flat_map(|folder| files(folder)).map(|file| file.metadata().unwrap().len()).sum();
    assert!(bytes < MAX_BYTES, "the corpus has {bytes} bytes");
}
