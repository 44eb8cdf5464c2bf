//! The throughput of PostgreSQL alone on equivalent work.

use std::time::Duration;

use anyhow::{Context, ensure};

use crate::context::Bench;
use crate::figures::Quantiles;
use crate::load::schedule::Rate;
use crate::pgbench::{Ran, Script};
use crate::postgres::Cluster;
use crate::seeding::Population;

/// The warm-up of each script, which is not counted.
const WARM_UP: Duration = Duration::from_secs(1);
/// Makes every request that is neither pending nor accepted an accepted one, so that each update finds a row
/// that it can change.
const ALL_OPEN: &str = "UPDATE music_requests SET status = 'accepted', commission = NULL, \
                        expires_at = now() + interval '1 year' WHERE status NOT IN ('pending', 'accepted')";
const OPERATIONS: &str = "SELECT count(*) FROM operations";

/// Moves the seeded data of a database into the schema that the scripts are written for, which later migrations do
/// not change.
pub(crate) const FREEZE: &str = concat!(
    "ALTER SCHEMA public RENAME TO seeded; CREATE SCHEMA public;\n",
    include_str!("../pgbench/schema.sql"),
    include_str!("../pgbench/fill.sql")
);

/// A workload that pgbench runs.
pub(crate) struct Limit {
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// Alternative scripts; the fastest counts.
    scripts: &'static [&'static str],
    /// Whether it works on a single wallet.
    hot: bool,
    /// Its effect on the database; `None` if it only reads.
    pub(crate) writes: Option<Writes>,
}

/// The preparation and the verification of a writing workload.
pub(crate) struct Writes {
    /// The statement that prepares a fresh copy of the database.
    pub(crate) prepared_by: Option<&'static str>,
    /// The query of a count that each transaction increases by one.
    counted_by: Option<&'static str>,
}

const fn reads(name: &'static str, scripts: &'static [&'static str]) -> Limit {
    Limit { name, scripts, hot: false, writes: None }
}

const fn withdrawals(name: &'static str, scripts: &'static [&'static str], hot: bool) -> Limit {
    Limit { name, scripts, hot, writes: Some(Writes { prepared_by: None, counted_by: Some(OPERATIONS) }) }
}

const STATEMENT: &str = include_str!("../pgbench/withdrawal_statement.sql");
const TRANSACTION: &str = include_str!("../pgbench/withdrawal_transaction.sql");

/// The single-row select that corresponds to `personal-info`.
pub(crate) const ONE_ROW: &str = "pgbench: one-row select";
/// The length and the first page of a list in one round trip.
pub(crate) const COUNT_AND_PAGE: &str = "pgbench: count and page";
/// The update of a request without a recorded operation.
pub(crate) const CONDITIONAL_UPDATE: &str = "pgbench: conditional update";
/// A withdrawal in the fastest single statement, on random wallets.
pub(crate) const RANDOM_STATEMENT: &str = "pgbench: withdrawal statement (random)";
/// A withdrawal in the fastest single statement, on one wallet.
pub(crate) const HOT_STATEMENT: &str = "pgbench: withdrawal statement (hot)";

/// Every workload.
pub(crate) const LIMITS: &[Limit] = &[
    reads(ONE_ROW, &[include_str!("../pgbench/personal_info.sql")]),
    reads(
        COUNT_AND_PAGE,
        &[include_str!("../pgbench/list_statement.sql"), include_str!("../pgbench/list_pipeline.sql")],
    ),
    Limit {
        name: CONDITIONAL_UPDATE,
        scripts: &[include_str!("../pgbench/update.sql")],
        hot: false,
        writes: Some(Writes { prepared_by: Some(ALL_OPEN), counted_by: None }),
    },
    Limit {
        name: "pgbench: recorded conditional update",
        scripts: &[include_str!("../pgbench/update_recorded.sql")],
        hot: false,
        writes: Some(Writes { prepared_by: Some(ALL_OPEN), counted_by: Some(OPERATIONS) }),
    },
    withdrawals(RANDOM_STATEMENT, &[STATEMENT], false),
    withdrawals("pgbench: withdrawal transaction (random)", &[TRANSACTION], false),
    withdrawals(HOT_STATEMENT, &[STATEMENT], true),
    withdrawals("pgbench: withdrawal transaction (hot)", &[TRANSACTION], true),
];

impl Limit {
    /// Runs the scripts in as many sessions as the options have connections, and returns the results of the fastest script.
    ///
    /// # Errors
    /// If a transaction fails or does not have its effect.
    pub(crate) fn measure(&self, bench: &Bench, database: &str) -> anyhow::Result<Vec<Ran>> {
        let Bench { pgbench, cluster, population, options, .. } = bench;
        let variables = &self.variables(population)?;
        let mut best: Vec<Ran> = Vec::new();
        for text in self.scripts {
            let script = |sessions| Script { text, variables, cluster, database, sessions };
            pgbench.run(script(options.connections.last().copied().unwrap_or(1)), WARM_UP)?;
            let mut cells = Vec::new();
            for sessions in &options.connections {
                let before = self.count(cluster, database)?;
                let ran = pgbench.run(script(*sessions), options.counted())?;
                let added = self.count(cluster, database)?.saturating_sub(before);
                let transactions = i64::try_from(ran.transactions)?;
                let counts = self.writes.as_ref().is_some_and(|writes| writes.counted_by.is_some());
                ensure!(!counts || added == transactions, "{transactions} transactions had {added} effects");
                cells.push(ran);
            }
            if top(&cells) > top(&best) {
                best = cells;
            }
        }
        Ok(best)
    }

    /// Runs its first script at a rate, and returns the latencies, each counted from the time at which the
    /// transaction was due.
    ///
    /// # Errors
    /// If a transaction fails.
    pub(crate) fn measure_at(&self, bench: &Bench, database: &str, rate: Rate) -> anyhow::Result<Quantiles> {
        let Bench { pgbench, cluster, population, options, .. } = bench;
        let variables = &self.variables(population)?;
        let text = self.scripts.first().context("a limit has no script")?;
        let sessions = options.most_connections();
        pgbench.run_at(Script { text, variables, cluster, database, sessions }, rate)
    }

    fn count(&self, cluster: &Cluster, database: &str) -> anyhow::Result<i64> {
        let query = self.writes.as_ref().and_then(|writes| writes.counted_by);
        query.map_or(Ok(0), |query| cluster.number(database, query))
    }

    /// Returns the variables from which the scripts draw random rows: `number = first + step × 0 …`.
    fn variables(&self, population: &Population) -> anyhow::Result<Vec<(&'static str, i64)>> {
        let users = if self.hot { 1 } else { i64::try_from(population.users().count())? };
        let [first_dj, second_dj] = two(population.djs().map(|dj| dj.get()))?;
        Ok(vec![
            ("first_user", two(population.users().map(|user| user.get()))?[0]),
            ("user_step", 1),
            ("users", users),
            ("first_dj", first_dj),
            ("dj_step", second_dj.saturating_sub(first_dj)),
            ("djs", i64::try_from(population.djs().count())?),
            ("first_request", 1),
            ("request_step", 1),
            ("requests", i64::from(population.request_count())),
        ])
    }
}

fn two(mut ids: impl Iterator<Item = i64>) -> anyhow::Result<[i64; 2]> {
    let [Some(first), Some(second)] = [ids.next(), ids.next()] else {
        anyhow::bail!("the scale is too small to draw rows from");
    };
    Ok([first, second])
}

fn top(cells: &[Ran]) -> f64 {
    cells.iter().map(|ran| ran.figures.per_second).fold(0.0, f64::max)
}
