//! The memory of the ledger audit does not grow with the ledger.

use std::env;
use std::time::Instant;

use cuepoint_domain::ports::Store;
use futures_util::future::join_all;

use crate::SqlFixture;
use crate::fixtures::{audit, guest, topup};

/// The number of entries; `CUEPOINT_AUDIT_ENTRIES` overrides it.
const ENTRIES: usize = 20_000;
/// The number of plans that wait for a commit together.
const AT_ONCE: usize = 500;
/// The maximum growth of the memory. A million entries in memory would take several times as much.
const MAX_GROWTH: u64 = 64 << 20;

#[expect(clippy::disallowed_methods, reason = "tests have no configuration; a long run is asked for by hand")]
fn entries() -> usize {
    match env::var("CUEPOINT_AUDIT_ENTRIES") {
        Ok(number) => {
            number.parse().unwrap_or_else(|_| panic!("CUEPOINT_AUDIT_ENTRIES={number} is no number"))
        }
        Err(_) => ENTRIES,
    }
}

/// The peak memory of this process in bytes; 0 on a system that does not report it.
fn peak() -> u64 {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

async fn fill(store: &dyn Store, entries: usize) {
    let mut guests = Vec::new();
    for _ in 0..20 {
        guests.push(guest(store, 0).await);
    }
    let mut made = 0;
    while made < entries {
        let mut plans = Vec::new();
        for _ in 0..AT_ONCE.min(entries - made) {
            plans.push(topup(store, guests[made % guests.len()], 1).await);
            made += 1;
        }
        let answers = join_all(plans.into_iter().map(|plan| store.apply(plan))).await;
        assert!(answers.iter().all(Result::is_ok));
    }
}

/// Measures the memory of the whole process, which runs other tests at the same time.
pub async fn a_large_ledger_is_audited_in_bounded_memory(database: &dyn SqlFixture) {
    let entries = entries();
    fill(database.store(), entries).await;
    let (before, began) = (peak(), Instant::now());
    let summary = audit(database.store()).await.unwrap();
    let seconds = began.elapsed().as_secs_f32();
    let grown = peak().saturating_sub(before);
    let count = u64::try_from(entries).unwrap();
    assert_eq!((summary.entries, summary.postings, summary.entities), (count, count, count));
    assert!(grown < MAX_GROWTH, "{entries} entries took {grown} bytes more");
    println!(
        "{entries} entries checked in {seconds} s, peak {} KiB more, {} KiB in all",
        grown >> 10,
        peak() >> 10
    );
}
