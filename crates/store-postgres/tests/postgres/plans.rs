//! The query plans of statements on tables with many rows: none scans a large table.
//!
//! Every table is filled with generated rows and analyzed, so that the planner chooses as it does in
//! operation. Rare values (pending, online, not resolved …) occur in one row of a hundred. The statements are
//! those of the `.sql` files and those of the newest released version, most of which Diesel builds.

use std::collections::BTreeSet;

use cuepoint_store_postgres::testing::TestDatabase;
use tokio_postgres::Client;

use crate::released::statements;
use crate::scenario::client;
use crate::sql_files::{files, indexes, one_line};

/// The number of rows of each large table.
const ROWS: u32 = 20_000;

/// Tables that are small in operation.
const SMALL: [(&str, &str); 4] = [
    ("deployment", "has one row"),
    ("position_gaps", "has a row for each restore and failover"),
    ("bootstrap_operator", "has one row"),
    ("__diesel_schema_migrations", "has a row for each migration"),
];

/// Parts of statements that may scan a large table.
const WHOLE: [(&str, &str); 3] = [
    (r#"SELECT COUNT(*) FROM "ledger_entries";"#, "the ledger audit, which reads every entry"),
    (
        "entry.reference_kind = $4::text AND operations.kind = $5::text",
        "the search of 0.1.0 for a stray entry",
    ),
    (
        r#"WHERE ("provider_messages"."resolved_at" IS NOT NULL)"#,
        "the list of all resolved messages counts them all",
    ),
];

/// Files with statements that may do so.
const WHOLE_FILES: [(&str, &str); 3] = [
    ("maintenance/complete_erasures.sql", "runs once for each deployment, without a time limit"),
    ("ports/audit/stray_entry.sql", "the ledger audit, where entries are known to be wrong"),
    ("ports/audit/stray_posting.sql", "the ledger audit, where postings are known to be wrong"),
];

/// Indexes of constraints, which cannot be dropped by themselves.
const CONSTRAINTS: [&str; 1] = ["login_networks_once"];

/// Files that could use another index, though at a higher cost.
const OTHER_INDEXES: [(&str, &str); 4] = [
    ("retention/purge/challenges.sql", "the index by target and time"),
    ("retention/purge/phone_codes.sql", "the index by number and time"),
    ("tables/adjustments.sql", "the index by wallet and time"),
    ("tables/income.sql", "the index by wallet and time"),
];

/// Timestamps near the beginning and near the end of the generated rows: a statement is judged by the better
/// of two plans, since a timestamp may be the upper bound of its rows, the lower one, or their position.
const MOMENTS: [&str; 2] = ["2025-01-02Z", "2025-05-19Z"];

/// Whether a statement may scan a large table.
fn may_read_all(sql: &str) -> bool {
    let files = files();
    let is_exempt = |(file, _): &(&str, &str)| sql.trim_end_matches(';') == one_line(&files[*file]);
    // No use case lists the requests of all users; the store contract does.
    let is_list_of_all = sql.contains("AS asked (") && !sql.contains("= asked.");
    is_list_of_all || WHOLE.iter().any(|(part, _)| sql.contains(part)) || WHOLE_FILES.iter().any(is_exempt)
}

/// An expression over `n` for a column of a generated row.
fn generated(table: &str, column: &str, kind: &str, nullable: bool) -> String {
    const RARELY: &str = "n % 100 = 0";
    let moment = "timestamptz '2025-01-01Z' + n * interval '10 minutes'";
    let special = match (table, column) {
        ("webhook_attempts", "status") => "CASE WHEN n % 100 = 0 THEN 500 END",
        ("webhook_endpoints", "state") => "CASE WHEN n % 100 = 0 THEN 'paused' ELSE 'active' END",
        ("webhook_endpoints", "feed") => "CASE WHEN n % 100 = 0 THEN 'all' ELSE 'own' END",
        ("webhook_endpoints", "owner_id") => "n % 2000 + 1",
        // A DJ has one open gig, and one gig of a hundred is open.
        ("gigs", "dj_id") => "CASE WHEN n % 100 = 0 THEN n ELSE n % 2000 + 1 END",
        ("gigs", "ended_at") => {
            "CASE WHEN n % 100 > 0 THEN timestamptz '2025-01-01Z' + n * interval '10 minutes' END"
        }
        ("gigs", "settled") => "n % 100 > 1",
        (_, "endpoint_id") => "n / 10 + 1",
        (_, "status") => "CASE WHEN n % 100 = 0 THEN 'pending' ELSE 'completed' END",
        ("ledger_entries", "kind") => {
            "CASE n % 100 WHEN 0 THEN 'adjustment' WHEN 1 THEN 'topup' WHEN 2 THEN 'earning' ELSE 'hold' END"
        }
        ("operations", "kind") => {
            "CASE n % 100 WHEN 0 THEN 'adjust' WHEN 1 THEN 'move_withdrawal' ELSE 'open_request' END"
        }
        ("operations", "receipt") => {
            "CASE WHEN n % 100 = 0 \
                 THEN jsonb_build_object('profile', jsonb_build_object('balance', 1, 'user', jsonb_build_object('id', n))) \
                 ELSE jsonb_build_object('withdrawal', jsonb_build_object('withdrawal', jsonb_build_object('id', n))) END"
        }
        ("operations", "position") => "CASE WHEN n % 1000 = 0 THEN 0 ELSE n END",
        ("challenges", "purpose") => {
            "CASE WHEN n % 100 = 7 THEN 'email_restore' WHEN n % 3 = 0 THEN 'email' WHEN n % 3 = 1 THEN 'phone' \
                 ELSE 'password' END"
        }
        ("challenges", "address") => "CASE WHEN n % 100 = 7 THEN 'a@example.com' END",
        ("users", "role") => "CASE WHEN n % 1000 = 0 THEN 'operator' ELSE 'user' END",
        ("provider_messages", "source") => "CASE WHEN n % 2 = 0 THEN 'topups' ELSE 'payouts' END",
        ("provider_messages", "row_id") | ("wallets", "user_id") => "n",
        ("challenges", "ended_at") => {
            "CASE WHEN n > 20 THEN timestamptz '2025-01-01Z' + n * interval '10 minutes' END"
        }
        ("sessions", "ended_at") | ("provider_messages", "resolved_at") => {
            "CASE WHEN n % 100 > 0 THEN timestamptz '2025-01-01Z' + n * interval '10 minutes' END"
        }
        ("ledger_entries", "wallet_id") | ("blocks", "guest_id") => "n / 10 + 1",
        ("ledger_entries", "seq") => "n % 10 + 1",
        (_, "user_id" | "requester_id" | "guest_id" | "dj_id") => "n % 2000 + 1",
        _ => "",
    };
    if !special.is_empty() {
        return special.to_owned();
    }
    let value = match kind {
        "bigint" | "integer" => "n".to_owned(),
        "numeric" | "double precision" => "1".to_owned(),
        "smallint" => "1::smallint".to_owned(),
        "boolean" => RARELY.to_owned(),
        "text" => format!("'{column}' || n"),
        "bytea" => "decode(md5(n::text), 'hex')".to_owned(),
        "uuid" => "md5(n::text)::uuid".to_owned(),
        "timestamp with time zone" => moment.to_owned(),
        "jsonb" => "'{}'::jsonb".to_owned(),
        other => panic!("no rows can be generated for {table}.{column}, of the type {other}"),
    };
    if nullable { format!("CASE WHEN {RARELY} THEN {value} END") } else { value }
}

/// Fills every large table, without its constraints, since rows are generated by type.
async fn fill(client: &Client) -> BTreeSet<String> {
    let unconstrained = "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) \
        FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0 AND connamespace = 'public'::regnamespace";
    for row in client.query(unconstrained, &[]).await.unwrap() {
        client.batch_execute(row.get(0)).await.unwrap();
    }
    // Neither foreign keys nor triggers are checked.
    client.batch_execute("SET session_replication_role = replica; SET statement_timeout = 0").await.unwrap();
    let columns = "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES' \
        FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name) \
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND is_generated = 'NEVER'";
    let columns: Vec<(String, String, String, bool)> = client
        .query(columns, &[])
        .await
        .unwrap()
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(2), row.get(3)))
        .collect();
    let is_small = |table: &str| SMALL.iter().any(|(small, _)| *small == table);
    let tables: BTreeSet<String> =
        columns.iter().map(|(table, ..)| table.clone()).filter(|table| !is_small(table)).collect();
    for table in &tables {
        let own = columns.iter().filter(|(of, ..)| of == table);
        let (names, values): (Vec<&str>, Vec<String>) = own
            .map(|(_, column, kind, nullable)| (column.as_str(), generated(table, column, kind, *nullable)))
            .unzip();
        let insert = format!(
            "INSERT INTO {table} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM generate_series(1, {ROWS}) AS n",
            names.join(", "),
            values.join(", ")
        );
        let inserted = client.batch_execute(&insert).await;
        inserted.unwrap_or_else(|error| panic!("{table}: {:?}", error.as_db_error()));
    }
    client.batch_execute("VACUUM ANALYZE").await.unwrap();
    // Makes each page of a sequential scan cost as if the tables had ten times the rows.
    let planned = "SET session_replication_role = origin; SET seq_page_cost = 10; \
        SET plan_cache_mode = force_custom_plan";
    client.batch_execute(planned).await.unwrap();
    tables
}

/// The text values of the conditions of partial indexes and of rare values, by the column that a parameter is
/// compared with.
const TEXTS: [(&str, &str); 2] = [("purpose", "password"), ("kind", "adjust")];

/// A text value for the parameter with this number.
fn sample_text(sql: &str, number: usize) -> &'static str {
    let compared = |column: &str| {
        let quoted = format!("\"{column}\" = ${number}");
        sql.contains(&format!("{quoted})")) || sql.contains(&format!("{quoted} "))
    };
    TEXTS.iter().find(|(column, _)| compared(column)).map_or("pending", |(_, text)| text)
}

/// A value for a parameter of this type, as a literal.
fn sample(kind: &str, moment: &str) -> String {
    if let Some(element) = kind.strip_suffix("[]") {
        let one = sample(element, moment);
        return format!("{{{one},{one}}}");
    }
    let value = match kind {
        "bigint" => "1000",
        "text" => "pending",
        "timestamp with time zone" => moment,
        "uuid" => "00000000-0000-7000-8000-000000000000",
        "bytea" => "00",
        "interval" => "0",
        "boolean" => "true",
        _ => "1",
    };
    value.to_owned()
}

/// The plan of the prepared statement with this value for all its timestamps.
async fn plan(client: &Client, sql: &str, kinds: &[String], moment: &str) -> String {
    let argument = |(number, kind): (usize, &String)| match kind.as_str() {
        "text" => format!("'{}'", sample_text(sql, number)),
        kind => format!("'{}'", sample(kind, moment)),
    };
    let arguments: Vec<String> = (1..).zip(kinds).map(argument).collect();
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    let explained = client.query(&format!("EXPLAIN (COSTS OFF) EXECUTE statement{arguments}"), &[]).await;
    let lines = explained.unwrap_or_else(|error| panic!("{sql}: {:?}", error.as_db_error()));
    lines.iter().map(|row| row.get::<_, String>(0)).collect::<Vec<_>>().join("\n")
}

/// The plans of a statement, one for each of the timestamps.
async fn plans(client: &Client, prepare: &str) -> Vec<String> {
    let prepared = client.batch_execute(prepare).await;
    prepared.unwrap_or_else(|error| panic!("{prepare}: {:?}", error.as_db_error()));
    let kinds = "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'statement'";
    let kinds: Vec<String> = client.query_one(kinds, &[]).await.unwrap().get(0);
    let mut plans = Vec::new();
    for moment in MOMENTS {
        plans.push(plan(client, prepare, &kinds, moment).await);
    }
    client.batch_execute("DEALLOCATE statement").await.unwrap();
    plans
}

/// The large tables that a plan scans: sequentially, or by an index without an index condition but with a
/// filter.
fn scanned<'p>(plan: &'p str, large: &BTreeSet<String>) -> BTreeSet<&'p str> {
    let mut scanned = BTreeSet::new();
    let mut lines = plan.lines().peekable();
    while let Some(line) = lines.next() {
        let mut details = Vec::new();
        while let Some(detail) = lines.next_if(|next| !next.contains("->") && !next.contains("Plan ")) {
            details.push(detail.trim_start());
        }
        let has = |beginning: &str| details.iter().any(|detail| detail.starts_with(beginning));
        let whole_index = has("Filter:") && !has("Index Cond:");
        let is_index = line.contains("Index Scan") || line.contains("Index Only Scan");
        if line.contains("Seq Scan") || (is_index && whole_index) {
            let table = line.split_once(" on ").and_then(|(_, rest)| rest.split_whitespace().next());
            scanned.extend(table.filter(|table| large.contains(*table)));
        }
    }
    scanned
}

/// The defect of a statement's plans, if any.
fn complaint(plans: &[String], large: &BTreeSet<String>) -> Option<String> {
    let best = plans.iter().min_by_key(|plan| scanned(plan, large).len())?;
    let tables = scanned(best, large);
    (!tables.is_empty()).then(|| format!("scans {tables:?}:\n{best}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn only_exempt_statements_scan_large_tables() {
    let database = TestDatabase::create().await;
    let client = client(database.url()).await;
    let large = fill(&client).await;
    let mut complaints = Vec::new();
    for (name, text) in files() {
        let plans = plans(&client, &format!("PREPARE statement AS {text}")).await;
        let named = indexes(&text);
        if !named.is_empty()
            && !plans.iter().any(|plan| named.iter().any(|index| plan.contains(index.as_str())))
        {
            complaints.push(format!("{name} uses none of its indexes:\n{}", plans.join("\n")));
        }
        if !may_read_all(&one_line(&text)) {
            complaints.extend(complaint(&plans, &large).map(|complaint| format!("{name} {complaint}")));
        }
    }
    for prepare in statements() {
        let (_, sql) = prepare.split_once(" AS ").unwrap();
        if may_read_all(sql) {
            continue;
        }
        let plans = plans(&client, &prepare).await;
        complaints.extend(complaint(&plans, &large).map(|complaint| format!("{prepare}\n  {complaint}")));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// Without its index, the statement of a file is reported to scan a large table.
#[tokio::test(flavor = "multi_thread")]
async fn a_statement_without_its_index_is_reported() {
    let database = TestDatabase::create().await;
    let client = client(database.url()).await;
    let large = fill(&client).await;
    let (mut found, mut not_found) = (0, Vec::new());
    for (name, text) in files() {
        let named = indexes(&text);
        let [index] = named.as_slice() else { continue };
        if may_read_all(&one_line(&text)) || CONSTRAINTS.contains(&index.as_str()) {
            continue;
        }
        client.batch_execute(&format!("BEGIN; DROP INDEX {index}")).await.unwrap();
        let plans = plans(&client, &format!("PREPARE statement AS {text}")).await;
        client.batch_execute("ROLLBACK").await.unwrap();
        if complaint(&plans, &large).is_some() {
            found += 1;
        } else {
            not_found.push(name);
        }
    }
    assert_eq!(not_found, OTHER_INDEXES.map(|(file, _)| file));
    assert!(found >= 10, "{found} files name one index that is all that they can use");
}
