//! Recovery without a restart: from statements that stop working, read-only nodes, unreadable rows and fast
//! clocks.

use std::time::{Duration, Instant};

use cuepoint_domain::audit::Auditor;
use cuepoint_domain::gig::{DjCode, Gig, GigDetails, GuestLimit, QueueOrder};
use cuepoint_domain::ids::{GigId, TopupId, UserId};
use cuepoint_domain::music_request::{Addressee, NewRequest, Overdue, RequestTerms};
use cuepoint_domain::operation::{Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, plans};
use cuepoint_domain::ports::{
    Applied, ApplyError, Audit, GigRequests, Gigs, Ids, Ledger, MusicRequests, PasswordHash, People,
    Sessions, Store, Topups, Wallets, Withdrawals,
};
use cuepoint_domain::text::{Email, GigTitle, Line, MusicUrl};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Charge, Orders};
use cuepoint_domain::user::{ArtistType, User};
use cuepoint_domain::withdrawal::Move;
use cuepoint_store_postgres::testing::TestDatabase;
use cuepoint_store_postgres::{PostgresOptions, PostgresStore};
use cuepoint_store_sql_tests::reads::on_a_worker;
use futures_util::future::join_all;
use tokio_postgres::Client;

use crate::proxy::{Proxy, ProxyMode};
use crate::scenario::{
    amount, available, client, guest, metadata, now, open, options, topup, until, usd, withdrawal,
};

/// Ends every connection to the database but the test's own.
const END_OTHERS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
    WHERE datname = current_database() AND pid <> pg_backend_pid()";

async fn set_read_only(client: &Client, read_only: bool) {
    let set = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = VALUE', \
        current_database()); END $$";
    client.batch_execute(&set.replace("VALUE", if read_only { "on" } else { "off" })).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_are_applied_after_the_type_of_a_column_changes() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 10_00).await;
    let client = client(database.url()).await;
    client.batch_execute("ALTER TABLE operations ALTER COLUMN kind TYPE varchar(64)").await.unwrap();
    let plan = topup(&store, user, 5_00).await;
    assert!(matches!(store.apply(plan).await.unwrap(), Applied::Fresh(_)));
    assert_eq!(available(&store, user).await, 15_00);
    store.ready().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_writer_and_readers_discard_the_plans_that_they_made_for_an_empty_database() {
    let database = TestDatabase::create().await;
    let proxy = Proxy::before(database.url()).await;
    let store = open(&proxy.url(database.url())).await;
    let user = guest(&store, 0).await;
    until("the writer discards its plans", async || {
        store.apply(topup(&store, user, 1_00).await).await.unwrap();
        proxy.discards() > 0
    })
    .await;
    let by_writer = proxy.discards();
    on_a_worker(|| async {
        until("a reader discards its plans", async || {
            store.profile(user).await.unwrap();
            proxy.discards() > by_writer
        })
        .await;
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_not_ready_while_plans_cannot_be_committed() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 10_00).await;
    let mut client = client(database.url()).await;
    store.ready().await.unwrap();
    let blocking = client.transaction().await.unwrap();
    blocking.batch_execute("LOCK TABLE operations IN ACCESS EXCLUSIVE MODE").await.unwrap();
    // A commit proves readiness for a second.
    until("it is not ready", async || {
        let start = Instant::now();
        let ready = store.ready().await;
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        ready.is_err()
    })
    .await;
    blocking.rollback().await.unwrap();
    until("it is ready again", async || store.ready().await.is_ok()).await;
    store.apply(topup(&store, user, 5_00).await).await.unwrap();
    client.batch_execute("ALTER TABLE operations RENAME COLUMN reason TO purpose").await.unwrap();
    store.apply(topup(&store, user, 5_00).await).await.unwrap_err();
    store.ready().await.unwrap_err();
    client.batch_execute("ALTER TABLE operations RENAME COLUMN purpose TO reason").await.unwrap();
    store.apply(topup(&store, user, 5_00).await).await.unwrap();
    store.ready().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_node_is_not_used() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 10_00).await;
    let client = client(database.url()).await;
    let plan = topup(&store, user, 5_00).await;
    set_read_only(&client, true).await;
    client.batch_execute(END_OTHERS).await.unwrap();
    let refused = store.apply(plan.clone()).await.unwrap_err();
    assert!(matches!(refused, ApplyError::Unavailable(_)));
    store.balance(user).await.unwrap_err();
    store.revoked_since(now()).await.unwrap_err();
    store.ready().await.unwrap_err();
    set_read_only(&client, false).await;
    store.apply(plan).await.unwrap();
    assert_eq!(available(&store, user).await, 15_00);
    store.revoked_since(now()).await.unwrap();
    store.ready().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_without_its_startup_options_is_refused() {
    let database = TestDatabase::create().await;
    let url = format!("{}?options=-c%20cuepoint.options%3Ddropped", database.url());
    let error = PostgresStore::open(options(&url), usd()).await.err().unwrap();
    assert!(format!("{error:#}").contains("connection pooler"), "{error:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_row_fails_only_the_plans_that_read_it() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let (ill, well) = (guest(&store, 10_00).await, guest(&store, 10_00).await);
    let client = client(database.url()).await;
    let broken = format!("UPDATE wallets SET last_at = 'infinity' WHERE user_id = {ill}");
    client.batch_execute(&broken).await.unwrap();
    // A plan of this wallet alone first, so that the others wait for it and form one group.
    let mut plans = vec![topup(&store, ill, 1_00).await];
    for user in [well, ill, well, well] {
        plans.push(topup(&store, user, 1_00).await);
    }
    let answers = join_all(plans.into_iter().map(|plan| store.apply(plan))).await;
    let applied: Vec<bool> = answers.iter().map(Result::is_ok).collect();
    assert_eq!(applied, [false, true, false, true, true]);
    assert_eq!(available(&store, well).await, 13_00);
}

async fn dj(store: &PostgresStore) -> User {
    let id = store.next_user().await.unwrap();
    let email = Email::new(&format!("dj{id}@example.com")).unwrap();
    let mut dj = User::registered(id, Line::new("DJ").unwrap(), email, None, true, now());
    dj.dj.as_mut().unwrap().online = true;
    store.register(&dj, &PasswordHash("hash".into()), None).await.unwrap();
    dj
}

fn terms() -> RequestTerms {
    RequestTerms::default()
}

fn request_to(dj: &User) -> NewRequest {
    NewRequest {
        dj: dj.id,
        song_title: Line::new("Blue Monday").unwrap(),
        artist_name: Line::new("New Order").unwrap(),
        artist_type: ArtistType::Popular,
        music_url: Some(MusicUrl::new("https://example.com/").unwrap()),
        fee: None,
        message: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_rows_are_skipped_in_lists_of_due_work() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let (user, dj) = (guest(&store, 100_00).await, dj(&store).await);
    let (mut requests, mut due, mut topups) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        let id = store.next_request().await.unwrap();
        let terms = terms();
        let plan = plans::open_request(
            metadata(&store, user),
            id,
            user,
            Addressee::of(Some(&dj)),
            request_to(&dj),
            &terms,
        );
        store.apply(plan.unwrap()).await.unwrap();
        requests.push(id);
        let opened = withdrawal(&store, user, 1_00, "T1").await;
        store.apply(opened).await.unwrap();
        let all = store.withdrawals(&cuepoint_domain::withdrawal::WithdrawalFilter::of(user), page()).await;
        let newest = all.unwrap().rows.into_iter().max_by_key(|one| one.id).unwrap();
        let approve = Move::Approve { by: Some(dj.id), second_above: None };
        store.apply(plans::move_withdrawal(metadata(&store, user), &newest, approve).unwrap()).await.unwrap();
        due.push(newest.id);
        topups.push(ordered_topup(&store, user, now()).await);
    }
    let client = client(database.url()).await;
    // A sum with more decimals than the currency, and a time that Rust cannot represent.
    let (request, withdrawal, topup) = (requests[0], due[0], topups[0]);
    let broken = format!(
        "UPDATE music_requests SET fee = 0.001 WHERE id = {request}; \
         UPDATE withdrawals SET created_at = '-infinity' WHERE id = {withdrawal}; \
         UPDATE topups SET created_at = '-infinity' WHERE id = {topup}"
    );
    client.batch_execute(&broken).await.unwrap();
    let later = now().plus(time::Duration::days(1));
    let overdue = Overdue { requester: None, now: later, after: None, limit: 2 };
    let found: Vec<_> = store.overdue(&overdue).await.unwrap().iter().map(|one| one.id).collect();
    assert_eq!(found, requests[1..]);
    let gig = gig_of(dj.id);
    let found = store.gig_requests(&gig, GigRequests::Open, now().minus(time::Duration::days(1))).await;
    let found: Vec<_> = found.unwrap().iter().map(|one| one.id).collect();
    assert_eq!(found, requests[1..], "the fees of the others can be released");
    let found: Vec<_> = store.due_payouts(later, 2).await.unwrap().iter().map(|one| one.id).collect();
    assert_eq!(found, due[1..]);
    let found: Vec<_> = store.due_orders(later, 2).await.unwrap().iter().map(|one| one.id).collect();
    assert_eq!(found, topups[1..]);
}

/// A gig of this DJ that is not stored.
fn gig_of(dj: UserId) -> Gig {
    Gig {
        id: GigId::new(1).unwrap(),
        dj,
        code: DjCode::new("K7TW3M").unwrap(),
        details: GigDetails {
            title: GigTitle::new("Friday").unwrap(),
            venue: None,
            city: None,
            coordinates: None,
            message: None,
            queue_order: QueueOrder::Rounds,
            max_open_per_guest: GuestLimit::default(),
            members_only: false,
            asks_kind: false,
        },
        opened_at: now(),
        ended_at: None,
        settled: false,
    }
}

/// A top-up that is due to be ordered again at this time.
async fn ordered_topup(store: &PostgresStore, user: UserId, next_at: Timestamp) -> TopupId {
    let id = store.next_topup().await.unwrap();
    let charge = Charge::Ordered(Orders { attempts: 1, next_at: Some(next_at) });
    store.apply(plans::open_topup(metadata(store, user), id, user, amount(1_00), charge)).await.unwrap();
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topup_that_an_older_server_ended_gets_no_more_payment_requests() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 0).await;
    let (ended, other) = (ordered_topup(&store, user, now()).await, ordered_topup(&store, user, now()).await);
    let as_it_ends = format!("UPDATE topups SET status = 'failed', updated_at = now() WHERE id = {ended}");
    client(database.url()).await.batch_execute(&as_it_ends).await.unwrap();
    let due = store.due_orders(now().plus(time::Duration::days(1)), 10).await.unwrap();
    assert_eq!(due.iter().map(|one| one.id).collect::<Vec<_>>(), [other]);
    let stored = store.topup(ended).await.unwrap().unwrap();
    assert_eq!(stored.orders, Some(Orders { attempts: 1, next_at: None }));
}

fn page() -> cuepoint_domain::page::PageRequest {
    cuepoint_domain::page::PageRequest::new(1, 100)
}

/// The current time of the database's clock, as a server sees it with a clock this far ahead.
async fn ahead(client: &Client, days: i64) -> Timestamp {
    let micros: i64 = client
        .query_one("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", &[])
        .await
        .unwrap()
        .get(0);
    Timestamp::from_unix_micros(micros).plus(time::Duration::days(days))
}

#[tokio::test(flavor = "multi_thread")]
async fn fast_clocks_neither_expire_nor_purge_rows_early() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let client = client(database.url()).await;
    let (user, dj, present) = (guest(&store, 100_00).await, dj(&store).await, ahead(&client, 0).await);
    let key = IdempotencyKey { scope: KeyScope([7; 32]), fingerprint: Fingerprint([8; 32]) };
    let keyed =
        OperationMetadata { key: Some(key), ..OperationMetadata::by(user, store.operation(), present) };
    let id = store.next_request().await.unwrap();
    let terms = terms();
    let plan =
        plans::open_request(keyed, id, user, Addressee::of(Some(&dj)), request_to(&dj), &terms).unwrap();
    store.apply(plan).await.unwrap();
    ordered_topup(&store, user, present.plus(time::Duration::MINUTE)).await;
    for days in [40, 400] {
        let wrong = ahead(&client, days).await;
        store.purge_expired(wrong).await.unwrap();
        assert!(store.find_key(&key.scope).await.unwrap().is_some(), "{days} days ahead");
        let overdue = Overdue { requester: None, now: wrong, after: None, limit: 10 };
        assert_eq!(store.overdue(&overdue).await.unwrap(), [], "{days} days ahead");
        assert_eq!(store.due_orders(wrong, 10).await.unwrap(), [], "{days} days ahead");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_responds_while_the_ledger_audit_waits() {
    let database = TestDatabase::create().await;
    let url = database.url().to_owned();
    let store = PostgresStore::open(PostgresOptions { pool_size: 1, ..options(&url) }, usd()).await.unwrap();
    let mut client = client(&url).await;
    let blocking = client.transaction().await.unwrap();
    blocking.batch_execute("LOCK TABLE postings IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let mut auditor = Auditor::new();
    tokio::select! {
        shown = store.show(&mut auditor) => panic!("the audit did not wait: {shown:?}"),
        () = async {
            // Every block of ids is fetched through the pool.
            for _ in 0..100 {
                store.next_adjustment().await.unwrap();
            }
        } => {}
    }
    blocking.rollback().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_of_another_server_is_replayed_after_a_lost_commit_answer() {
    let database = TestDatabase::create().await;
    let proxy = Proxy::before(database.url()).await;
    let store = open(&proxy.url(database.url())).await;
    let other = open(database.url()).await;
    let user = guest(&store, 10_00).await;
    let known = topup(&store, user, 5_00).await;
    other.apply(known.clone()).await.unwrap();
    let fresh = topup(&store, user, 1_00).await;
    proxy.turn(ProxyMode::LosesCommitAnswer);
    let (fresh, known) = tokio::join!(store.apply(fresh), store.apply(known));
    assert!(matches!(fresh.unwrap(), Applied::Fresh(_)));
    assert!(matches!(known.unwrap(), Applied::Replayed(_)));
    assert_eq!(available(&store, user).await, 16_00);
}
