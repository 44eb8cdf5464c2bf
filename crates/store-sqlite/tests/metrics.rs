//! The metrics of a store, in a process of their own, because a process has one recorder.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects,
    reason = "a failed assumption fails its test"
)]

#[path = "sqlite/fixtures.rs"]
#[allow(dead_code, reason = "it is shared with other tests")]
mod fixtures;

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use cuepoint_domain::ports::Ledger;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use metrics::{Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use fixtures::{guest, open, topup, until};

/// The recorded counters and gauges, the described names, and the numbers of values in histograms.
#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<HashMap<String, Arc<AtomicU64>>>>);

impl Recorded {
    fn cell(&self, name: &str) -> Arc<AtomicU64> {
        self.0.lock().unwrap().entry(name.to_owned()).or_default().clone()
    }

    fn count(&self, name: &str) -> u64 {
        self.cell(name).load(Ordering::SeqCst)
    }

    fn gauge(&self, name: &str) -> f64 {
        f64::from_bits(self.count(name))
    }

    fn describe(&self, name: &KeyName) {
        self.cell(&format!("described {}", name.as_str())).store(1, Ordering::SeqCst);
    }
}

struct Values(Arc<AtomicU64>);

impl HistogramFn for Values {
    fn record(&self, _: f64) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Recorder for Recorded {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(&name);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(&name);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.describe(&name);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.cell(key.name()))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.cell(key.name()))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(Arc::new(Values(self.cell(key.name()))))
    }
}

#[tokio::test]
async fn metrics_cover_group_commits_the_queue_and_the_write_ahead_log() {
    let recorded = Recorded::default();
    metrics::set_global_recorder(recorded.clone()).expect("no other recorder");
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    for name in ["commits_total", "group_size", "commit_seconds", "queue_depth", "wal_bytes"] {
        assert_eq!(recorded.count(&format!("described cuepoint_{name}")), 1, "{name}");
    }
    let user = guest(&store, 10_00).await;
    for _ in 0..3 {
        store.apply(topup(&store, user, 1_00).await).await.unwrap();
    }
    for name in ["cuepoint_commits_total", "cuepoint_group_size", "cuepoint_commit_seconds"] {
        assert_eq!(recorded.count(name), 4, "{name}: a top-up of the guest, and three others");
    }
    assert!(recorded.gauge("cuepoint_queue_depth") < 2.0);

    // A reader with a snapshot keeps the log from being overwritten.
    let path = directory.path().join("cuepoint.db");
    let mut reader = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    reader.batch_execute("BEGIN; SELECT count(*) FROM users").unwrap();
    let log = directory.path().join("cuepoint.db-wal");
    let size = || fs::metadata(&log).unwrap().len();
    while size() < 9 << 20 {
        store.apply(topup(&store, user, 1_00).await).await.unwrap();
    }
    until("the gauge shows the size", async || recorded.gauge("cuepoint_wal_bytes") >= 9_000_000.0).await;
    reader.batch_execute("COMMIT").unwrap();
    until("the log is emptied", async || recorded.gauge("cuepoint_wal_bytes") == 0.0).await;
    assert_eq!(size(), 0);
    store.close().await;
}
