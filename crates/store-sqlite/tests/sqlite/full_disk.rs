//! Writes that fail because there is no space: nothing is lost or done twice, and the store recovers without
//! a restart.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::Plan;
use cuepoint_domain::ports::{Applied, ApplyError, Ledger, Store};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use futures_util::future::join_all;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::child;
use crate::fixtures::{audit, available, guest, numbered_topup, open, refusal, until};

/// A file of more than the limit is refused with an error instead of a signal.
const NO_SIGNAL: &str = "trap '' XFSZ";
/// The arguments of a process that may mount file systems, which are its own.
const OWN_MOUNTS: [&str; 2] = ["unshare", "-Urm"];

/// Limits the size of every file that this process writes.
fn limit_files(bytes: u64) {
    let (_, most) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    setrlimit(Resource::RLIMIT_FSIZE, bytes.min(most), most).unwrap();
}

async fn fails(store: &SqliteStore, plans: &[Plan]) {
    let answers = join_all(plans.iter().map(|plan| store.apply(plan.clone()))).await;
    assert!(answers.iter().all(|answer| matches!(answer, Err(ApplyError::Unavailable(_)))), "{answers:?}");
    store.ready().await.unwrap_err();
}

/// Plans fail while there is no space, and are applied exactly once when there is space again.
async fn recovers(directory: &Path, use_up: impl FnOnce(), free: impl FnOnce()) {
    let store = open(directory).unwrap();
    let user = guest(&store, 10_00).await;
    let known = numbered_topup(1_000, user, 1_00);
    store.apply(known.clone()).await.unwrap();
    // Otherwise it has room for more.
    let log = directory.join("cuepoint.db-wal");
    until("the log is empty", async || fs::metadata(&log).unwrap().len() == 0).await;
    let plans: Vec<Plan> = (1_001..1_020).map(|number| numbered_topup(number, user, 1_00)).collect();
    use_up();
    for _ in 0..3 {
        fails(&store, &plans).await;
    }
    assert_eq!(available(&store, user).await, 11_00, "reads are not affected");
    free();
    for plan in &plans {
        // Applied by now, or by an attempt with an unknown outcome.
        store.apply(plan.clone()).await.unwrap();
    }
    assert!(matches!(store.apply(known).await.unwrap(), Applied::Replayed(_)));
    until("it is ready", async || store.ready().await.is_ok()).await;
    ends_with(store, user, directory).await;
}

/// Closes the store, opens it once more, and finds every plan once.
async fn ends_with(store: SqliteStore, user: UserId, directory: &Path) {
    audit(&store).await;
    assert_eq!(available(&store, user).await, 30_00);
    store.close().await;
    let store = open(directory).unwrap();
    audit(&store).await;
    assert_eq!(available(&store, user).await, 30_00);
    store.close().await;
}

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
const SMALL_DISK: &str = "mount -t tmpfs -o size=3m,mode=0700 tmpfs \"$CUEPOINT_TEST_DIRECTORY\" || exit 9";

#[test]
fn a_failed_commit_loses_and_repeats_nothing() {
    let directory = TestDirectory::create();
    passes(&mut child::command(&[], NO_SIGNAL, "full_disk::limited_files", directory.path()));
}

#[tokio::test]
#[ignore = "is started by another test"]
async fn limited_files() {
    let Some(directory) = child::directory() else { return };
    // One page of the log fits, so that commits fail on the way.
    recovers(&directory, || limit_files(6 << 10), || limit_files(u64::MAX)).await;
}

#[test]
fn a_log_that_cannot_grow_is_overwritten() {
    let directory = TestDirectory::create();
    passes(&mut child::command(&[], NO_SIGNAL, "full_disk::limited_log", directory.path()));
}

#[tokio::test]
#[ignore = "is started by another test"]
async fn limited_log() {
    let Some(directory) = child::directory() else { return };
    let store = open(&directory).unwrap();
    let user = guest(&store, 10_00).await;
    // Its snapshot stays open while the log grows.
    assert_eq!(available(&store, user).await, 10_00);
    // Larger than the database, so that the log can be copied into it.
    let size = |name| fs::metadata(directory.join(name)).unwrap().len();
    let mut number = 0;
    let mut apply = async || {
        number += 1;
        store.apply(numbered_topup(1_000 + number, user, 1_00)).await.unwrap()
    };
    while size("cuepoint.db-wal") < size("cuepoint.db") + (100 << 10) {
        apply().await;
    }
    limit_files(size("cuepoint.db-wal"));
    for _ in 0..20 {
        assert!(matches!(apply().await, Applied::Fresh(_)));
    }
    audit(&store).await;
    assert_eq!(available(&store, user).await, 10_00 + i128::from(number) * 1_00);
    store.close().await;
}

#[test]
fn a_full_disk_loses_and_repeats_nothing() {
    let directory = TestDirectory::create();
    if may_mount() {
        passes(&mut child::command(&OWN_MOUNTS, SMALL_DISK, "full_disk::small_disk", directory.path()));
    }
}

/// Fills the file system of a directory.
fn fill(directory: &Path) {
    let mut file = File::create(directory.join("ballast")).unwrap();
    for block in [65_536, 512, 1] {
        while file.write_all(&vec![1; block]).is_ok() {}
    }
}

#[tokio::test]
#[ignore = "is started by another test"]
async fn small_disk() {
    let Some(directory) = child::directory() else { return };
    let ballast = directory.join("ballast");
    recovers(&directory, || fill(&directory), || fs::remove_file(&ballast).unwrap()).await;
    let store = open(&directory).unwrap();
    fill(&directory);
    let message = refusal(&directory);
    let holder = format!("{} is in use by pid {}", directory.display(), std::process::id());
    assert_eq!(message, format!("the data directory {holder}"));
    store.close().await;
    let message = refusal(&directory);
    assert!(
        message.starts_with(&format!("the disk of the data directory {} is full: ", directory.display())),
        "{message}"
    );
    fs::remove_file(&ballast).unwrap();
    open(&directory).unwrap().close().await;
}

#[test]
fn a_disk_that_becomes_read_only_is_survived() {
    let directory = TestDirectory::create();
    if may_mount() {
        passes(&mut child::command(&OWN_MOUNTS, SMALL_DISK, "full_disk::read_only_disk", directory.path()));
    }
}

fn remount(directory: &Path, how: &str) {
    let done = Command::new("mount").args(["-o", &format!("remount,{how}")]).arg(directory).status();
    assert!(done.unwrap().success());
}

#[tokio::test]
#[ignore = "is started by another test"]
async fn read_only_disk() {
    let Some(directory) = child::directory() else { return };
    open(&directory).unwrap().close().await;
    remount(&directory, "ro");
    let message = refusal(&directory);
    assert!(message.contains("/lock cannot be used: Read-only file system"), "{message}");
    remount(&directory, "rw");
    open(&directory).unwrap().close().await;
}
