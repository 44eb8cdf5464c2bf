//! `cargo xtask statements`: the statements of this version, recorded as its servers prepare them during the
//! tests.

mod message;
mod recorder;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::process::Command;

use anyhow::{Context, ensure};

use crate::cluster::{self, Cluster, Purpose};
use crate::workspace::{output_of, root};
use crate::{postgres_binaries, test};
use message::Prepared;
use recorder::Recorder;

/// The suites that use stores and servers on PostgreSQL, except the test of the recorded file.
const SUITES: &str = "-p cuepoint-store-postgres -p cuepoint --test postgres --test contract --test http -- \
                      --skip released::";
/// The version of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Runs the suites and writes the file of this version; a failing test leaves the file unchanged.
pub(crate) fn run() -> anyhow::Result<u8> {
    Cluster::during(Purpose::Testing, write_beside)
}

/// Runs the suites on the cluster, writes the file, and returns the exit code of the tests.
fn write_beside(cluster: &Cluster) -> anyhow::Result<u8> {
    let recorder = Recorder::start(cluster.port())?;
    let (url, store) = (cluster::url_at(recorder.port()), ("CUEPOINT_TEST_STORE", "postgres"));
    let code = test::run_on(&url, &SUITES.split(' ').collect::<Vec<_>>(), &[store])?;
    let statements = recorder.statements();
    ensure!(code != 0 || !statements.is_empty(), "no server has prepared a statement");
    if code == 0 {
        let types = type_names(cluster, &statements)?;
        let path = format!("migrations/postgres/released/{VERSION}.sql");
        fs::write(root().join(&path), file(&statements, &types))
            .with_context(|| format!("{path} cannot be written"))?;
        println!("{path} is written");
    }
    Ok(code)
}

/// Returns the type names of all parameters by OID.
fn type_names(cluster: &Cluster, statements: &BTreeSet<Prepared>) -> anyhow::Result<BTreeMap<u32, String>> {
    let used: BTreeSet<String> =
        statements.iter().flat_map(|statement| &statement.types).map(ToString::to_string).collect();
    let used: Vec<String> = used.into_iter().collect();
    let query = format!(
        "SELECT oid || ' ' || format_type(oid, NULL) FROM pg_type WHERE oid = ANY ('{{{}}}')",
        used.join(",")
    );
    let psql = postgres_binaries::client("psql", "postgresql-client")?;
    let answer = output_of(Command::new(psql).args(["-XAtq", "-d", &cluster.url(), "-c", &query]))?;
    let names = answer.lines().filter_map(|line| {
        let (oid, name) = line.split_once(' ')?;
        Some((oid.parse().ok()?, name.to_owned()))
    });
    Ok(names.collect())
}

/// Formats one `PREPARE` per line, ordered by the text of the statements.
fn file(statements: &BTreeSet<Prepared>, types: &BTreeMap<u32, String>) -> String {
    let mut text = format!(
        "-- The statements of version {VERSION}, written by `cargo xtask statements`. See migrations/README.md.\n"
    );
    for Prepared { sql, types: parameters } in statements {
        // The server infers a type that the client left open, here as in the service.
        let name = |oid| types.get(oid).map_or("unknown", String::as_str);
        let names: Vec<&str> = parameters.iter().map(name).collect();
        let list = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        let _ = writeln!(text, "PREPARE statement{list} AS {sql};");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_written_on_one_line_with_their_types() {
        let prepared = |sql: &str, types: &[u32]| Prepared { sql: sql.to_owned(), types: types.to_vec() };
        let statements =
            BTreeSet::from([prepared("SELECT 2", &[]), prepared("SELECT 1 WHERE $1 = $2", &[20, 0])]);
        let text = file(&statements, &BTreeMap::from([(20, "bigint".to_owned())]));
        let lines: Vec<&str> = text.lines().skip(1).collect();
        let expected = [
            "PREPARE statement (bigint, unknown) AS SELECT 1 WHERE $1 = $2;",
            "PREPARE statement AS SELECT 2;",
        ];
        assert_eq!(lines, expected);
    }
}
