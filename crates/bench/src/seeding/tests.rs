//! The seeded history could be the service's own: the ledger audit passes on it, and the service continues
//! from it.

use std::sync::Arc;

use cuepoint_domain::audit::{Auditor, Summary};
use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::music_request::{Move, RequestFilter, RequestStatus, RequestTerms};
use cuepoint_domain::operation::{Entity, OperationMetadata, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::Store;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::withdrawal::{NewWithdrawal, WithdrawalAmount, WithdrawalTerms};
use cuepoint_store_postgres::{PostgresOptions, PostgresStore};
use time::Duration;
use tokio_postgres::NoTls;

use super::{Population, Scale, seed_memory, seed_postgres};
use crate::limits::FREEZE;

fn population() -> Population {
    Population::at_scale("0.005".parse::<Scale>().unwrap())
}

/// A time long after the end of the history, before any open entity in it expires.
fn now() -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_000).plus(Duration::days(365))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pgbench_schema_accepts_every_seeded_row() {
    let url = database("frozen").await;
    seed_postgres(&url, &population()).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let count = async |schema: &str| {
        let mut counts = Vec::<i64>::new();
        for table in ["users", "wallets", "music_requests", "withdrawals", "operations", "ledger_entries"] {
            let query = format!("SELECT count(*) FROM {schema}.{table}");
            counts.push(client.query_one(&query, &[]).await.unwrap().get(0));
        }
        counts
    };
    let seeded = count("public").await;
    client.batch_execute(FREEZE).await.unwrap();
    assert_eq!(count("public").await, seeded);
    assert!(seeded.iter().all(|rows| *rows > 0), "{seeded:?}");
}

/// Returns the URL of an empty database for one test, removed with its cluster.
#[expect(clippy::disallowed_methods, reason = "only the environment names the cluster")]
async fn database(name: &str) -> String {
    let cluster = std::env::var("CUEPOINT_TEST_POSTGRES_URL").expect("run `cargo xtask test`");
    let (client, connection) = tokio_postgres::connect(&cluster, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).await.unwrap();
    client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
    let (server, _) = cluster.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_seeded_database_passes_the_ledger_audit() {
    let url = database("seeded").await;
    seed_postgres(&url, &population()).await.unwrap();
    assert!(seed_postgres(&url, &population()).await.is_err(), "a database with users was seeded again");
    let options = PostgresOptions { url, pool_size: 2, migrate_on_start: false };
    let store = Arc::new(PostgresStore::open(options, Currency::new("USD", 2).unwrap()).await.unwrap());
    let audited = holds_the_history(store.clone()).await;
    store.close().await;
    let memory = seed_memory(&population()).await.unwrap();
    assert_eq!(holds_the_history(Arc::new(memory)).await, audited);
}

/// Audits a freshly seeded store, moves money in it, audits it again, and returns the summary of the first
/// audit.
async fn holds_the_history(store: Arc<dyn Store>) -> Summary {
    let audited = audit(&*store).await;
    reads(&*store).await;
    goes_on(&*store).await;
    let later = audit(&*store).await;
    assert_eq!(
        (later.entries, later.entities),
        (audited.entries.saturating_add(4), audited.entities.saturating_add(2))
    );
    audited
}

async fn audit(store: &dyn Store) -> Summary {
    let mut auditor = Auditor::new();
    store.show(&mut auditor).await.unwrap();
    auditor.finish().unwrap_or_else(|finding| panic!("{finding}"))
}

/// Compares the description of the population with the stored data.
async fn reads(store: &dyn Store) {
    let population = population();
    for user in population.users() {
        let profile = store.profile(user).await.unwrap().unwrap();
        assert_eq!(profile.user.is_dj(), population.is_dj(user));
        assert!(profile.balance.available > Money::from_minor(900_000_000), "{user} is short of money");
    }
    let mut pending = 0;
    for dj in population.djs() {
        let filter =
            RequestFilter { requester: None, dj: Some(dj), status: Some(RequestStatus::Pending), now: now() };
        let page = store.requests(&filter, PageRequest::new(1, 15)).await.unwrap();
        pending = page.total.saturating_add(pending);
    }
    assert_eq!(usize::try_from(pending).unwrap(), population.pending().count());
    for (id, dj) in population.pending() {
        let request = store.request(id).await.unwrap().unwrap();
        assert_eq!((request.dj, request.state.seen_at(now()).status()), (dj, RequestStatus::Pending));
    }
    for long in population.wallets_with_history() {
        let entries = store.entries(long.user, PageRequest::new(1, 15)).await.unwrap();
        assert_eq!(
            (entries.total, entries.rows.first().unwrap().seq),
            (long.entries.into(), long.entries.into())
        );
    }
}

/// Plays a request, and makes a withdrawal and a top-up, all with fresh ids.
async fn goes_on(store: &dyn Store) {
    let (id, dj) = population().pending().next().unwrap();
    let request = store.request(id).await.unwrap().unwrap();
    let terms = RequestTerms::default();
    let played = plans::move_request(metadata(store, dj), &request, Move::Play, &terms).unwrap();
    store.apply(played).await.unwrap();
    let amount = Amount::new(Money::from_minor(100)).unwrap();
    let new = NewWithdrawal {
        amount: WithdrawalAmount::new(amount, &Currency::new("USD", 2).unwrap()).unwrap(),
        wallet_address: Line::new("bc1q").unwrap(),
        currency: Line::new("BTC").unwrap(),
        network: Line::new("bitcoin").unwrap(),
    };
    let withdrawal = store.next_withdrawal().await.unwrap();
    let opened =
        plans::open_withdrawal(metadata(store, dj), withdrawal, dj, new, &WithdrawalTerms::default());
    store.apply(opened.unwrap()).await.unwrap();
    let amount = Amount::new(Money::from_minor(1)).unwrap();
    let topup = store.next_topup().await.unwrap();
    let opened = plans::open_topup(metadata(store, dj), topup, dj, amount, Charge::Confirmed);
    let applied = store.apply(opened).await.unwrap();
    assert!(matches!(&applied.receipt().outcome.entity, Entity::Topup(opened) if opened.id == topup));
    let user = store.next_user().await.unwrap();
    assert_eq!(store.profile(user).await.unwrap(), None);
    let request = store.next_request().await.unwrap();
    assert_eq!(store.request(request).await.unwrap(), None);
}

fn metadata(store: &dyn Store, user: cuepoint_domain::ids::UserId) -> OperationMetadata {
    OperationMetadata::by(user, store.operation(), now())
}
