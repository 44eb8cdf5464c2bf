//! Personal data is read by indexes: an export reads no rows of other users, however many there are.

use cuepoint_domain::ports::PersonalRecords;
use cuepoint_domain::privacy::personal_data::{ExportList, ExportRecord};
use cuepoint_store_postgres::testing::TestDatabase;
use tokio_postgres::Client;

use crate::scenario::{client, guest, open};

/// The number of other users.
const OTHERS: i64 = 5_000;
/// The number of the user's rows in each list.
const OWN: i64 = 5;
/// Rows per page: a list has three pages.
const PAGE: u32 = 2;
/// The maximum number of rows of a table read by all pages of all lists. Some tables have two of the lists,
/// and each page is found by an index, from which a row or two more are read.
const MAX_READ: i64 = 100;

/// One row of each list for every user, and `OWN` for the exported user: `{user}` is that user, and `{other}`
/// another one who is a party of all requests and blocks.
const ROWS: &str = "
    CREATE TEMPORARY TABLE numbered AS
        SELECT users.id AS user_id, n, users.id * 10 + n AS id, '2026-01-01'::timestamptz + n * interval '1 second' AS at
        FROM users, generate_series(1, CASE WHEN users.id = {user} THEN {own} ELSE 1 END) AS n WHERE users.id <> {other};
    INSERT INTO sessions (id, user_id, began_at, used_at, expires_at) SELECT id, user_id, at, at, at FROM numbered;
    INSERT INTO sessions (id, user_id, began_at, used_at, expires_at)
        SELECT -id + 10 ^ 12, user_id, at, at, at FROM numbered;
    INSERT INTO personal_tokens SELECT -id + 10 ^ 12, 'Display', sha256(id::text::bytea), 'gigs:read' FROM numbered;
    INSERT INTO login_networks (user_id, network, seen_at) SELECT user_id, '192.0.2.' || n || '/32', at FROM numbered;
    INSERT INTO challenges (user_id, purpose, target, hash, issued_at, attempts, ended_at)
        SELECT user_id, 'email', 'a@example.com', sha256(id::text::bytea), at, 0, at FROM numbered;
    INSERT INTO music_requests (id, requester_id, dj_id, song_title, artist_name, artist_type, music_url, fee, status,
            changed_at, created_at)
        SELECT id, user_id, {other}, 'Song', 'Artist', 'upcoming', 'https://example.com', 1, 'rejected', at, at
            FROM numbered
        UNION ALL SELECT -id + 10 ^ 12, {other}, user_id, 'Song', 'Artist', 'upcoming', 'https://example.com', 1,
            'rejected', at, at FROM numbered;
    INSERT INTO ratings SELECT id, 5, created_at FROM music_requests;
    INSERT INTO request_messages SELECT id, 'for Grace', created_at FROM music_requests;
    INSERT INTO gig_codes VALUES ('K7TW3M', {user}, now());
    INSERT INTO gigs (id, dj_id, code, title, queue_order, max_open_per_guest, members_only, opened_at, ended_at,
            settled)
        SELECT id, user_id, 'K7TW3M', 'Friday', 'rounds', 3, false, at, at, true FROM numbered;
    INSERT INTO tips SELECT id, user_id, {other}, (SELECT min(id) FROM gigs), 1, 0, at FROM numbered WHERE n % 2 = 0
        UNION ALL SELECT id, {other}, user_id, (SELECT min(id) FROM gigs), 1, 0, at FROM numbered WHERE n % 2 = 1;
    INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, status, created_at, updated_at)
        SELECT id, user_id, 1, 'T', 'USDT', 'TRC20', 'rejected', at, at FROM numbered;
    INSERT INTO topups (id, user_id, amount, status, created_at, updated_at)
        SELECT id, user_id, 1, 'failed', at, at FROM numbered;
    INSERT INTO operations (id, kind, actor_user_id, at, receipt)
        SELECT gen_random_uuid(), 'profile', user_id, at,
            jsonb_build_object('profile', jsonb_build_object('user', jsonb_build_object('id', user_id)))
        FROM numbered;
    INSERT INTO ledger_entries (wallet_id, seq, operation_id, kind, reference_kind, reference_id, available_change,
            held_change, owed_change, available_after, held_after, owed_after, at, previous, hash)
        SELECT user_id, n, operations.id, 'topup', 'topup', 1, 1, 0, 0, n, 0, 0, at,
            CASE n WHEN 1 THEN decode(repeat('00', 32), 'hex') ELSE sha256('') END, sha256('')
        FROM numbered JOIN operations USING (at) WHERE actor_user_id = user_id;
    INSERT INTO provider_messages (source, webhook_id, kind, reason_code, reference, row_id, received_at)
        SELECT CASE n % 2 WHEN 0 THEN 'topups' ELSE 'payouts' END, 'msg_' || id, 'topup.failed', 'status_contradiction',
            'reference', id, at FROM numbered;
    INSERT INTO security_events (kind, user_id, at) SELECT 'logged_in', user_id, at FROM numbered;
    INSERT INTO webhook_endpoints (owner_id, feed, url, state, secrets, cursor, created_at)
        SELECT user_id, 'own', 'https://example.com', 'active', 's', 0, at FROM numbered;";

/// Mutual blocks of the user and `{other}`, and of more users, up to the number of rows to list.
const BLOCKS: &str = "
    INSERT INTO blocks SELECT {user}, id, created_at + row_number() OVER () * interval '1 second'
        FROM users WHERE id NOT IN ({user}, {other}) ORDER BY id LIMIT {own};
    INSERT INTO blocks SELECT guest_id, dj_id, at FROM blocks;
    INSERT INTO blocks SELECT {other}, id, created_at FROM users WHERE id NOT IN ({user}, {other});
    INSERT INTO blocks SELECT id, {other}, created_at FROM users WHERE id NOT IN ({user}, {other});";

/// Closes all other connections, whose counts are complete then.
async fn alone(client: &Client) {
    let end = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    client.query_one(end, &[]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_reads_at_most_a_hundred_rows_of_each_table() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let (user, other) = (guest(&store, 0).await, guest(&store, 0).await);
    let seeding = client(database.url()).await;
    let others = format!(
        "INSERT INTO users SELECT (jsonb_populate_record(users, jsonb_build_object('id', {other} + n, \
             'email', 'n' || n, 'email_folded', 'n' || n))).* FROM users, generate_series(1, {OTHERS}) AS n \
             WHERE users.id = {other}; \
         INSERT INTO wallets SELECT (jsonb_populate_record(wallets, jsonb_build_object('user_id', {other} + n))).* \
             FROM wallets, generate_series(1, {OTHERS}) AS n WHERE user_id = {other};"
    );
    let rows = [ROWS, BLOCKS].map(|statements| {
        let statements = statements.replace("{user}", &user.to_string());
        statements.replace("{other}", &other.to_string()).replace("{own}", &OWN.to_string())
    });
    for statements in [&others, &rows[0], &rows[1], "VACUUM ANALYZE"] {
        seeding.batch_execute(statements).await.unwrap();
    }
    drop(store);
    let asking = client(database.url()).await;
    alone(&asking).await;
    asking.batch_execute("SELECT pg_stat_reset()").await.unwrap();

    let store = open(database.url()).await;
    for part in ExportList::all() {
        let (mut after, mut found) = (None, 0);
        loop {
            let page = store.records(user, part, after, PAGE).await.unwrap();
            found += i64::try_from(page.len()).unwrap();
            after = page.last().map(ExportRecord::key);
            if page.len() < usize::try_from(PAGE).unwrap() {
                break;
            }
        }
        assert_eq!(found, OWN, "{part:?}");
    }
    drop(store);
    alone(&asking).await;
    let read = "SELECT relname::text, (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint, \
            coalesce((SELECT sum(idx_tup_read) FROM pg_stat_user_indexes AS indexes \
                WHERE indexes.relid = tables.relid), 0)::bigint \
        FROM pg_stat_user_tables AS tables \
        WHERE schemaname = 'public' AND relname <> '__diesel_schema_migrations' ORDER BY 1";
    let read: Vec<(String, i64, i64)> = asking
        .query(read, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2)))
        .collect();
    let counted = read.iter().filter(|(_, rows, _)| *rows > 0).count();
    assert!(counted >= 12, "tables without a count: {read:?}");
    let too_many: Vec<_> =
        read.iter().filter(|(_, rows, entries)| *rows > MAX_READ || *entries > MAX_READ).collect();
    assert!(too_many.is_empty(), "more rows or index entries than the user's: {too_many:?}");
}
