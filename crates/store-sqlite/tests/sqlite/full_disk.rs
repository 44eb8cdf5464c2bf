//! Writes that fail because there is no space: nothing is lost or done twice, and the store recovers without
//! a restart.

use std::process::Command;

use cuepoint_store_sqlite::testing::TestDirectory;

use crate::child;

/// A file of more than the limit is refused with an error instead of a signal.
const NO_SIGNAL: &str = "trap '' XFSZ";
/// The arguments of a process that may mount file systems, which are its own.
const OWN_MOUNTS: [&str; 2] = ["unshare", "-Urm"];

/// Runs a child and expects its success.
fn passes(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", child::text(&output));
}

/// Whether this process may mount file systems in a namespace of its own; a container may forbid it.
fn may_mount() -> bool {
    let mount = "mount -t tmpfs tmpfs /mnt";
    let tried = Command::new(OWN_MOUNTS[0]).arg(OWN_MOUNTS[1]).args(["sh", "-c", mount]).output();
    let may = tried.is_ok_and(|output| output.status.success());
    if !may {
        eprintln!("not run: this process may not mount a small file system");
    }
    may
}

/// Mounts a small file system on the directory.
const SMALL_DISK: &str = "mount -t tmpfs -o size=3m,mode=0700 tmpfs \"$2\" || exit 9";

#[test]
fn a_failed_commit_neither_loses_nor_repeats_operations() {
    let directory = TestDirectory::create();
    passes(&mut child::command(&[], NO_SIGNAL, "limited_files", directory.path()));
}

#[test]
fn commits_continue_when_the_write_ahead_log_cannot_grow() {
    let directory = TestDirectory::create();
    passes(&mut child::command(&[], NO_SIGNAL, "limited_log", directory.path()));
}

#[test]
fn a_full_disk_neither_loses_nor_repeats_operations() {
    let directory = TestDirectory::create();
    if may_mount() {
        passes(&mut child::command(&OWN_MOUNTS, SMALL_DISK, "small_disk", directory.path()));
    }
}

#[test]
fn a_store_on_a_read_only_disk_is_refused_until_the_disk_is_writable() {
    let directory = TestDirectory::create();
    if may_mount() {
        passes(&mut child::command(&OWN_MOUNTS, SMALL_DISK, "read_only_disk", directory.path()));
    }
}
