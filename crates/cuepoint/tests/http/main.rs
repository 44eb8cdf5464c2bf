//! Tests of the HTTP contract against the real binary over a real socket, on the default store, and on every store
//! where the store matters.
//!
//! Every test starts its own servers on free ports, with its own database or data directory, and stops them
//! at its end.
//!
//! A folder holds a subject, and `automod` makes each of its files a module. Cargo does not notice a new file alone:
//! save the `mod.rs` beside it, too.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may fail loudly, and reads nothing that a stranger sent"
)]

#[macro_use]
mod harness;

mod accounts;
mod events;
mod gigs;
mod guests;
mod limits;
mod money;
mod operating;
mod pages;
mod soak;
mod staff;
mod wire;

/// The tests of a new file would never run in a build that was made before it.
#[test]
fn every_file_with_tests_is_a_module() {
    let program = std::env::current_exe().unwrap();
    let listed = std::process::Command::new(program).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let folders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http").read_dir().unwrap();
    for folder in folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            let text = if file.is_file() { std::fs::read_to_string(&file).unwrap() } else { continue };
            let has_tests = ["#[test]", "on_one_store!(", "on_every_store!(", "on_durable_stores!("];
            let name = |path: &std::path::Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
            let module = format!("{}::{}::", name(&folder), name(&file));
            let is_module = name(&file) == "mod" || listed.contains(&module);
            assert!(
                is_module || !has_tests.iter().any(|mark| text.contains(mark)),
                "{module} save its mod.rs"
            );
        }
    }
}
