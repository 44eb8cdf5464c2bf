//! Several servers on one database.

use cuepoint_domain::ledger::Auditor;
use cuepoint_domain::plans;
use cuepoint_domain::ports::{Applied, Audit, Ids, Ledger};
use cuepoint_domain::topup::Charge;
use cuepoint_store_postgres::testing::TestDatabase;
use futures_util::future::{join_all, try_join_all};

use crate::world::{amount, available, guest, open, topup, withdrawal};

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_sent_to_two_servers_is_applied_once() {
    let database = TestDatabase::create().await;
    let (one, other) = (open(database.url()).await, open(database.url()).await);
    let (ada, bob) = (guest(&one, 0).await, guest(&one, 0).await);
    for _ in 0..20 {
        let first = topup(&one, ada, 1_00).await;
        // Another person's, so that no lock holds the servers apart: the operation's key alone does.
        let origin = first.origin().clone();
        let id = one.next_topup().await.unwrap();
        let second = plans::open_topup(origin, id, bob, amount(1_00), Charge::Confirmed);
        let answers = tokio::join!(one.apply(first), other.apply(second));
        let (first, second) = (answers.0.unwrap(), answers.1.unwrap());
        assert_eq!(first.receipt(), second.receipt());
        let fresh = [first, second].iter().filter(|one| matches!(one, Applied::Fresh(_))).count();
        assert_eq!(fresh, 1);
    }
    assert_eq!(available(&one, ada).await + available(&one, bob).await, 20_00);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_spend_a_wallet_once_and_never_wait_for_each_other_for_ever() {
    let database = TestDatabase::create().await;
    let servers = join_all((0..3).map(|_| open(database.url()))).await;
    let mut users = Vec::new();
    for _ in 0..6 {
        users.push(guest(&servers[0], 50_00).await);
    }
    let mut plans = Vec::new();
    for round in 0..60 {
        for server in &servers {
            let user = users[round % users.len()];
            plans.push((server, withdrawal(server, user, 5_00, "T1").await));
        }
    }
    let answers = join_all(plans.into_iter().map(|(server, plan)| server.apply(plan))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 60);
    for user in users {
        assert_eq!(available(&servers[1], user).await, 0);
    }
    let mut auditor = Auditor::new();
    servers[2].show(&mut auditor).await.unwrap();
    assert_eq!(auditor.finish().unwrap().entries, 66);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_hand_out_different_ids_from_one_on() {
    let database = TestDatabase::create().await;
    let (one, other) = (open(database.url()).await, open(database.url()).await);
    let (from_one, from_other) = tokio::join!(
        try_join_all((0..100).map(|_| one.next_request())),
        try_join_all((0..100).map(|_| other.next_request())),
    );
    let mut ids: Vec<i64> =
        from_one.unwrap().into_iter().chain(from_other.unwrap()).map(|id| id.get()).collect();
    ids.sort_unstable();
    assert_eq!(ids[0], 1);
    ids.dedup();
    assert_eq!(ids.len(), 200);
}
