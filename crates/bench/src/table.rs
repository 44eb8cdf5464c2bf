//! The table of results.

mod targets;

use crate::document::Report;
use crate::figures::{Figures, shown};
use crate::machine::{Processors, Vendor};
use crate::markdown::table;
use crate::options::Options;
use crate::postgres::Cluster;
use crate::storage_copy::StorageCopies;

/// One row of one run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row {
    /// The name of the workload.
    pub(crate) name: String,
    /// The number of connections.
    pub(crate) connections: usize,
    /// The measured figures.
    pub(crate) figures: Figures,
}

/// The conditions of the measurement.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    text: String,
    vendor: Option<Vendor>,
}

impl Conditions {
    /// Returns the conditions of a run with these options.
    pub(crate) fn of(options: &Options, cluster: &Cluster) -> anyhow::Result<Self> {
        let machine = Self::machine(cluster)?;
        let vendor = Processors::of_this_machine()?.vendor;
        let (runs, seconds, scale) = (options.runs, options.seconds, options.scale);
        let pool = options.pool_size.map_or_else(|| "as configured".to_owned(), |size| size.to_string());
        let text = format!(
            "{machine}, scale {scale}, pool size {pool}; medians of {runs} run(s) of {seconds} s a cell.",
        );
        Ok(Self { text, vendor })
    }

    /// The conditions as a sentence.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Describes the machine and the version of PostgreSQL.
    pub(crate) fn machine(cluster: &Cluster) -> anyhow::Result<String> {
        Ok(format!("{}, PostgreSQL {}", Processors::of_this_machine()?, cluster.version()?))
    }
}

/// All rows of all runs.
pub(crate) struct Table {
    conditions: Conditions,
    copies: Option<StorageCopies>,
    runs: Vec<Vec<Row>>,
}

impl Table {
    /// Creates a table without rows.
    pub(crate) const fn new(conditions: Conditions, copies: Option<StorageCopies>) -> Self {
        Self { conditions, copies, runs: Vec::new() }
    }

    /// Adds the rows of another run.
    pub(crate) fn add(&mut self, run: Vec<Row>) {
        self.runs.push(run);
    }

    /// Returns the medians over all runs, in the order of the first run.
    fn medians(&self) -> Vec<Row> {
        let first = self.runs.first().map(Vec::as_slice).unwrap_or_default();
        let median = |row: &Row| {
            let same = |other: &&Row| other.name == row.name && other.connections == row.connections;
            let several: Vec<Figures> =
                self.runs.iter().flatten().filter(same).map(|row| row.figures).collect();
            Row { figures: Figures::median(&several), ..row.clone() }
        };
        first.iter().map(median).collect()
    }

    /// Returns the targets with the shares that were reached, and further all rows.
    pub(crate) fn report(&self) -> Report {
        let rows = self.medians();
        let copies = self.copies.map_or_else(String::new, |copies| copies.text());
        let kept = format!("{}\n\n{}{copies}", self.conditions.text, self.targets(&rows));
        Report { kept, further: all(&rows) }
    }
}

/// The highest throughput of a row over all numbers of connections.
pub(crate) fn best(rows: &[Row], name: &str) -> Option<f64> {
    rows.iter().filter(|row| row.name == name).map(|row| row.figures.per_second).max_by(f64::total_cmp)
}

fn all(rows: &[Row]) -> String {
    let heads = "row | connections | req/s | p50 ms | p99 ms | server CPU | database CPU | load CPU | memory MiB | ratio";
    let lines = rows.iter().map(|Row { name, connections, figures }| {
        let further = [shown(figures.load_cpu, 3), shown(figures.memory, 1), shown(figures.of_limit, 2)];
        [&[name.clone(), connections.to_string()][..], &figures.cells(2), &further].concat()
    });
    table(heads, lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, connections: usize, per_second: f64, of_limit: Option<f64>) -> Row {
        let figures = Figures { per_second, p50: 2.0, p99: 5.0, of_limit, ..Figures::default() };
        Row { name: name.to_owned(), connections, figures }
    }

    #[test]
    fn the_document_shows_the_targets_but_not_the_long_table() {
        let mut table = Table::new(Conditions { text: "Here.".to_owned(), vendor: None }, None);
        for (limit, ours) in [(1_000.0, 900.0), (1_200.0, 600.0), (800.0, 700.0)] {
            table.add(vec![
                row("bare handler", 1, limit, None),
                row("memory: personal-info", 64, ours, Some(ours / limit)),
            ]);
        }
        let expected = "\
| row                   | connections | req/s | p50 ms | p99 ms | server CPU | database CPU | load CPU | memory MiB | ratio |
|-----------------------|------------:|------:|-------:|-------:|-----------:|-------------:|---------:|-----------:|------:|
| bare handler          |           1 |  1000 |   2.00 |   5.00 |            |              |          |            |       |
| memory: personal-info |          64 |   700 |   2.00 |   5.00 |            |              |          |            |  0.88 |
";
        let report = table.report();
        assert_eq!(report.further, expected);
        assert!(report.kept.starts_with("Here.\n\nIn memory at 64 connections:\n"), "{}", report.kept);
    }
}
