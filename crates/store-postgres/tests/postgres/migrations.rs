//! Migrations, and the first start.

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{People, PersonalRecords};
use cuepoint_domain::privacy::personal_data::{ExportList, ExportRecord};
use cuepoint_store_postgres::testing::TestDatabase;
use cuepoint_store_postgres::{PostgresOptions, PostgresStore, migrate};

use crate::scenario::{client, guest, open, options, usd};

/// Every object of the schema, one per line.
async fn objects(database: &TestDatabase) -> Vec<String> {
    let every = "
        SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
            FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL
        SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
            FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL
        SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL
        SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        UNION ALL
        SELECT 'sequence ' || sequence_name || ' ' || increment FROM information_schema.sequences
            WHERE sequence_schema = 'public'
        ORDER BY 1";
    let rows = client(database.url()).await.query(every, &[]).await.unwrap();
    rows.iter().map(|row| row.get::<_, String>(0)).filter(|object| !object.contains("__diesel")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn migrations_can_be_applied_reverted_and_reapplied() {
    let database = TestDatabase::empty().await;
    let applied = migrate(database.url()).await.unwrap();
    let up = objects(&database).await;
    assert!(!applied.is_empty() && !up.is_empty());
    assert_eq!(migrate(database.url()).await.unwrap(), Vec::<String>::new());
    database.revert().await.unwrap();
    assert_eq!(objects(&database).await, Vec::<String>::new());
    assert_eq!(migrate(database.url()).await.unwrap(), applied);
    assert_eq!(objects(&database).await, up);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_an_unreleased_state_is_refused_and_not_changed() {
    let database = TestDatabase::empty().await;
    migrate(database.url()).await.unwrap();
    let add = "INSERT INTO __diesel_schema_migrations (version) VALUES ('20261129000013')";
    client(database.url()).await.batch_execute(add).await.unwrap();
    let before = objects(&database).await;
    let migrated = format!("{:#}", migrate(database.url()).await.unwrap_err());
    for message in [migrated, refusal(options(database.url()), usd()).await] {
        assert!(
            message.contains(
                "an unreleased state of this program created the database (migration 20261129000013)"
            ),
            "{message}"
        );
    }
    assert_eq!(objects(&database).await, before);
}

const NETWORKS_OF_SESSIONS: &str =
    include_str!("../../../../migrations/postgres/2026-11-21-000026_networks_of_sessions/up.sql");

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_adds_the_networks_of_sessions_in_the_last_30_days() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 0).await;
    let client = client(database.url()).await;
    for (id, address, days) in [
        (1, "'192.0.2.7'", 1),
        (2, "'192.0.2.7'", 2),
        (3, "'2001:db8:0:1:2:3:4:5'", 3),
        (4, "'2001:0:0:1::7'", 4),
        (5, "'::1'", 5),
        (6, "'198.51.100.1'", 31),
        (7, "NULL", 1),
    ] {
        let began = format!("now() - interval '{days} days'");
        let row = format!(
            "INSERT INTO sessions (id, user_id, began_at, used_at, expires_at, address) \
             VALUES ({id}, {user}, {began}, now(), now() + interval '30 days', {address})"
        );
        client.batch_execute(&row).await.unwrap();
    }
    for _ in 0..2 {
        client.batch_execute(NETWORKS_OF_SESSIONS).await.unwrap();
        let known = store.records(user, ExportList::Networks, None, 15).await.unwrap();
        let network = |record: &ExportRecord| match record {
            ExportRecord::Network(_, known) => known.network.to_string(),
            other => panic!("no network: {other:?}"),
        };
        let mut networks: Vec<String> = known.iter().map(network).collect();
        networks.sort_unstable();
        assert_eq!(networks, ["192.0.2.7/32", "2001:0:0:1::/64", "2001:db8:0:1::/64", "::/64"]);
    }
}

const BOOTSTRAP_UP: &str =
    include_str!("../../../../migrations/postgres/2026-11-21-000052_bootstrap_operator/up.sql");
const BOOTSTRAP_DOWN: &str =
    include_str!("../../../../migrations/postgres/2026-11-21-000052_bootstrap_operator/down.sql");

/// Whether migration marks a database with these changes of its rows as one that had a first operator.
async fn has_first_operator(changes: &str) -> bool {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let user = guest(&store, 0).await;
    let client = client(database.url()).await;
    client.batch_execute(BOOTSTRAP_DOWN).await.unwrap();
    client.batch_execute(&changes.replace("$user", &user.to_string())).await.unwrap();
    client.batch_execute(BOOTSTRAP_UP).await.unwrap();
    store.has_first_operator().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_treats_any_current_or_former_operator_as_the_first_operator() {
    assert!(!has_first_operator("").await);
    assert!(has_first_operator("UPDATE users SET role = 'operator'").await);
    let erased = "UPDATE users SET role = 'operator', erased_at = now(), password_hash = '!', \
        email_folded = 'erased-$user'";
    assert!(has_first_operator(erased).await);
    let dismissed = "INSERT INTO operations (id, kind, actor_user_id, reason, at, receipt) \
        VALUES (gen_random_uuid(), 'role', $user, 'as agreed', now(), '{}')";
    assert!(has_first_operator(dismissed).await);
}

#[tokio::test]
async fn migrations_run_on_a_single_threaded_runtime() {
    let database = TestDatabase::empty().await;
    assert!(!migrate(database.url()).await.unwrap().is_empty());
}

async fn refusal(options: PostgresOptions, currency: Currency) -> String {
    format!("{:#}", PostgresStore::open(options, currency).await.expect_err("a refusal"))
}

#[tokio::test(flavor = "multi_thread")]
async fn unmigrated_databases_are_refused_without_migrate_on_start() {
    let database = TestDatabase::empty().await;
    let refusal = refusal(options(database.url()), usd()).await;
    assert!(refusal.contains("cuepoint migrate"), "{refusal}");
    let options = PostgresOptions { migrate_on_start: true, ..options(database.url()) };
    PostgresStore::open(options, usd()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_with_a_different_currency_or_scale_is_refused() {
    let database = TestDatabase::create().await;
    open(database.url()).await;
    open(database.url()).await;
    for (code, scale) in [("EUR", 2), ("USD", 3)] {
        let refusal = refusal(options(database.url()), Currency::new(code, scale).unwrap()).await;
        assert!(refusal.contains("uses USD with 2 decimals"), "{refusal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_error_names_its_cause_but_not_the_password() {
    let url = "postgres://app:hunter2@127.0.0.1:1/cuepoint";
    let refusal = refusal(options(url), usd()).await;
    assert!(refusal.contains("refused") && !refusal.contains("hunter2"), "{refusal}");
    assert!(!format!("{:?}", options(url)).contains("hunter2"));
}
