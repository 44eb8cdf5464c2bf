//! What a cell of the table holds, and the median of several.

use std::time::Duration;

use anyhow::Context;
use hdrhistogram::Histogram;

/// What was measured of one row at one number of connections.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Figures {
    /// Requests or transactions a second.
    pub per_second: f64,
    /// The median latency in milliseconds.
    pub p50: f64,
    /// The latency that 99 of 100 stay below, in milliseconds.
    pub p99: f64,
    /// CPU seconds of our servers for 1000 requests.
    pub server_cpu: Option<f64>,
    /// CPU seconds of PostgreSQL for 1000 requests.
    pub database_cpu: Option<f64>,
    /// CPU seconds of whoever makes the load for 1000 requests.
    pub load_cpu: Option<f64>,
    /// The most memory that our servers had at once, in MiB.
    pub memory: Option<f64>,
    /// The requests a second as a multiple of the limit's best.
    pub of_limit: Option<f64>,
}

impl Figures {
    /// The median of each figure by itself; of two in the middle the upper one, which was measured.
    #[must_use]
    pub fn median(several: &[Self]) -> Self {
        let known = |figure: fn(&Self) -> f64| median(several.iter().map(figure)).unwrap_or_default();
        let maybe = |figure: fn(&Self) -> Option<f64>| median(several.iter().filter_map(figure));
        Self {
            per_second: known(|figures| figures.per_second),
            p50: known(|figures| figures.p50),
            p99: known(|figures| figures.p99),
            server_cpu: maybe(|figures| figures.server_cpu),
            database_cpu: maybe(|figures| figures.database_cpu),
            load_cpu: maybe(|figures| figures.load_cpu),
            memory: maybe(|figures| figures.memory),
            of_limit: maybe(|figures| figures.of_limit),
        }
    }
}

fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// The longest latency that is told from a longer one, in microseconds: a minute.
const LONGEST: u64 = 60_000_000;

/// Room for latencies in microseconds, with three digits each.
///
/// # Errors
/// When it cannot be had.
pub fn latencies() -> anyhow::Result<Histogram<u64>> {
    Histogram::new_with_bounds(1, LONGEST, 3).context("there is no histogram")
}

/// A quantile of latencies in microseconds, as milliseconds.
#[must_use]
pub fn milliseconds(latencies: &Histogram<u64>, quantile: f64) -> f64 {
    Duration::from_micros(latencies.value_at_quantile(quantile)).as_secs_f64() * 1_000.0
}

/// A count as a number to calculate with; a wrong one above 4 294 967 295, which no run reaches.
#[must_use]
pub fn number(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// CPU seconds for 1000 of this many.
#[must_use]
pub fn per_thousand(cpu: Duration, count: f64) -> f64 {
    cpu.as_secs_f64() * 1_000.0 / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_each_figure() {
        let figures = |per_second, p50, of_limit| Figures { per_second, p50, of_limit, ..Figures::default() };
        let three = [figures(3.0, 1.0, Some(0.5)), figures(1.0, 9.0, None), figures(2.0, 5.0, Some(0.7))];
        let median = Figures::median(&three);
        assert_eq!((median.per_second, median.p50), (2.0, 5.0));
        assert_eq!(median.of_limit, Some(0.7));
        assert_eq!(median.memory, None);
        assert_eq!(Figures::median(&three[..1]), three[0]);
    }

    #[test]
    fn units_are_those_of_the_table() {
        let mut latencies = latencies().unwrap();
        (1..=100).for_each(|tens: u64| latencies.saturating_record(tens * 10_000));
        assert!((milliseconds(&latencies, 0.5) - 500.0).abs() < 1.0);
        assert!((milliseconds(&latencies, 0.99) - 990.0).abs() < 1.0);
        assert!((per_thousand(Duration::from_secs(2), number(4_000)) - 0.5).abs() < 1e-9);
    }
}
