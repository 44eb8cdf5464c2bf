//! The statements of the newest released version, on the schema of this one: both run during a roll-out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cuepoint_store_postgres::testing::TestDatabase;
use tokio_postgres::Client;

use crate::scenario::{client, open};

/// The name of every statement in the file.
const PREPARE: &str = "PREPARE statement";

/// Privileges of statements that the newest released version does not have.
const LATER: [(&str, &str); 2] = [("DELETE", "users"), ("DELETE", "wallets")];

/// The file of the newest version.
fn newest() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres/released");
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let version = |path: &PathBuf| -> Vec<u32> {
        path.file_stem().unwrap().to_str().unwrap().split('.').map(|part| part.parse().unwrap()).collect()
    };
    files.max_by_key(version).expect("the statements of one version at least")
}

/// Its statements, each with the types of its parameters.
pub(crate) fn statements() -> Vec<String> {
    let text = fs::read_to_string(newest()).unwrap();
    let statements: Vec<String> =
        text.lines().filter(|line| line.starts_with(PREPARE)).map(str::to_owned).collect();
    assert!(statements.len() > 50, "{} statements are not those of a whole version", statements.len());
    statements
}

/// Prepares and plans a statement, which also checks the role's privileges; returns the failure, if any.
async fn plan(client: &Client, statement: &str) -> Result<(), String> {
    let message = |error: tokio_postgres::Error| error.as_db_error().unwrap().message().to_owned();
    client.batch_execute(statement).await.map_err(message)?;
    let parameters =
        "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'statement'";
    let number: i32 = client.query_one(parameters, &[]).await.unwrap().get(0);
    let arguments = vec!["NULL"; usize::try_from(number).unwrap()].join(", ");
    let arguments = if arguments.is_empty() { arguments } else { format!("({arguments})") };
    let planned = client.batch_execute(&format!("EXPLAIN EXECUTE statement{arguments}")).await;
    client.batch_execute("DEALLOCATE statement").await.unwrap();
    planned.map_err(message)
}

/// Every statement that cannot be planned, with the reason.
async fn failures(client: &Client) -> Vec<String> {
    let mut failures = Vec::new();
    for statement in statements() {
        if let Err(error) = plan(client, &statement).await {
            failures.push(format!("{error}: {statement}"));
        }
    }
    failures
}

/// The table and the columns of an insert; `None` for other statements.
fn inserted(statement: &str) -> Option<(String, BTreeSet<String>)> {
    let (_, rest) = statement.split_once("INSERT INTO ")?;
    let (table, rest) = rest.split_once(" (")?;
    let (columns, _) = rest.split_once(')')?;
    let name = |text: &str| text.trim().trim_matches('"').to_owned();
    Some((name(table), columns.split(',').map(name).collect()))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_accepts_every_statement_of_the_newest_release() {
    let database = TestDatabase::create().await;
    let client = client(database.url()).await;
    assert_eq!(failures(&client).await, [""; 0], "{} on the schema of this version", newest().display());
}

#[tokio::test(flavor = "multi_thread")]
async fn inserts_of_the_newest_release_set_every_required_column() {
    let database = TestDatabase::create().await;
    let client = client(database.url()).await;
    let required = "SELECT column_name::text FROM information_schema.columns WHERE table_schema = 'public' \
        AND table_name = $1 AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' \
        AND is_generated = 'NEVER'";
    let inserts: Vec<_> = statements().into_iter().filter_map(|statement| inserted(&statement)).collect();
    assert!(inserts.len() > 10, "{inserts:?}");
    for (table, columns) in inserts {
        let rows = client.query(required, &[&table]).await.unwrap();
        let required: BTreeSet<String> = rows.iter().map(|row| row.get(0)).collect();
        let missing: Vec<&String> = required.difference(&columns).collect();
        assert_eq!(missing, [""; 0], "of {table}: a column that older servers do not know needs a default");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_service_role_can_run_the_newest_release_without_needless_privileges() {
    let database = TestDatabase::create().await;
    open(database.url()).await;
    let (owner, role) = (client(database.url()).await, client(&database.service_url()).await);
    assert_eq!(failures(&role).await, [""; 0], "the grants in docs/guide/postgresql.md");

    let rights = "SELECT privilege_type::text, table_name::text FROM information_schema.role_table_grants \
        WHERE grantee = 'cuepoint_server' AND privilege_type IN ('UPDATE', 'DELETE') ORDER BY 1, 2";
    for row in owner.query(rights, &[]).await.unwrap() {
        let (right, table): (String, String) = (row.get(0), row.get(1));
        // The statements of a version cannot cover a table that was added after it.
        let is_covered = statements().iter().any(|statement| statement.contains(&table));
        if !is_covered || LATER.contains(&(&right, &table)) {
            continue;
        }
        owner.batch_execute(&format!("REVOKE {right} ON {table} FROM cuepoint_server")).await.unwrap();
        assert_ne!(failures(&role).await, [""; 0], "{right} on {table} is granted in vain");
        owner.batch_execute(&format!("GRANT {right} ON {table} TO cuepoint_server")).await.unwrap();
    }
}
