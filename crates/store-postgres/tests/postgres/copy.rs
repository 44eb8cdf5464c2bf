//! Copies between PostgreSQL and SQLite: all tables and all values arrive, and no two stores serve at once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request::RequestFilter;
use cuepoint_domain::operation::KeyScope;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Ids, PasswordHash, Registered, SecurityLog, Store, Wallets};
use cuepoint_domain::security_log::{SecurityEvent, SecurityEventKind};
use cuepoint_domain::topup::TopupFilter;
use cuepoint_domain::user::User;
use cuepoint_domain::user::session::{ClientInfo, TokenHash};
use cuepoint_store_contract::Fixture;
use cuepoint_store_contract::histories::random_histories_agree_with_a_reference_model;
use cuepoint_store_postgres::testing::TestDatabase;
use cuepoint_store_postgres::{PostgresCopyEndpoint, PostgresStore};
use cuepoint_store_sql::copy::{self, Completion, Copied, CopyEndpoint, CopyRole, Report};
use cuepoint_store_sql::schema::{COUNTERS, TABLES};
use cuepoint_store_sql::table::{ColumnKind, Counting, Table};
use cuepoint_store_sql_tests::fixtures::until;
use cuepoint_store_sqlite::testing::TestDirectory;
use cuepoint_store_sqlite::{SqliteCopyEndpoint, SqliteStore};
use futures_util::future::BoxFuture;
use time::Duration;
use uuid::Uuid;

use crate::scenario::{client, guest, now, open, options, usd};

/// A row in every table that no history writes, and an id that was used but is purged.
const MORE: &str = "
    INSERT INTO bootstrap_operator (made_at) VALUES (now());
    INSERT INTO position_gaps SELECT max(position), max(position) + 1000000 FROM operations;
    INSERT INTO sessions SELECT 1007, min(id), now(), now(), now(), NULL, '2001:db8::1', 'Browser' FROM users;
    INSERT INTO sessions SELECT 1009, min(id), now(), now(), now(), now(), NULL, NULL FROM users;
    INSERT INTO sessions
        SELECT 1010, min(id), now(), now(), now() + '1 day', NULL, NULL, NULL, decode(repeat('e5', 32), 'hex') FROM users;
    INSERT INTO refresh_tokens (hash, session_id, issued_at, expires_at)
        VALUES (sha256('a'), 1007, now(), now()), (sha256('b'), 1009, now(), now());
    INSERT INTO login_networks (user_id, network, seen_at) SELECT min(id), '192.0.2.7/32', now() FROM users;
    INSERT INTO challenges (user_id, purpose, target, hash, issued_at, attempts)
        SELECT min(id), 'email', 'ä@example.com', sha256('a'), now(), 3 FROM users;
    INSERT INTO challenges (user_id, purpose, target, hash, issued_at, attempts, address)
        SELECT min(id), 'email_restore', 'ä@example.com', sha256('b'), now(), 0, 'Ä@example.com' FROM users;
    INSERT INTO phone_codes (number, network, sent_at)
        VALUES (sha256('a'), sha256('b'), now()), (sha256('c'), sha256('d'), now());
    DELETE FROM phone_codes WHERE number = sha256('c');
    INSERT INTO personal_tokens VALUES (1007, 'Äda''s display', sha256('d'), 'events:read gigs:read');
    INSERT INTO request_messages SELECT min(id), 'for Äda', now() FROM music_requests;
    INSERT INTO blocks SELECT min(id), max(id), now() FROM users;
    INSERT INTO security_events (kind, user_id, address, detail, at)
        SELECT 'logged_in', min(id), '192.0.2.1', E'line\nand \\ and \t', now() FROM users;
    INSERT INTO provider_messages (source, webhook_id, kind, reason_code, reference, received_at)
        VALUES ('payouts', 'm1', 'k', 'c', '5', now());
    INSERT INTO webhook_endpoints (owner_id, feed, url, types, state, secrets, cursor, created_at, lease, attempts)
        SELECT min(id), 'own', 'https://example.com', 'topup.created', 'active', E'new\nold 5', 3, now(), 4, 9
            FROM users;
    INSERT INTO webhook_deliveries (endpoint_id, position, attempts, next_at, failed_at) VALUES (1, 2, 3, now(), now());
    INSERT INTO webhook_attempts (endpoint_id, number, attempt, error, milliseconds, answer, at)
        VALUES (1, 9, 3, 'answer', 17, 'ä', now());
    UPDATE users SET latitude = -0.0, longitude = 13.4049999999999994, radius = 1e-300
        WHERE id = (SELECT min(id) FROM users) AND erased_at IS NULL";

/// A history's store on PostgreSQL.
struct Opened(Arc<dyn Store>);

impl Fixture for Opened {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0)
    }

    fn reopen(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async { self.store() })
    }
}

fn silent() -> Report {
    Arc::new(|_, _, _| {})
}

async fn copied(from: &dyn CopyEndpoint, to: &dyn CopyEndpoint, end: Completion) -> anyhow::Result<Copied> {
    static COPIES: AtomicU64 = AtomicU64::new(1);
    let id = Uuid::from_u64_pair(0, COPIES.fetch_add(1, Ordering::Relaxed));
    copy::copy(from, to, &usd(), id, end, &|_| Ok(()), &silent()).await
}

fn postgres(database: &TestDatabase) -> PostgresCopyEndpoint {
    PostgresCopyEndpoint::new(database.url().to_owned(), "--to", usd())
}

fn sqlite(directory: &TestDirectory) -> SqliteCopyEndpoint {
    SqliteCopyEndpoint::new(directory.path().to_owned(), usd())
}

/// The error of a refused copy, with its causes.
fn refusal<T: std::fmt::Debug>(refused: anyhow::Result<T>) -> String {
    format!("{:#}", refused.unwrap_err())
}

/// The next ids of a store.
async fn next_ids(endpoint: &dyn CopyEndpoint) -> Vec<i64> {
    let mut end = endpoint.open(CopyRole::Source).await.unwrap();
    let next_ids = end.next_ids().await.unwrap();
    end.close().await.unwrap();
    next_ids
}

/// What the ports of a store show of every user and every key.
async fn shown(store: &dyn Store, users: &[i64], keys: &[Vec<u8>]) -> Vec<String> {
    let (page, now) = (PageRequest::new(1, 100), now());
    let mut shown = Vec::new();
    for user in users.iter().map(|id| UserId::new(*id).unwrap()) {
        let requests = RequestFilter { requester: Some(user), dj: None, status: None, now };
        shown.push(format!("{:?}", store.profile(user).await.unwrap()));
        shown.push(format!("{:?}", store.requests(&requests, page).await.unwrap()));
        shown.push(format!("{:?}", store.entries(user, page).await.unwrap()));
        shown.push(format!("{:?}", store.topups(&TopupFilter::of(user), page).await.unwrap()));
        shown.push(format!("{:?}", store.blocks(user, page).await.unwrap()));
        shown.push(format!("{:?}", store.sessions(user, now, page).await.unwrap()));
    }
    // The cookie of `MORE`.
    let cookie = TokenHash([0xe5; 32]);
    let found = store.use_cookie(&cookie, None, Duration::days(90), now).await.unwrap().unwrap();
    assert!(found.principal(found.credential.0.began_at).is_ok(), "{found:?}");
    shown.push(format!("{found:?}"));
    for key in keys {
        let scope = KeyScope(key.as_slice().try_into().unwrap());
        shown.push(format!("{:?}", store.find_key(&scope).await.unwrap().unwrap()));
    }
    shown
}

/// Closes a store, and waits until PostgreSQL has noticed the end of its connections.
async fn close(store: &dyn Store, database: &TestDatabase) {
    store.close().await;
    let client = &client(database.url()).await;
    until("the store's connections are gone", || async move {
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' \
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        client.query_one(locks, &[]).await.unwrap().get::<_, i64>(0) == 0
    })
    .await;
}

/// A database with histories and a row in every table.
async fn history() -> TestDatabase {
    let database = TestDatabase::create().await;
    let store = Opened(Arc::new(open(database.url()).await));
    random_histories_agree_with_a_reference_model(&store, 6, 60).await;
    let guest = User::guest(store.0.next_user().await.unwrap(), None, now());
    assert_eq!(store.0.register(&guest, &PasswordHash::none(), None).await.unwrap(), Registered::Done);
    close(store.0.as_ref(), &database).await;
    client(database.url()).await.batch_execute(MORE).await.unwrap();
    database
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn copying_back_and_forth_between_the_stores_changes_no_data() {
    let (first, second) = (history().await, TestDatabase::empty().await);
    let client = client(first.url()).await;
    let column = |statement| client.query(statement, &[]);
    let users: Vec<i64> =
        column("SELECT id FROM users ORDER BY id").await.unwrap().iter().map(|row| row.get(0)).collect();
    let keys: Vec<Vec<u8>> =
        column("SELECT scope FROM idempotency_keys").await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(users.len() > 5 && keys.len() > 5);
    let store = open(first.url()).await;
    let before = shown(&store, &users, &keys).await;
    close(&store, &first).await;
    let ids = next_ids(&postgres(&first)).await;

    let (there, again) = (TestDirectory::create(), TestDirectory::create());
    let one = copied(&postgres(&first), &sqlite(&there), Completion::Commit).await.unwrap();
    let two = copied(&sqlite(&there), &postgres(&second), Completion::Commit).await.unwrap();
    let three = copied(&postgres(&second), &sqlite(&again), Completion::Commit).await.unwrap();
    for (table, digest) in &one.tables {
        assert!(digest.rows > 0, "{table} is empty");
    }
    assert_eq!(one.tables, two.tables);
    assert_eq!(two.tables, three.tables);
    assert_eq!((one.audited, two.audited), (two.audited, three.audited));
    assert_eq!(next_ids(&sqlite(&again)).await, ids);
    let codes = COUNTERS.iter().position(|counter| counter.name == "phone_codes").unwrap();
    assert_eq!((COUNTERS[codes].counting, ids[codes]), (Counting::Generated, 3));

    let store = SqliteStore::open(again.path(), usd()).unwrap();
    let after = shown(&store, &users, &keys).await;
    assert_eq!(after, before);
    let next = store.next_user().await.unwrap().get();
    assert!(!users.contains(&next), "the id {next} is used twice");
    store.close().await;
    for refused in [
        SqliteStore::open(there.path(), usd()).err(),
        PostgresStore::open(options(first.url()), usd()).await.err(),
        PostgresStore::open(options(second.url()), usd()).await.err(),
    ] {
        let message = format!("{:#}", refused.unwrap());
        assert!(message.contains("in use instead"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_copied_columns_and_counters_match_the_database() {
    let database = TestDatabase::create().await;
    let columns = "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns \
        WHERE table_schema = 'public' AND table_name NOT IN ('__diesel_schema_migrations', 'deployment') \
        AND table_name || '.' || column_name <> 'bootstrap_operator.singleton'";
    let rows = client(database.url()).await.query(columns, &[]).await.unwrap();
    let kind = |data_type: &str| match data_type {
        "smallint" | "integer" | "bigint" => ColumnKind::Integer,
        "boolean" => ColumnKind::Boolean,
        "text" => ColumnKind::Text,
        "double precision" => ColumnKind::Real,
        "numeric" => ColumnKind::Money,
        "timestamp with time zone" => ColumnKind::Time,
        "uuid" => ColumnKind::Id,
        "bytea" => ColumnKind::Bytes,
        "jsonb" => ColumnKind::Json,
        other => panic!("{other} is no type that this test knows"),
    };
    let stored: BTreeSet<String> =
        rows.iter().map(|row| format!("{} {:?}", row.get::<_, &str>(0), kind(row.get(1)))).collect();
    let copied: BTreeSet<String> = TABLES
        .iter()
        .flat_map(|table| {
            table.columns.iter().map(|column| format!("{}.{} {:?}", table.name, column.name, column.kind))
        })
        .collect();
    assert_eq!(stored.difference(&copied).collect::<Vec<_>>(), Vec::<&String>::new(), "only in the database");
    assert_eq!(copied.difference(&stored).collect::<Vec<_>>(), Vec::<&String>::new(), "only in the list");
    let sequences = "SELECT sequencename::text FROM pg_sequences WHERE schemaname = 'public'";
    let rows = client(database.url()).await.query(sequences, &[]).await.unwrap();
    let sequences: BTreeSet<&str> = rows.iter().map(|row| row.get(0)).collect();
    assert_eq!(sequences, COUNTERS.iter().map(|counter| counter.sequence).collect());
    let keys = "SELECT table_name || '.' || string_agg(column_name, ', ' ORDER BY ordinal_position) \
        FROM information_schema.key_column_usage WHERE constraint_name = table_name || '_pkey' GROUP BY table_name";
    let rows = client(database.url()).await.query(keys, &[]).await.unwrap();
    let keys: BTreeSet<&str> = rows.iter().map(|row| row.get(0)).collect();
    for table in TABLES.iter().filter(|table| table.name != "bootstrap_operator") {
        let key = format!("{}.{}", table.name, Table::names(table.key()));
        assert!(keys.contains(key.as_str()), "{key} is no key");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_dry_run_changes_nothing() {
    let (database, directory) = (history().await, TestDirectory::create());
    let before = next_ids(&postgres(&database)).await;
    for _ in 0..2 {
        copied(&postgres(&database), &sqlite(&directory), Completion::RollBack).await.unwrap();
    }
    let target = TestDatabase::create().await;
    let there = copied(&postgres(&database), &sqlite(&directory), Completion::Commit).await.unwrap();
    let sequence = "SELECT last_value FROM user_ids";
    let client = client(target.url()).await;
    let last: i64 = client.query_one(sequence, &[]).await.unwrap().get(0);
    let dry = copied(&sqlite(&directory), &postgres(&target), Completion::RollBack).await.unwrap();
    assert_eq!(dry.tables, there.tables);
    assert_eq!(last, client.query_one(sequence, &[]).await.unwrap().get::<_, i64>(0));
    assert_eq!(next_ids(&sqlite(&directory)).await, before);
    SqliteStore::open(directory.path(), usd()).unwrap().close().await;
    open(target.url()).await.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nonempty_targets_and_stores_in_use_are_refused() {
    let (database, directory) = (TestDatabase::create().await, TestDirectory::create());
    let refused = refusal(copied(&postgres(&database), &sqlite(&directory), Completion::Commit).await);
    assert!(refused.contains("never used"), "{refused}");
    let store = open(database.url()).await;
    guest(&store, 5_00).await;
    let refused = refusal(copied(&postgres(&database), &sqlite(&directory), Completion::Commit).await);
    assert!(refused.contains("the source: a server is connected"), "{refused}");
    close(&store, &database).await;
    let server = SqliteStore::open(directory.path(), usd()).unwrap();
    let refused = refusal(copied(&postgres(&database), &sqlite(&directory), Completion::Commit).await);
    assert!(
        refused.contains("the target: the data directory") && refused.contains("in use by pid"),
        "{refused}"
    );
    let event = SecurityEvent {
        kind: SecurityEventKind::AccessDenied,
        user: None,
        actor: None,
        session: None,
        client: ClientInfo { address: None, agent: None },
        detail: None,
        at: now(),
    };
    server.append(&event).await.unwrap();
    server.close().await;
    let refused = refusal(copied(&postgres(&database), &sqlite(&directory), Completion::Commit).await);
    assert!(refused.contains("is not empty: security_events has 1 rows"), "{refused}");
    let refused = refusal(copied(&postgres(&database), &postgres(&database), Completion::Commit).await);
    assert!(refused.contains("another kind of store"), "{refused}");
    // Nothing was marked.
    open(database.url()).await.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_ledger_is_not_copied() {
    let (database, directory) = (TestDatabase::create().await, TestDirectory::create());
    let store = open(database.url()).await;
    let user = guest(&store, 5_00).await;
    close(&store, &database).await;
    let tamper = format!("UPDATE wallets SET available = 6 WHERE user_id = {user}");
    client(database.url()).await.batch_execute(&tamper).await.unwrap();
    let refused = refusal(copied(&postgres(&database), &sqlite(&directory), Completion::Commit).await);
    assert!(refused.contains("the source, of which nothing was copied: the ledger is broken: "), "{refused}");
    assert!(refused.contains(&format!("wallet {user}")), "{refused}");
    open(database.url()).await.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reconnecting_servers_refuse_a_copied_database() {
    let (database, directory) = (TestDatabase::create().await, TestDirectory::create());
    let store = open(database.url()).await;
    let user = guest(&store, 5_00).await;
    let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let client = client(database.url()).await;
    // The server may reconnect in between, as long as the copy has not begun.
    let mut attempts = 0..50;
    loop {
        client.query(others, &[]).await.unwrap();
        match copied(&postgres(&database), &sqlite(&directory), Completion::Commit).await {
            Ok(_) => break,
            Err(error) => assert!(attempts.next().is_some(), "{error:#}"),
        }
    }
    let refused = store.balance(user).await.unwrap_err().to_string();
    assert!(refused.contains("copied to another store"), "{refused}");
    store.close().await;
}
