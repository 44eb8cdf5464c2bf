//! The targets of the project, and what was reached: a table for each store.

use super::{Row, Table};
use crate::figures::{Figures, median, shown};
use crate::limits;
use crate::markdown::table;
use crate::operations::{Operation, Store};

/// The number of connections at which results are judged.
const JUDGED_AT: usize = 64;
/// The longest median time of a withdrawal on a connection of its own, as a multiple of that of its limit.
const LONE_WITHDRAWAL: f64 = 1.4;

impl Table {
    /// Returns the table of each store that was measured at the number of connections at which results are
    /// judged. A smoke test stays below it.
    pub(super) fn targets(&self, medians: &[Row]) -> String {
        Store::ALL.into_iter().filter_map(|store| self.of_store(store, medians)).collect()
    }

    fn of_store(&self, store: Store, medians: &[Row]) -> Option<String> {
        let mut lines = Vec::new();
        let mut memory: Option<f64> = None;
        for operation in Operation::ALL {
            let name = operation.row(store);
            let Some(figures) = figures_of(medians, &name, JUDGED_AT) else { continue };
            memory = figures.memory.into_iter().chain(memory).max_by(f64::total_cmp);
            for limit in operation.limits(store) {
                let per_second = |run: &[Row]| figures_of(run, &name, JUDGED_AT).map(|one| one.per_second);
                let ratio = self.ratio(per_second, |run| super::best(run, &limit.row));
                let wanted = limit.wanted.and_then(|wanted| wanted.on(self.conditions.vendor));
                let best = shown(super::best(medians, &limit.row), 0);
                let wanted = wanted.map_or_else(String::new, |wanted| format!("≥ {wanted:.2}"));
                lines.push(judged(operation.name(), figures, [limit.row, best, shown(ratio, 2), wanted]));
            }
        }
        if lines.is_empty() {
            return None;
        }
        lines.extend(self.lone_withdrawal(medians).filter(|_| store == Store::Postgres));
        let memory = memory.zip(store.most_memory()).map_or_else(String::new, |(memory, most)| {
            format!("Peak memory of the servers: {memory:.1} MiB (wanted: at most {most}).\n\n")
        });
        let heads = "operation | req/s | p50 ms | p99 ms | server CPU | database CPU | limit | its best | ratio | wanted";
        let table = table(heads, lines);
        Some(format!("{} at {JUDGED_AT} connections:\n\n{table}\n{memory}", store.title()))
    }

    /// Returns the line of a withdrawal on a connection of its own, whose median time is compared.
    fn lone_withdrawal(&self, medians: &[Row]) -> Option<Vec<String>> {
        let (name, limit) = (Operation::Withdrawal.row(Store::Postgres), limits::RANDOM_STATEMENT);
        let figures = figures_of(medians, &name, 1)?;
        let p50 = |run: &[Row], row: &str| figures_of(run, row, 1).map(|one| one.p50);
        let (best, ratio) = (p50(medians, limit), self.ratio(|run| p50(run, &name), |run| p50(run, limit)));
        let (limit, wanted) = (format!("{limit}, p50 ms"), format!("≤ {LONE_WITHDRAWAL:.2}"));
        Some(judged("withdrawal (1 connection)", figures, [limit, shown(best, 2), shown(ratio, 2), wanted]))
    }

    /// Returns the median over all runs of a figure divided by that of its limit in the same run.
    fn ratio(
        &self,
        ours: impl Fn(&[Row]) -> Option<f64>,
        limit: impl Fn(&[Row]) -> Option<f64>,
    ) -> Option<f64> {
        median(self.runs.iter().filter_map(|run| Some(ours(run)? / limit(run)?)))
    }
}

fn figures_of(rows: &[Row], name: &str, connections: usize) -> Option<Figures> {
    rows.iter().find(|row| row.name == name && row.connections == connections).map(|row| row.figures)
}

/// The line of an operation with its limit, the best result of the limit, the ratio, and what is wanted.
fn judged(operation: &str, figures: Figures, judgement: [String; 4]) -> Vec<String> {
    [&[operation.to_owned()][..], &figures.cells(2), &judgement].concat()
}

#[cfg(test)]
mod tests {
    use super::super::Conditions;
    use super::*;
    use crate::machine::Vendor;

    fn row(name: &str, connections: usize, per_second: f64, p50: f64) -> Row {
        let figures = Figures { per_second, p50, p99: 5.0, memory: Some(30.0), ..Figures::default() };
        Row { name: name.to_owned(), connections, figures }
    }

    fn targets(vendor: Option<Vendor>, runs: &[Vec<Row>]) -> String {
        let mut table = Table::new(Conditions { text: String::new(), vendor }, None);
        runs.iter().for_each(|run| table.add(run.clone()));
        table.targets(&table.medians())
    }

    #[test]
    fn ratios_are_medians_over_runs_and_targets_depend_on_the_processor() {
        let runs = [(1_000.0, 900.0), (1_200.0, 600.0), (800.0, 700.0)].map(|(limit, ours)| {
            vec![row("bare handler", 1, limit, 1.0), row("memory: personal-info", 64, ours, 2.0)]
        });
        let expected = "\
In memory at 64 connections:

| operation     | req/s | p50 ms | p99 ms | server CPU | database CPU | limit        | its best | ratio | wanted |
|---------------|------:|-------:|-------:|-----------:|-------------:|--------------|---------:|------:|-------:|
| personal-info |   700 |   2.00 |   5.00 |            |              | bare handler |     1000 |  0.88 | ≥ 0.65 |

";
        assert_eq!(targets(Some(Vendor::Intel), &runs), expected);
        assert_eq!(targets(Some(Vendor::Amd), &runs), expected.replace("≥ 0.65", "≥ 0.90"));
        assert_eq!(targets(None, &runs), expected.replace("≥ 0.65", "      "));
    }

    #[test]
    fn withdrawals_on_one_connection_are_compared_by_their_median_time() {
        let run = vec![
            row(limits::RANDOM_STATEMENT, 1, 1_300.0, 0.8),
            row(limits::RANDOM_STATEMENT, 64, 4_000.0, 14.0),
            row("postgres: withdrawal (random)", 1, 500.0, 2.0),
            row("postgres: withdrawal (random)", 64, 5_000.0, 12.0),
        ];
        let expected = "\
PostgreSQL at 64 connections:

| operation                 | req/s | p50 ms | p99 ms | server CPU | database CPU | limit                                          | its best | ratio | wanted |
|---------------------------|------:|-------:|-------:|-----------:|-------------:|------------------------------------------------|---------:|------:|-------:|
| withdrawal (random)       |  5000 |  12.00 |   5.00 |            |              | pgbench: withdrawal statement (random)         |     4000 |  1.25 | ≥ 1.60 |
| withdrawal (1 connection) |   500 |   2.00 |   5.00 |            |              | pgbench: withdrawal statement (random), p50 ms |     0.80 |  2.50 | ≤ 1.40 |

Peak memory of the servers: 30.0 MiB (wanted: at most 40).

";
        assert_eq!(targets(None, std::slice::from_ref(&run)), expected);
        let at_most_16 = run.into_iter().filter(|row| row.connections < 64).collect();
        assert_eq!(targets(None, &[at_most_16]), "");
    }
}
