//! Reads of a wallet, which must not slow down with the length of its history.

use anyhow::Context;

use super::Point;
use crate::context::Bench;
use crate::datasets::{Dataset, READ};
use crate::load::requests::{at_random, request};

/// The names and paths of the requests.
const REQUESTS: [(&str, &str); 3] = [
    ("personal-info", "/api/v1/user/personal-info"),
    ("wallet", "/api/v1/wallet"),
    ("entries, page 1", "/api/v1/wallet/entries?page=1"),
];

/// Measures each request for each wallet on one connection; each wallet has a server of its own.
pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Point>> {
    let mut points = Vec::new();
    for history in bench.population.wallets_with_history() {
        // PostgreSQL plans the first executions on a connection for the given wallet, possibly badly for a
        // long one.
        let servers = [bench.server(0, &bench.programs, &Dataset::Database(READ))?];
        let token = bench.tokens.of(&[history.user])?.pop().context("no token was issued")?;
        for (row, path) in REQUESTS {
            let asked = [request("GET", path, Some(&token), None)];
            let cell = || Ok(bench.cell(&servers, 1, &mut at_random(&asked), true)?.0);
            let figures = bench.median(cell)?;
            let size = history.entries.to_string();
            points.push(Point { row: row.to_owned(), size, figures });
        }
    }
    Ok(points)
}
