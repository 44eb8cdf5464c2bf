//! The query plans of the statements that stores run.
//!
//! The plans are made twice: without statistics, as in operation, and with those of tables that were filled
//! with generated rows, as after an `ANALYZE` by hand.

use std::collections::BTreeSet;
use std::sync::{Mutex, Once, PoisonError};

use diesel::connection::{
    Instrumentation, InstrumentationEvent, SimpleConnection, set_default_instrumentation,
};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};

use super::TestDirectory;

/// The number of generated rows of each table.
const ROWS: u32 = 5_000;

/// The plan of a statement with more values than this is not checked.
const MANY_VALUES: usize = 100;

/// Tables that are small in operation.
const SMALL: [&str; 6] = [
    "deployment",
    "bootstrap_operator",
    "ids",
    "position_gaps",
    "sqlite_sequence",
    "__diesel_schema_migrations",
];

/// Partial indexes that are small in operation.
const SMALL_INDEXES: [&str; 6] = [
    "withdrawals_to_send",
    "topups_in_suspense",
    "users_operators",
    "users_by_pending_erasure",
    "webhook_deliveries_waiting",
    "gigs_open",
];

/// Statements that may read a whole table, by their text between `FROM` and `ORDER BY`, and the reason. They
/// may not sort it.
const WHOLE: [(&str, &str); 6] = [
    ("`ledger_entries`", "the ledger audit counts all entries"),
    ("`security_events`", "the list of all events, in the order of the table"),
    ("`withdrawals`", "the list of all withdrawals, in the order of an index"),
    ("`provider_messages`", "the list of all messages, in the order of an index"),
    (
        "`provider_messages` WHERE (resolved_at IS NULL) < 1",
        "the list of resolved messages, nearly all of them",
    ),
    ("`users` WHERE (`users`.`erased_at` IS NULL)", "the list of all users, in the order of an index"),
];

/// Statements that may sort rows, by parts of them, and the reason.
const SORTED: [(&[&str], &str); 7] = [
    (
        &["`music_requests`.`gig_id` IS NULL", "ORDER BY `music_requests`.`id`"],
        "the open requests to one DJ from before a gig",
    ),
    (&["ORDER BY `gigs`.`latitude`, `gigs`.`id`"], "open gigs of one latitude"),
    (&["FROM `phone_codes` WHERE"], "the codes of one day to one number or from one network"),
    (&["FROM `login_networks` WHERE"], "the networks of one user, stored for 30 days"),
    (&["ORDER BY `sessions`.`used_at`"], "the live sessions of one user, whose number is limited"),
    (
        &["`music_requests`.`requester_id` = ?", "`music_requests`.`expires_at` > ?"],
        "the open requests of one guest, fewer than all of theirs in the right order",
    ),
    (&["ORDER BY `ratings`.`rated_at` DESC"], "the ratings of one guest for one DJ"),
];

/// The statements so far, without their values.
static STATEMENTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Adds the statements of a connection to [`STATEMENTS`].
struct Recorder;

impl Instrumentation for Recorder {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        let InstrumentationEvent::StartQuery { query, .. } = event else { return };
        let text = query.to_string();
        let text = text.split(" -- binds").next().unwrap_or_default().trim();
        if ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].iter().any(|verb| text.starts_with(verb)) {
            STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned());
        }
    }
}

/// Records the statements of every connection that this process opens from now on.
///
/// # Panics
/// When Diesel does not permit it.
pub fn record() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_default_instrumentation(|| Some(Box::new(Recorder))).expect("the recorder");
    });
}

/// The recorded statements.
#[must_use]
pub fn recorded() -> BTreeSet<String> {
    STATEMENTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Fails if the plan of a recorded statement has a defect; each statement is planned once.
///
/// # Panics
/// With the statement and its defects.
pub fn check() {
    static PLANS: Mutex<Option<(QueryPlans, BTreeSet<String>)>> = Mutex::new(None);
    let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
    let (plans, known) = plans.get_or_insert_with(|| (QueryPlans::create(), BTreeSet::new()));
    let new: Vec<String> = recorded().difference(known).cloned().collect();
    known.extend(new.iter().cloned());
    let complaints: Vec<String> = new.iter().filter_map(|statement| plans.complaint(statement)).collect();
    assert!(complaints.is_empty(), "reads a whole table, or sorts rows:\n{}", complaints.join("\n\n"));
}

/// A line of a query plan.
#[derive(QueryableByName)]
struct PlanLine {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// A column of a table.
#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    table: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Bool)]
    nullable: bool,
}

/// Two databases in which statements are planned: one without statistics, and one with them.
pub struct QueryPlans {
    databases: [SqliteConnection; 2],
    _directories: [TestDirectory; 2],
}

impl std::fmt::Debug for QueryPlans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("QueryPlans")
    }
}

impl QueryPlans {
    /// Creates the databases, and fills one.
    ///
    /// # Panics
    /// When that fails.
    #[must_use]
    pub fn create() -> Self {
        let directories = [TestDirectory::create(), TestDirectory::create()];
        let [plain, filled] = &directories;
        let mut databases = [plain.migrated(), filled.migrated()];
        for database in &mut databases {
            // Its statements are no store's.
            database.set_instrumentation(|_: InstrumentationEvent<'_>| {});
        }
        let [_, filled] = &mut databases;
        fill(filled);
        Self { databases, _directories: directories }
    }

    /// Drops an index.
    ///
    /// # Panics
    /// When there is no such index.
    pub fn drop_index(&mut self, name: &str) {
        for database in &mut self.databases {
            database.batch_execute(&format!("DROP INDEX {name}")).expect(name);
        }
    }

    /// Whether both plans of a statement use an index.
    ///
    /// # Panics
    /// When the statement is invalid.
    pub fn use_index(&mut self, statement: &str, index: &str) -> bool {
        self.databases.iter_mut().all(|database| {
            plan(database, statement).iter().any(|line| line.contains(&format!("USING INDEX {index} ")))
        })
    }

    /// The defects of a statement's plans: a table that grows is read as a whole, or rows are sorted.
    ///
    /// # Panics
    /// When the statement is invalid.
    pub fn complaint(&mut self, statement: &str) -> Option<String> {
        if is_exempt(statement) {
            return None;
        }
        let mut complaints = BTreeSet::new();
        for database in &mut self.databases {
            let lines = plan(database, statement);
            let subqueries: BTreeSet<&str> = lines.iter().filter_map(|line| subquery(line)).collect();
            complaints.extend(lines.iter().filter(|line| is_bad(line, &subqueries, statement)).cloned());
        }
        let complaints: Vec<String> = complaints.into_iter().collect();
        (!complaints.is_empty()).then(|| format!("{statement}\n    {}", complaints.join("\n    ")))
    }
}

/// The lines of a statement's plan.
fn plan(database: &mut SqliteConnection, statement: &str) -> Vec<String> {
    let lines: Vec<PlanLine> = diesel::sql_query(format!("EXPLAIN QUERY PLAN {statement}"))
        .load(database)
        .unwrap_or_else(|error| panic!("{statement}: {error}"));
    lines.into_iter().map(|line| line.detail).collect()
}

/// The name of a subquery whose rows are made by the lines below this one, and are judged there.
fn subquery(line: &str) -> Option<&str> {
    line.strip_prefix("CO-ROUTINE ").or_else(|| line.strip_prefix("MATERIALIZE "))
}

/// Whether a line of a plan reads a whole table or all operations, or sorts rows.
fn is_bad(line: &str, subqueries: &BTreeSet<&str>, statement: &str) -> bool {
    if let Some(scanned) = line.strip_prefix("SCAN ") {
        let mut words = scanned.split_whitespace();
        let (table, last) = (words.next().unwrap_or_default(), words.next_back().unwrap_or_default());
        let is_small = SMALL.contains(&table)
            || SMALL_INDEXES.contains(&last)
            || subqueries.contains(table)
            || table == "CONSTANT";
        return !is_small && !may_read_all(statement);
    }
    let may_sort = SORTED.iter().any(|(parts, _)| parts.iter().all(|part| statement.contains(part)));
    line.contains("TEMP B-TREE") && !may_sort
        || line.contains("AUTOMATIC")
        || reads_operations_of_all(line, statement)
}

/// Whether a line of a plan reads the operations of all users after a position, where those of one are wanted.
fn reads_operations_of_all(line: &str, statement: &str) -> bool {
    let (_, condition) = statement.split_once(" WHERE ").unwrap_or_default();
    let wants_one = condition.contains("owner_id") || condition.contains("dj_id");
    wants_one && line.contains(" operations ") && line.ends_with("(position>?)")
}

/// Whether a statement may read a whole table.
fn may_read_all(statement: &str) -> bool {
    let source = statement.split_once(" FROM ").map_or("", |(_, rest)| rest);
    let source = source.split(" ORDER BY ").next().unwrap_or_default();
    WHOLE.iter().any(|(text, _)| source == *text)
}

/// Whether a statement is not judged: no server runs it on a large table.
fn is_exempt(statement: &str) -> bool {
    let is_migration = statement.contains("pragma_") || statement.contains("sqlite_schema");
    // An empty list of ids reads no row.
    let reads_nothing = statement.contains("(1=0)");
    // So many values match a large part of the generated rows, so a scan is right.
    let selects_many = statement.matches('?').count() > MANY_VALUES;
    // No use case lists the requests of all users; the store contract does.
    let lists_all = statement.contains("FROM `music_requests`")
        && (statement.contains("COUNT(*)") || statement.contains("ORDER BY `music_requests`.`created_at`"))
        && !["requester_id", "dj_id"].iter().any(|user| statement.contains(&format!("`{user}` = ?")));
    is_migration || reads_nothing || selects_many || lists_all
}

/// Fills every table that grows, without its constraints, since rows are generated by type.
fn fill(database: &mut SqliteConnection) {
    let lawless = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
    database.batch_execute(lawless).expect("a database without constraints");
    let columns = "SELECT t.name AS \"table\", c.name, c.type AS kind, NOT c.\"notnull\" AS nullable \
        FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c \
        WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid";
    let columns: Vec<Column> = diesel::sql_query(columns).load(database).expect("the columns");
    let tables: BTreeSet<&str> = columns.iter().map(|column| column.table.as_str()).collect();
    for table in tables.into_iter().filter(|table| !SMALL.contains(table)) {
        let own = columns.iter().filter(|column| column.table == table);
        let (names, values): (Vec<&str>, Vec<String>) =
            own.map(|column| (column.name.as_str(), generated(column))).unzip();
        let insert = format!(
            "WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series LIMIT {ROWS}) \
             INSERT INTO {table} ({}) SELECT {} FROM series",
            names.join(", "),
            values.join(", ")
        );
        database.batch_execute(&insert).unwrap_or_else(|error| panic!("{table}: {error}"));
    }
    database.batch_execute("ANALYZE").expect("statistics");
}

/// An expression over `n` for a column of a generated row; rare values occur in one row of a hundred.
fn generated(column: &Column) -> String {
    let special = match (column.table.as_str(), column.name.as_str()) {
        ("webhook_attempts", "status") => "iif(n % 100 = 0, 500, NULL)",
        ("webhook_endpoints", "state") => "iif(n % 100 = 0, 'paused', 'active')",
        ("webhook_endpoints", "feed") => "iif(n % 100 = 0, 'all', 'own')",
        ("webhook_endpoints", "owner_id") => "n % 500 + 1",
        // A DJ has one open gig, and one gig of a hundred is open.
        ("gigs", "dj_id") => "iif(n % 100 = 0, n, n % 500 + 1)",
        ("gigs", "ended_at") => "iif(n % 100 = 0, NULL, n * 600000000)",
        ("gigs", "settled") => "n % 100 > 1",
        (_, "endpoint_id") => "n / 10 + 1",
        (_, "status") => "iif(n % 100 = 0, 'pending', 'completed')",
        ("ledger_entries", "kind") => {
            "CASE n % 100 WHEN 0 THEN 'adjustment' WHEN 1 THEN 'topup' WHEN 2 THEN 'earning' ELSE 'hold' END"
        }
        ("operations", "kind") => {
            "CASE n % 100 WHEN 0 THEN 'adjust' WHEN 1 THEN 'move_withdrawal' ELSE 'open_request' END"
        }
        ("operations", "receipt") => {
            "iif(n % 100 = 0, \
                 json_object('profile', json_object('balance', 1, 'user', json_object('id', n))), \
                 json_object('withdrawal', json_object('withdrawal', json_object('id', n))))"
        }
        ("challenges", "purpose") => "CASE n % 3 WHEN 0 THEN 'email' WHEN 1 THEN 'phone' ELSE 'password' END",
        ("users", "role") => "iif(n % 1000 = 0, 'operator', 'member')",
        ("provider_messages", "source") => "iif(n % 2 = 0, 'topups', 'payouts')",
        ("challenges", "ended_at") => "iif(n > 20, n * 600000000, NULL)",
        ("sessions", "ended_at") | ("provider_messages", "resolved_at") => {
            "iif(n % 100 > 0, n * 600000000, NULL)"
        }
        ("refresh_tokens", "used_at") => "n",
        ("ledger_entries", "wallet_id") | ("blocks", "guest_id") => "n / 10 + 1",
        ("ledger_entries", "seq") => "n % 10 + 1",
        ("wallets", "user_id") => "n",
        (_, "user_id" | "requester_id" | "guest_id" | "dj_id") => "n % 500 + 1",
        _ => "",
    };
    if !special.is_empty() {
        return special.to_owned();
    }
    let value = match column.kind.as_str() {
        "INTEGER" if column.name.ends_with("_at") || column.name == "at" => "n * 600000000".to_owned(),
        "INTEGER" if ["is_dj", "online", "erasure_pending"].contains(&column.name.as_str()) => {
            "n % 100 = 0".to_owned()
        }
        "INTEGER" => "n".to_owned(),
        "REAL" => "1.0".to_owned(),
        "TEXT" => format!("'{}' || n", column.name),
        "BLOB" => "CAST(printf('%032d', n) AS BLOB)".to_owned(),
        other => panic!("no rows can be generated for {}.{}, of the type {other}", column.table, column.name),
    };
    if column.nullable { format!("iif(n % 100 = 0, {value}, NULL)") } else { value }
}
