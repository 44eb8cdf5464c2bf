//! Comparison of two builds of the service, measured alternately within one run.

use std::collections::BTreeMap;

use anyhow::Context;

use crate::context::{Bench, Programs};
use crate::figures::{Figures, shown};
use crate::markdown::table;
use crate::operations::Store;
use crate::options::Options;

/// A row is slower if the median of its ratios is below this value and their upper quartile is below 1.
const SLOWER_BELOW: f64 = 0.95;

/// The ratios of one row at one number of connections, this build over the other.
#[derive(Debug, Default)]
struct Ratios {
    per_second: Vec<f64>,
    server_cpu: Vec<f64>,
}

/// Measures each selected row of both builds at the highest number of connections, in as many pairs as the
/// options have runs, and returns the table in Markdown.
///
/// The two measurements of a pair follow each other directly; every second pair starts with the other build. Rows on
/// SQLite are also compared with those of the other build on PostgreSQL.
///
/// # Errors
/// As [`run`](crate::run::run), and if the options name no other build.
pub(crate) fn run(options: Options) -> anyhow::Result<String> {
    let folder = options.against.clone().context("--against is required")?;
    let (other, pairs) = (Programs::in_folder(&folder), options.runs);
    let options = Options { connections: vec![options.most_connections()], ..options };
    let bench = Bench::seeded(options)?;
    if bench.uses_files() {
        bench.seed_file(&other)?;
    }
    let mut ratios: BTreeMap<(usize, String, usize), Ratios> = BTreeMap::new();
    for pair in 1..=pairs {
        eprintln!("pair {pair} of {pairs}");
        let mut others: BTreeMap<(&str, usize), Figures> = BTreeMap::new();
        for (place, ours) in bench.wanted().into_iter().enumerate() {
            let measure = |programs| bench.measure(&ours, programs).with_context(|| ours.name.clone());
            let (this, that) = if pair.is_multiple_of(2) {
                let that = measure(&other)?;
                (measure(&bench.programs)?, that)
            } else {
                (measure(&bench.programs)?, measure(&other)?)
            };
            for (this, that) in this.iter().zip(&that) {
                let row = ratios.entry((place, this.name.clone(), this.connections)).or_default();
                row.add(&this.figures, &that.figures);
                let operation = (ours.operation.name(), this.connections);
                match ours.store {
                    Store::Postgres if ours.servers == 1 => {
                        others.insert(operation, that.figures);
                    }
                    Store::Sqlite => {
                        let Some(postgres) = others.get(&operation) else { continue };
                        let name = format!("{} over postgres of the other build", this.name);
                        let row = ratios.entry((place, name, this.connections)).or_default();
                        row.add(&this.figures, postgres);
                    }
                    Store::Postgres | Store::Memory => {}
                }
            }
        }
    }
    Ok(markdown(&ratios))
}

impl Ratios {
    fn add(&mut self, this: &Figures, that: &Figures) {
        self.per_second.push(this.per_second / that.per_second);
        self.server_cpu.extend(this.server_cpu.zip(that.server_cpu).map(|(this, that)| this / that));
    }

    fn is_slower(&self) -> bool {
        let below = |share, limit| quantile(&self.per_second, share).is_some_and(|ratio| ratio < limit);
        below(0.5, SLOWER_BELOW) && below(0.75, 1.0)
    }
}

fn markdown(ratios: &BTreeMap<(usize, String, usize), Ratios>) -> String {
    let heads = "row | connections | pairs | req/s ratio | lower quartile | upper quartile | server CPU ratio | slower";
    let lines = ratios.iter().map(|((_, name, connections), row)| {
        let per_second = |share| shown(quantile(&row.per_second, share), 2);
        [
            name.clone(),
            connections.to_string(),
            row.per_second.len().to_string(),
            per_second(0.5),
            per_second(0.25),
            per_second(0.75),
            shown(quantile(&row.server_cpu, 0.5), 2),
            if row.is_slower() { "yes" } else { "no" }.to_owned(),
        ]
    });
    format!("This build over the other one, measured in turn:\n\n{}", table(heads, lines))
}

/// Returns the smallest figure that at least this share of the figures does not exceed.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "there are as many figures as pairs, 99 at most"
)]
fn quantile(figures: &[f64], share: f64) -> Option<f64> {
    let mut figures = figures.to_vec();
    figures.sort_by(f64::total_cmp);
    let rank = (figures.len() as f64 * share).ceil() as usize;
    figures.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(per_second: &[f64]) -> Ratios {
        Ratios { per_second: per_second.to_vec(), server_cpu: Vec::new() }
    }

    #[test]
    fn a_row_counts_as_slower_only_if_its_median_and_upper_quartile_are_low() {
        assert!(ratios(&[0.90, 0.94, 0.91, 0.99, 0.93]).is_slower());
        assert!(!ratios(&[0.90, 0.94, 0.91, 1.10, 1.02]).is_slower());
        assert!(!ratios(&[0.96, 0.97, 0.96]).is_slower());
        assert!(!ratios(&[]).is_slower());
    }

    #[test]
    fn quartiles_are_not_interpolated() {
        let figures = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(
            [0.25, 0.5, 0.75].map(|share| quantile(&figures, share)),
            [Some(1.0), Some(2.0), Some(3.0)]
        );
    }

    #[test]
    fn the_table_marks_slower_rows() {
        let rows = BTreeMap::from([((0, "memory: list".to_owned(), 64), ratios(&[0.5, 0.6, 0.7]))]);
        let text = markdown(&rows);
        assert!(text.contains("| memory: list |          64 |     3 |        0.60 |"), "{text}");
        assert!(text.contains("| yes    |"), "{text}");
    }
}
