//! The figures of a cell of the table, and their medians.

use std::time::Duration;

use anyhow::Context;
use hdrhistogram::Histogram;

/// The figures of one row at one number of connections.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Figures {
    /// Requests or transactions per second.
    pub(crate) per_second: f64,
    /// The median latency in milliseconds.
    pub(crate) p50: f64,
    /// The 99th percentile of the latency in milliseconds.
    pub(crate) p99: f64,
    /// CPU seconds of the service per 1000 requests.
    pub(crate) server_cpu: Option<f64>,
    /// CPU seconds of PostgreSQL per 1000 requests.
    pub(crate) database_cpu: Option<f64>,
    /// CPU seconds of the load generator per 1000 requests.
    pub(crate) load_cpu: Option<f64>,
    /// Peak memory of the service, in MiB.
    pub(crate) memory: Option<f64>,
    /// Requests per second as a multiple of the best result of the limit.
    pub(crate) of_limit: Option<f64>,
}

impl Figures {
    /// The throughput, with latencies in microseconds.
    pub(crate) fn of(per_second: f64, latencies: &Histogram<u64>) -> Self {
        let Quantiles { p50, p99, .. } = Quantiles::of(latencies);
        Self { per_second, p50, p99, ..Self::default() }
    }

    /// Throughput, latencies with this number of decimals, and the CPU time of server and database, as in each table.
    pub(crate) fn cells(&self, decimals: usize) -> [String; 5] {
        [
            shown(Some(self.per_second), 0),
            shown(Some(self.p50), decimals),
            shown(Some(self.p99), decimals),
            shown(self.server_cpu, 3),
            shown(self.database_cpu, 3),
        ]
    }

    /// Returns the mean of each figure separately.
    pub(crate) fn mean(several: &[Self]) -> Self {
        let known = |figure: fn(&Self) -> f64| mean(several.iter().map(figure)).unwrap_or_default();
        let maybe = |figure: fn(&Self) -> Option<f64>| mean(several.iter().filter_map(figure));
        Self::each(known, maybe)
    }

    /// Returns the median of each figure separately; of two middle values, the upper one, which was measured.
    pub(crate) fn median(several: &[Self]) -> Self {
        let known = |figure: fn(&Self) -> f64| median(several.iter().map(figure)).unwrap_or_default();
        let maybe = |figure: fn(&Self) -> Option<f64>| median(several.iter().filter_map(figure));
        Self::each(known, maybe)
    }

    /// The figures that these functions make of each one.
    fn each(
        known: impl Fn(fn(&Self) -> f64) -> f64,
        maybe: impl Fn(fn(&Self) -> Option<f64>) -> Option<f64>,
    ) -> Self {
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

/// Quantiles of latencies, in milliseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Quantiles {
    /// The median.
    pub(crate) p50: f64,
    /// The 99th percentile.
    pub(crate) p99: f64,
    /// The 99.9th percentile.
    pub(crate) p999: f64,
    /// The longest one.
    pub(crate) max: f64,
}

impl Quantiles {
    /// The quantiles of latencies in microseconds.
    pub(crate) fn of(latencies: &Histogram<u64>) -> Self {
        let [p50, p99, p999, max] = [0.5, 0.99, 0.999, 1.0].map(|share| milliseconds(latencies, share));
        Self { p50, p99, p999, max }
    }
}

/// Returns the median; of two middle values, the upper one, which was measured.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// Returns the mean, if there is a figure.
fn mean(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = figures.fold((0.0, 0.0), |(sum, count), figure| (sum + figure, count + 1.0));
    (count > 0.0).then_some(sum / count)
}

/// A figure with this number of decimals; nothing without one.
pub(crate) fn shown(figure: Option<f64>, decimals: usize) -> String {
    figure.map_or_else(String::new, |figure| format!("{figure:.decimals$}"))
}

/// The longest latency that a histogram distinguishes, in microseconds: one minute.
const LONGEST: u64 = 60_000_000;

/// A histogram of latencies in microseconds, with three significant digits.
pub(crate) fn latencies() -> anyhow::Result<Histogram<u64>> {
    Histogram::new_with_bounds(1, LONGEST, 3).context("cannot create the histogram")
}

/// A quantile of latencies in microseconds, converted to milliseconds.
pub(crate) fn milliseconds(latencies: &Histogram<u64>, quantile: f64) -> f64 {
    Duration::from_micros(latencies.value_at_quantile(quantile)).as_secs_f64() * 1_000.0
}

/// Converts a count to a floating-point number; wrong above 4 294 967 295, which no run reaches.
pub(crate) fn number(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

/// Converts bytes to MiB; wrong above 4 TiB, which no server uses.
pub(crate) fn mebibytes(bytes: u64) -> f64 {
    number(bytes.div_euclid(1_024)) / 1_024.0
}

/// CPU seconds per 1000 of this count.
pub(crate) fn per_thousand(cpu: Duration, count: f64) -> f64 {
    cpu.as_secs_f64() * 1_000.0 / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_taken_per_figure() {
        let figures = |per_second, p50, of_limit| Figures { per_second, p50, of_limit, ..Figures::default() };
        let three = [figures(3.0, 1.0, Some(0.5)), figures(1.0, 9.0, None), figures(2.0, 5.0, Some(0.7))];
        let median = Figures::median(&three);
        assert_eq!((median.per_second, median.p50), (2.0, 5.0));
        assert_eq!(median.of_limit, Some(0.7));
        assert_eq!(median.memory, None);
        assert_eq!(Figures::median(&three[..1]), three[0]);
    }

    #[test]
    fn means_are_taken_per_figure() {
        let figures = |per_second, memory| Figures { per_second, memory, ..Figures::default() };
        let mean = Figures::mean(&[figures(3.0, Some(2.0)), figures(1.0, None)]);
        assert_eq!((mean.per_second, mean.memory, mean.of_limit), (2.0, Some(2.0), None));
    }

    #[test]
    fn latency_is_shown_in_milliseconds_and_cpu_time_per_thousand_answers() {
        let mut latencies = latencies().unwrap();
        (1..=100).for_each(|tens: u64| latencies.saturating_record(tens * 10_000));
        assert!((milliseconds(&latencies, 0.5) - 500.0).abs() < 1.0);
        assert!((milliseconds(&latencies, 0.99) - 990.0).abs() < 1.0);
        let Quantiles { p50, p99, p999, max } = Quantiles::of(&latencies);
        let distances = [p50 - 500.0, p99 - 990.0, p999 - 1_000.0, max - 1_000.0];
        assert!(distances.into_iter().all(|distance| distance.abs() < 1.0), "{distances:?}");
        assert!((per_thousand(Duration::from_secs(2), number(4_000)) - 0.5).abs() < 1e-9);
    }
}
