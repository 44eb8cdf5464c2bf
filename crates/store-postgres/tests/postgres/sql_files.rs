//! Statements in `.sql` files: each is listed with its parameters and columns, and describes itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::event::Feed;
use cuepoint_domain::ledger::EntryKind;
use cuepoint_domain::operation::PlanKind;
use cuepoint_domain::provider_message::MessageSource;
use cuepoint_domain::user::Role;
use cuepoint_domain::webhook::EndpointState;
use cuepoint_domain::withdrawal::Income;
use cuepoint_store_postgres::testing::TestDatabase;

use crate::scenario::client;

/// The reviewed list: one line per file, with the types of its parameters and its columns.
const LISTED: &str = include_str!("sql_files.txt");

/// The text of every `.sql` file of this crate, by its path.
pub(crate) fn files() -> BTreeMap<String, String> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "sql") {
                found.push(path);
            }
        }
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&sources, &mut found);
    let name = |path: &PathBuf| path.strip_prefix(&sources).unwrap().to_str().unwrap().to_owned();
    found.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The statement of a file as it is sent: in one line, without comments.
pub(crate) fn one_line(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("--"));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The comment at the beginning of a file, as one line.
fn header(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("--"));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The names of indexes in the header of a file: words with underscores behind `Index:`.
pub(crate) fn indexes(text: &str) -> Vec<String> {
    let header = header(text);
    let (_, indexes) = header.split_once("Index: ").expect("the header has a line `-- Index:`");
    let words = indexes.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.contains('_')).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sql_files_have_the_listed_parameters_and_columns() {
    let database = TestDatabase::create().await;
    let client = client(database.url()).await;
    let mut found = Vec::new();
    for (name, text) in files() {
        let prepared = client.prepare(&text).await;
        let prepared = prepared.unwrap_or_else(|error| panic!("{name}: {:?}", error.as_db_error()));
        let parameters: Vec<&str> = prepared.params().iter().map(|parameter| parameter.name()).collect();
        let column = |column: &tokio_postgres::Column| format!("{} {}", column.name(), column.type_().name());
        let columns: Vec<String> = prepared.columns().iter().map(column).collect();
        let returns = if columns.is_empty() { String::new() } else { format!(" -> {}", columns.join(", ")) };
        found.push(format!("{name} ({}){returns}", parameters.join(", ")));
    }
    let listed: Vec<&str> = LISTED.lines().collect();
    assert_eq!(listed, found, "the files as PostgreSQL reads them:\n{}", found.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sql_files_start_with_a_comment_on_their_parameters_and_indexes() {
    let database = TestDatabase::create().await;
    let client = client(database.url()).await;
    let rows = client.query("SELECT indexname::text FROM pg_indexes", &[]).await.unwrap();
    let existing: BTreeSet<String> = rows.iter().map(|row| row.get(0)).collect();
    for (name, text) in files() {
        let header = header(&text);
        let sql: String = text.lines().filter(|line| !line.starts_with("--")).collect();
        if let Some(last) = (1..100).take_while(|number| sql.contains(&format!("${number}"))).last() {
            assert!(header.contains(&format!("${last}")), "{name}: the header does not explain ${last}");
        }
        assert!(!sql.contains("--"), "{name}: comments stand in the header alone");
        let missing: Vec<String> =
            indexes(&text).into_iter().filter(|index| !existing.contains(index)).collect();
        assert_eq!(missing, [""; 0], "{name} names indexes that do not exist");
    }
}

/// Names in the conditions of partial indexes, which statements must contain as literals.
#[test]
fn names_in_sql_files_match_the_domain() {
    let files = files();
    let check = |file: &str, names: &[&str]| {
        for name in names {
            assert!(files[file].contains(&format!("'{name}'")), "{file} has no '{name}'");
        }
    };
    let moves = [PlanKind::MoveWithdrawal, PlanKind::ApproveWithdrawal].map(PlanKind::name);
    check("ports/audit/withdrawal_operations.sql", &moves);
    check("maintenance/advance_sequences.sql", &[EntityKind::Adjustment.name()]);
    check("tables/adjustments.sql", &[EntryKind::Adjustment.name()]);
    check("tables/income.sql", &Income::KINDS.map(EntryKind::name));
    let work = [EndpointState::Active.name(), Feed::Own.name(), Feed::All.name(), Role::Operator.name()];
    check("ports/endpoints_with_work.sql", &work);
    check("ports/oldest_failed_delivery.sql", &[EndpointState::Active.name()]);
    let sources = [MessageSource::Topups, MessageSource::Payouts].map(MessageSource::name);
    check("ports/messages_about_person.sql", &sources);
}
