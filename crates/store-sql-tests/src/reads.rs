//! Reads, on every kind of thread.

use std::thread;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Money;
use cuepoint_domain::ports::Store;
use futures_util::future::join_all;
use tokio::runtime::Builder;

use crate::SqlFixture;
use crate::fixtures::{guest, topup};

/// Reads every user and an unknown id several times, concurrently.
pub async fn each_reader_gets_their_own_row(store: &dyn Store, users: &[UserId]) {
    let nobody = UserId::new(1 << 40).unwrap();
    let asked: Vec<UserId> =
        users.iter().chain([&nobody]).copied().cycle().take(users.len() * 4 + 4).collect();
    let found = join_all(asked.iter().map(|id| store.profile(*id))).await;
    for (id, profile) in asked.into_iter().zip(found) {
        let own = profile.unwrap().map(|profile| (profile.user.id, profile.balance.available));
        let place = users.iter().position(|user| *user == id);
        let cents = place.map(|place| i128::try_from(place).unwrap() + 1);
        assert_eq!(own, cents.map(|cents| (id, Money::from_minor(cents))));
    }
}

/// Forty guests; each has one cent more than the previous guest.
pub async fn crowd(store: &dyn Store) -> Vec<UserId> {
    let mut users = Vec::new();
    for cents in 1..=40 {
        users.push(guest(store, cents).await);
    }
    users
}

/// Runs work on a thread with a runtime of its own, like a web worker.
pub fn on_a_worker<F: Future<Output = ()>>(work: impl FnOnce() -> F + Send) {
    let run = || Builder::new_current_thread().enable_all().build().unwrap().block_on(work());
    thread::scope(|scope| scope.spawn(run).join().unwrap());
}

/// Reads on threads of the runtime, and on a thread with a runtime of its own.
pub async fn concurrent_readers_get_the_right_rows(database: &dyn SqlFixture) {
    let store = database.store();
    let users = crowd(store).await;
    each_reader_gets_their_own_row(store, &users).await;
    on_a_worker(|| each_reader_gets_their_own_row(store, &users));
}

/// Another read begins before each write.
pub async fn reads_see_every_acknowledged_write(database: &dyn SqlFixture) {
    let store = database.store();
    let users = crowd(store).await;
    let ada = users[0];
    for paid in 1..=50 {
        let plan = topup(store, ada, 1).await;
        let (applied, _) = tokio::join!(store.apply(plan), store.profile(ada));
        applied.unwrap();
        let profile = store.profile(ada).await.unwrap().unwrap();
        assert_eq!(profile.balance.available, Money::from_minor(1 + paid));
    }
}
