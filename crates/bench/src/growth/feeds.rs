//! The feed of a member without events on SQLite. It must not slow down as operations accumulate.

use anyhow::Context;
use cuepoint_domain::ids::UserId;

use super::Point;
use crate::context::Bench;
use crate::data_directory::DataDirectory;
use crate::datasets::{Dataset, SEEDED};
use crate::load::requests::{at_random, request};

/// The name of the row.
pub(super) const ROW: &str = "feed without events, SQLite";
/// The request: the first page of the feed.
const PATH: &str = "/api/v1/events?after=0&limit=100";
/// Another user. No row is necessary, because a token alone authenticates a request.
const WITHOUT_EVENTS: i64 = 1_000_000_000;

/// Measures the feed with at least each of these numbers of operations, the smallest first, on one connection.
pub(super) fn measure(bench: &Bench, numbers: impl Iterator<Item = i64>) -> anyhow::Result<Vec<Point>> {
    bench.fill_file(&bench.programs)?;
    let directory = bench.directory(SEEDED);
    let reader = UserId::new(WITHOUT_EVENTS).context("the id of a user")?;
    let token = bench.tokens.of(&[reader])?.pop().context("no token was issued")?;
    let asked = [request("GET", PATH, Some(&token), None)];
    let mut points = Vec::new();
    for number in numbers {
        add_operations(&directory, number)?;
        let servers = [bench.server(0, &bench.programs, &Dataset::Directory(directory.clone()))?];
        let cell = || Ok(bench.cell(&servers, 1, &mut at_random(&asked), false)?.0);
        let figures = bench.median(cell)?;
        let size = directory.number("SELECT max(position) FROM operations")?.to_string();
        points.push(Point { row: ROW.to_owned(), size, figures });
    }
    directory.remove()?;
    Ok(points)
}

/// Adds operations of all users until there are this many.
fn add_operations(directory: &DataDirectory, number: i64) -> anyhow::Result<()> {
    let newest = directory.number("SELECT max(position) FROM operations")?;
    let users = directory.number("SELECT max(id) FROM users")?;
    let writer = directory.writer()?;
    // Nothing here has to survive a crash, and entries of the indexes by user are spread over them.
    writer.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576")?;
    let added = writer.execute(
        "INSERT INTO operations (id, kind, at, receipt, position, owner_id, dj_id) \
         WITH RECURSIVE numbers (n) AS (SELECT ?1 + 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2) \
         SELECT unhex(printf('%032x', n)), 'move_request', unixepoch() * 1000000, '{}', n, \
            abs(random()) % ?3 + 1, abs(random()) % ?3 + 1 FROM numbers WHERE n <= ?2",
        [newest, number, users],
    )?;
    eprintln!("added {added} operations");
    Ok(())
}
