//! Reads, on every kind of thread.

use std::sync::Arc;
use std::thread;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Money;
use cuepoint_domain::ports::{Ledger, People};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use futures_util::future::join_all;
use tokio::runtime::Builder;

use crate::fixtures::{guest, open, topup};

/// Reads every user several times at once, and one who does not exist.
async fn each_reader_gets_their_own_row(store: &SqliteStore, people: &[UserId]) {
    let nobody = UserId::new(1 << 40).unwrap();
    let asked: Vec<UserId> =
        people.iter().chain([&nobody]).copied().cycle().take(people.len() * 4 + 4).collect();
    let found = join_all(asked.iter().map(|id| store.profile(*id))).await;
    for (id, profile) in asked.into_iter().zip(found) {
        let own = profile.unwrap().map(|profile| (profile.user.id, profile.balance.available));
        let place = people.iter().position(|person| *person == id);
        let cents = place.map(|place| i128::try_from(place).unwrap() + 1);
        assert_eq!(own, cents.map(|cents| (id, Money::from_minor(cents))));
    }
}

async fn crowd() -> (TestDirectory, Arc<SqliteStore>, Vec<UserId>) {
    let directory = TestDirectory::create();
    let store = Arc::new(open(directory.path()).unwrap());
    let mut people = Vec::new();
    for cents in 1..=40 {
        people.push(guest(&store, cents).await);
    }
    (directory, store, people)
}

/// Runs work on a thread with a runtime of its own, like a web worker.
fn on_a_worker<F: Future<Output = ()>>(work: impl FnOnce() -> F + Send + 'static) {
    let run = || Builder::new_current_thread().enable_all().build().unwrap().block_on(work());
    thread::spawn(run).join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_readers_get_their_own_rows() {
    let (_directory, store, people) = crowd().await;
    each_reader_gets_their_own_row(&store, &people).await;
    on_a_worker(move || async move { each_reader_gets_their_own_row(&store, &people).await });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_sees_every_earlier_acknowledged_write() {
    let (_directory, store, people) = crowd().await;
    let ada = people[0];
    for paid in 1..=50 {
        let plan = topup(&store, ada, 1).await;
        let (applied, _) = tokio::join!(store.apply(plan), store.profile(ada));
        applied.unwrap();
        let profile = store.profile(ada).await.unwrap().unwrap();
        assert_eq!(profile.balance.available, Money::from_minor(1 + paid));
    }
}
