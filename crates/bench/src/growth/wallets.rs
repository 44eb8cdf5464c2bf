//! Reads of a wallet, which must not slow down with the length of its history.

use anyhow::Context;

use super::Point;
use crate::context::Bench;
use crate::figures::Figures;
use crate::load::requests::{at_random, request};
use crate::operations::{Operation, Store};
use crate::run::Ours;

/// The names and paths of the requests.
const REQUESTS: [(&str, &str); 3] = [
    ("personal-info", "/api/v1/user/personal-info"),
    ("wallet", "/api/v1/wallet"),
    ("entries, page 1", "/api/v1/wallet/entries?page=1"),
];

/// Measures each request for each wallet on one connection; each wallet has a server of its own.
pub(super) fn measure(bench: &Bench, runs: u32) -> anyhow::Result<Vec<Point>> {
    let ours = Ours {
        name: "long wallets".to_owned(),
        operation: Operation::PersonalInfo,
        store: Store::Postgres,
        servers: 1,
        connections: vec![1],
    };
    let mut points = Vec::new();
    for history in bench.population.wallets_with_history() {
        // PostgreSQL plans the first executions on a connection for the given wallet, possibly badly for a
        // long one.
        let servers = bench.readers(&ours)?;
        let token = bench.tokens.of(&[history.user])?.pop().context("no token was issued")?;
        for (row, path) in REQUESTS {
            let asked = [request("GET", path, Some(&token), None)];
            let mut several = Vec::new();
            for _ in 0..runs {
                let (figures, _) = bench.cell(&servers, 1, &mut at_random(&asked), true)?;
                several.push(figures);
            }
            let size = history.entries.to_string();
            points.push(Point { row: row.to_owned(), size, figures: Figures::median(&several) });
        }
    }
    Ok(points)
}
