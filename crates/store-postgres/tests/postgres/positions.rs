//! Positions of operations over several servers, and during a roll-out.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use cuepoint_domain::audit::Auditor;
use cuepoint_domain::operation::Position;
use cuepoint_domain::ports::{Applied, ApplyError, Audit, Ids, Ledger, OperationLog};
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use futures_util::future::{join_all, poll_immediate};
use tokio::time::timeout;
use tokio_postgres::Client;

use crate::scenario::{HOLD_POSITIONS, client, guest, open, request, topup, until, until_waiting};

/// Operations as servers of an earlier version commit them, one for each second before those of the tests.
const OF_AN_EARLIER_VERSION: &str = "INSERT INTO operations (id, kind, at, receipt) \
    SELECT gen_random_uuid(), 'profile', timestamptz '2025-12-31 23:00Z' + number * interval '1 second', \
    '{\"profile\": {\"user\": {\"id\": 1}}}' FROM generate_series(1, 2500) AS number ORDER BY random()";

async fn positions(store: &PostgresStore) -> Vec<i64> {
    let all = store.operations(None, Position::START, 10_000).await.unwrap();
    all.operations.iter().map(|operation| operation.position.get()).collect()
}

/// The audit's finding.
async fn finding(store: &PostgresStore) -> Option<String> {
    let mut auditor = Auditor::new();
    store.show(&mut auditor).await.unwrap();
    auditor.finish().err().map(|finding| finding.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_wait_for_earlier_positions_of_other_servers() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 0).await;
    let (other, observer) = (client(database.url()).await, client(database.url()).await);
    let begin = "BEGIN; SELECT pg_advisory_xact_lock(4, 0); \
        INSERT INTO operations (id, kind, at, receipt, position) \
        SELECT gen_random_uuid(), 'profile', now(), '{\"profile\": {\"user\": {\"id\": 1}}}', \
        coalesce(max(position), 0) + 1 FROM operations";
    other.batch_execute(begin).await.unwrap();
    let mut later = store.apply(topup(&store, user, 1_00).await);
    assert!(poll_immediate(&mut later).await.is_none());
    until_waiting(&observer, 1).await;
    assert_eq!(positions(&store).await, [0; 0], "no later position is visible before the earlier one");
    other.batch_execute("COMMIT").await.unwrap();
    later.await.unwrap();
    assert_eq!(positions(&store).await, [1, 2]);
    assert_eq!(finding(&store).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_groups_of_one_server_wait_for_their_positions_together() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let (ada, bob) = (guest(&store, 0).await, guest(&store, 0).await);
    let (row, lock) = (client(database.url()).await, client(database.url()).await);
    let observer = client(database.url()).await;
    row.batch_execute(&format!("BEGIN; SELECT FROM wallets WHERE user_id = {ada} FOR UPDATE")).await.unwrap();
    let mut first = store.apply(topup(&store, ada, 1_00).await);
    assert!(poll_immediate(&mut first).await.is_none());
    until_waiting(&observer, 1).await;
    let mut second = store.apply(topup(&store, bob, 1_00).await);
    assert!(poll_immediate(&mut second).await.is_none());
    lock.batch_execute(HOLD_POSITIONS).await.unwrap();
    row.batch_execute("ROLLBACK").await.unwrap();
    until_waiting(&observer, 2).await;
    lock.batch_execute("ROLLBACK").await.unwrap();
    for applied in [first.await, second.await] {
        assert!(matches!(applied, Ok(Applied::Fresh(_))), "{applied:?}");
    }
    assert_eq!(positions(&store).await, [1, 2]);
    assert_eq!(finding(&store).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_that_wait_too_long_for_their_positions_change_nothing() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let (ada, bob) = (guest(&store, 0).await, guest(&store, 0).await);
    let lock = client(database.url()).await;
    lock.batch_execute(HOLD_POSITIONS).await.unwrap();
    let start = Instant::now();
    let (first, second) = (topup(&store, ada, 1_00).await, topup(&store, bob, 1_00).await);
    let refused = tokio::join!(store.apply(first.clone()), store.apply(second.clone()));
    for refused in [refused.0, refused.1] {
        assert!(matches!(refused, Err(ApplyError::Unavailable(_))), "{refused:?}");
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    lock.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(positions(&store).await, [0; 0]);
    let applied = tokio::join!(store.apply(first), store.apply(second));
    for applied in [applied.0, applied.1] {
        assert!(matches!(applied, Ok(Applied::Fresh(_))), "{applied:?}");
    }
    assert_eq!(positions(&store).await, [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_of_older_servers_get_positions_oldest_first() {
    let database = TestDatabase::create().await;
    let (store, other) = (open(database.url()).await, open(database.url()).await);
    let user = guest(&store, 1_00).await;
    let client = client(database.url()).await;
    client.batch_execute(OF_AN_EARLIER_VERSION).await.unwrap();
    assert_eq!(positions(&store).await, [1], "an operation without a position is not listed");
    assert!(finding(&store).await.unwrap().contains("has no position"));
    let assigned = join_all([&store, &other].map(|store| async move {
        let mut assigned = 0;
        loop {
            match store.assign_positions(1_000).await.unwrap() {
                0 => return assigned,
                batch => assigned += batch,
            }
        }
    }))
    .await;
    assert_eq!(assigned.iter().sum::<u32>(), 2_500);
    store.apply(topup(&store, user, 1_00).await).await.unwrap();
    assert_eq!(positions(&store).await, (1..=2_502).collect::<Vec<i64>>());
    let unordered = "SELECT count(*) FROM (SELECT at, lag(at) OVER (ORDER BY position) AS before FROM operations \
        WHERE position BETWEEN 2 AND 2501) AS pair WHERE at < before";
    assert_eq!(client.query_one(unordered, &[]).await.unwrap().get::<_, i64>(0), 0);
    assert_eq!(finding(&store).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_from_before_positions_existed_have_no_position() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let client = client(database.url()).await;
    client.batch_execute(OF_AN_EARLIER_VERSION).await.unwrap();
    client.batch_execute("UPDATE operations SET position = NULL").await.unwrap();
    assert_eq!(store.assign_positions(1_000).await.unwrap(), 0);
    guest(&store, 1_00).await;
    assert_eq!(positions(&store).await, [1]);
    assert_eq!(finding(&store).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_groups_of_two_servers_get_consecutive_positions() {
    let database = TestDatabase::create().await;
    let stores = [open(database.url()).await, open(database.url()).await];
    let users = [guest(&stores[0], 0).await, guest(&stores[1], 0).await];
    let mut plans = Vec::new();
    for number in 0..200 {
        let (store, user) = (&stores[number % 2], users[number % 2]);
        plans.push(store.apply(topup(store, user, 1_00).await));
    }
    assert!(join_all(plans).await.iter().all(Result::is_ok));
    assert_eq!(positions(&stores[0]).await, (1..=200).collect::<Vec<i64>>());
    let all = stores[1].operations(None, Position::START, 1_000).await.unwrap();
    let distinct: HashSet<_> = all.operations.iter().map(|operation| operation.receipt.operation()).collect();
    assert_eq!(distinct.len(), 200);
}

/// Committed by a server of an earlier version: without a position and the users whom it concerns.
const AS_AN_EARLIER_VERSION: &str = "UPDATE operations SET position = 0, owner_id = NULL, dj_id = NULL";

#[tokio::test(flavor = "multi_thread")]
async fn operations_of_older_servers_are_listed_only_after_getting_positions() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let (user, dj) = (guest(&store, 100_00).await, guest(&store, 0).await);
    store.apply(request(&store, user, dj).await).await.unwrap();
    let listed = async |user| store.operations(Some(user), Position::START, 10).await.unwrap().operations;
    let (of_guest, of_dj) = (listed(user).await, listed(dj).await);
    assert_eq!((of_guest.len(), of_dj.len()), (2, 1));
    client(database.url()).await.batch_execute(AS_AN_EARLIER_VERSION).await.unwrap();
    assert_eq!((listed(user).await, listed(dj).await), (vec![], vec![]));
    assert_eq!(store.assign_positions(10).await.unwrap(), 2);
    assert_eq!((listed(user).await, listed(dj).await), (of_guest, of_dj));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_plan_with_a_taken_id_fails() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let (user, dj) = (guest(&store, 100_00).await, guest(&store, 0).await);
    let plan = request(&store, user, dj).await;
    // As after a failover that repeats numbers: another server's request, which this one has not loaded.
    let taken = store.next_request().await.unwrap().get() - 1;
    let holder = client(database.url()).await;
    let add = format!(
        "BEGIN; INSERT INTO music_requests (id, requester_id, dj_id, song_title, artist_name, artist_type, music_url, fee, \
         status, expires_at, changed_at, created_at) SELECT {taken}, {dj}, {user}, 's', 'a', 'popular', 'https://example.com', \
         0, 'pending', now(), now(), now()",
        dj = dj.get(),
        user = user.get(),
    );
    holder.batch_execute(&add).await.unwrap();
    let mut colliding = store.apply(plan);
    assert!(poll_immediate(&mut colliding).await.is_none());
    until_waiting(&client(database.url()).await, 1).await;
    let other = store.apply(topup(&store, user, 1_00).await);
    holder.batch_execute("COMMIT").await.unwrap();
    let refused = colliding.await;
    assert!(refused.is_err(), "{refused:?}");
    other.await.unwrap();
    assert_eq!(finding(&store).await, None);
}

/// Without polling: the other server's notification alone.
#[tokio::test(flavor = "multi_thread")]
async fn commits_of_other_servers_are_announced_without_polling() {
    let database = TestDatabase::create().await;
    let (one, other) = (open(database.url()).await, open(database.url()).await);
    let ada = guest(&one, 0).await;
    let client = client(database.url()).await;
    until("both servers listen", || async {
        let listening = "SELECT count(*) FROM pg_stat_activity \
            WHERE datname = current_database() AND query LIKE '%LISTEN cuepoint_commits'";
        client.query_one(listening, &[]).await.unwrap().get::<_, i64>(0) == 2
    })
    .await;
    // That it has begun to listen.
    let mut seen = other.announced_after(0).await;
    for _ in 0..5 {
        one.apply(topup(&one, ada, 1_00).await).await.unwrap();
        let heard = timeout(Duration::from_secs(5), other.announced_after(seen)).await;
        seen = heard.expect("the other server heard of the commit");
    }
    one.close().await;
    other.close().await;
}

/// The gaps, as a text.
async fn gaps(client: &Client) -> String {
    let all =
        "SELECT coalesce(string_agg(last || ' to ' || next, ', ' ORDER BY last), '') FROM position_gaps";
    client.query_one(all, &[]).await.unwrap().get(0)
}

/// Checks that there is one gap, that it begins after `last`, and that it ends at a time after `since`; returns the
/// position after it.
async fn only_gap(client: &Client, last: i64, since: i64) -> i64 {
    let all = "SELECT last, next FROM position_gaps";
    let gap = client.query_one(all, &[]).await.unwrap();
    let next = gap.get(1);
    assert_eq!(gap.get::<_, i64>(0), last);
    assert!((since..=now(client).await).contains(&next), "{since} {next}");
    next
}

/// The clock of the database, in microseconds since 1970.
async fn now(client: &Client) -> i64 {
    let clock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    client.query_one(clock, &[]).await.unwrap().get(0)
}

/// The noted timeline; -1 if none is.
async fn noted(client: &Client) -> i64 {
    let noted = "SELECT coalesce(timeline, -1) FROM deployment";
    client.query_one(noted, &[]).await.unwrap().get(0)
}

/// As after a promotion: the operations so far were committed on an earlier timeline than this node's, the first.
const FAIL_OVER: &str = "UPDATE deployment SET timeline = 0";

#[tokio::test(flavor = "multi_thread")]
async fn the_first_group_after_a_failover_leaves_one_gap() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 1_00).await;
    let client = client(database.url()).await;
    assert_eq!((noted(&client).await, gaps(&client).await), (1, String::new()));
    store.apply(topup(&store, user, 1_00).await).await.unwrap();
    let since = now(&client).await;
    client.batch_execute(FAIL_OVER).await.unwrap();
    let stores = [open(database.url()).await, open(database.url()).await];
    for number in 0..4 {
        let store = &stores[number % 2];
        store.apply(topup(store, user, 1_00).await).await.unwrap();
    }
    assert_eq!(noted(&client).await, 1);
    let next = only_gap(&client, 2, since).await;
    assert_eq!(positions(&store).await, [1, 2, next, next + 1, next + 2, next + 3]);
    assert_eq!(finding(&store).await, None);
    for (after, lost_after) in
        [(2, None), (3, Some(2)), (next - 1, Some(2)), (next, None), (next + 4, Some(next + 3))]
    {
        let after = Position::new(after).unwrap();
        let page = store.operations(Some(user), after, 10).await.unwrap();
        assert_eq!(page.lost_after(after).map(Position::get), lost_after, "{after}");
    }
    client.batch_execute("DELETE FROM position_gaps").await.unwrap();
    let finding = finding(&store).await.unwrap();
    assert!(finding.contains(&format!("{next} where position 3 should be")), "{finding}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_reconnects_after_a_failover_records_one_gap() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 1_00).await;
    let client = client(database.url()).await;
    let since = now(&client).await;
    client.batch_execute(FAIL_OVER).await.unwrap();
    let others = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    client.query_one(others, &[]).await.unwrap();
    store.apply(topup(&store, user, 1_00).await).await.unwrap();
    assert_eq!(noted(&client).await, 1);
    only_gap(&client, 1, since).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unrecorded_timeline_without_a_failover_leaves_no_gap() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let client = client(database.url()).await;
    assert_eq!(noted(&client).await, 1, "the first start notes it");
    client.batch_execute("UPDATE deployment SET timeline = NULL").await.unwrap();
    let user = guest(&store, 1_00).await;
    store.apply(topup(&store, user, 1_00).await).await.unwrap();
    assert_eq!((noted(&client).await, gaps(&client).await), (1, String::new()));
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_leave_no_gap_before_the_upgrade_is_finalized() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 1_00).await;
    let client = client(database.url()).await;
    client.batch_execute("UPDATE deployment SET feature_level = 1, timeline = NULL").await.unwrap();
    let early = open(database.url()).await;
    early.apply(topup(&early, user, 1_00).await).await.unwrap();
    assert_eq!((noted(&client).await, gaps(&client).await), (-1, String::new()));
    assert_eq!(positions(&store).await, [1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn positions_assigned_after_a_failover_follow_the_gap() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 1_00).await;
    let client = client(database.url()).await;
    store.apply(topup(&store, user, 1_00).await).await.unwrap();
    client.batch_execute("UPDATE operations SET position = 0 WHERE position = 2").await.unwrap();
    let since = now(&client).await;
    client.batch_execute(FAIL_OVER).await.unwrap();
    assert_eq!(store.assign_positions(10).await.unwrap(), 1);
    assert_eq!(noted(&client).await, 1);
    let next = only_gap(&client, 1, since).await;
    store.apply(topup(&store, user, 1_00).await).await.unwrap();
    assert_eq!(positions(&store).await, [1, next, next + 1]);
    assert_eq!(finding(&store).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_without_free_positions_changes_nothing() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 1_00).await;
    let client = client(database.url()).await;
    let last = format!("INSERT INTO position_gaps VALUES (1, {})", i64::MAX);
    client.batch_execute(&last).await.unwrap();
    store.apply(topup(&store, user, 1_00).await).await.unwrap();
    assert!(store.apply(topup(&store, user, 1_00).await).await.is_err());
    assert_eq!(positions(&store).await, [1, i64::MAX]);
}
