//! The growth tables: each figure next to that of the smallest size.

use super::Point;
use crate::document::Report;
use crate::figures::Figures;
use crate::table::{line, shown, table};

/// All measured points.
pub(super) struct Growth {
    pub(super) machine: String,
    pub(super) runs: u32,
    pub(super) seconds: u64,
    pub(super) scales: Vec<Point>,
    pub(super) wallets: Vec<Point>,
    pub(super) feeds: Vec<Point>,
}

impl Growth {
    /// Returns the growth of everything as a short table, and further all points.
    pub(super) fn report(&self) -> Report {
        let Self { machine, runs, seconds, .. } = self;
        let kept = format!(
            "{machine}; medians of {runs} run(s) of {seconds} s a cell, on PostgreSQL at 16 connections:\n\n{}\n",
            overview(&self.scales)
        );
        let further = format!(
            "At each scale:\n\n{}\n\
             One wallet with so many entries, at 1 connection:\n\n{}\n\
             A log of so many operations, at 1 connection (wanted: p99 at most 5 ms):\n\n{}",
            compared("scale", &self.scales),
            compared("entries", &self.wallets),
            compared("operations", &self.feeds)
        );
        Report { kept, further }
    }
}

/// Returns one line for each row: the median latency at each size, and the largest size compared with the smallest.
fn overview(points: &[Point]) -> String {
    let distinct = |of: fn(&Point) -> &str| {
        let mut seen: Vec<&str> = Vec::new();
        for value in points.iter().map(of) {
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        seen
    };
    let sizes = distinct(|point| &point.size);
    let heads = sizes.iter().map(|size| format!("p50 ms at {size}"));
    let times = ["× p50", "× server CPU", "× database CPU"].map(str::to_owned);
    let mut lines = vec![line(["row".to_owned()]).into_iter().chain(heads).chain(times).collect()];
    for row in distinct(|point| &point.row) {
        let figures: Vec<Figures> =
            points.iter().filter(|point| point.row == row).map(|point| point.figures).collect();
        let times = |of: fn(&Figures) -> Option<f64>| Some(of(figures.last()?)? / of(figures.first()?)?);
        let mut cells = line([row.to_owned()]);
        cells.extend(figures.iter().map(|figures| format!("{:.2}", figures.p50)));
        cells.extend(line([
            shown(times(|figures| Some(figures.p50)), 2),
            shown(times(|figures| figures.server_cpu), 2),
            shown(times(|figures| figures.database_cpu), 2),
        ]));
        lines.push(cells);
    }
    table(lines)
}

/// Returns the table of the points, grouped by row, smallest size first.
fn compared(size: &str, points: &[Point]) -> String {
    let heads = [
        "row",
        size,
        "req/s",
        "p50 ms",
        "p99 ms",
        "server CPU",
        "database CPU",
        "× p50",
        "× server",
        "× database",
    ];
    let mut lines = vec![line(heads.map(str::to_owned))];
    let mut sorted: Vec<&Point> = points.iter().collect();
    let place = |row: &str| points.iter().position(|point| point.row == row);
    sorted.sort_by_key(|point| place(&point.row));
    for Point { row, size, figures } in sorted {
        let smallest = points.iter().find(|point| point.row == *row).map_or(*figures, |point| point.figures);
        let times = |of: fn(&Figures) -> Option<f64>| {
            of(figures).zip(of(&smallest)).map(|(figure, smallest)| figure / smallest)
        };
        lines.push(line([
            row.clone(),
            size.clone(),
            format!("{:.0}", figures.per_second),
            format!("{:.3}", figures.p50),
            format!("{:.3}", figures.p99),
            shown(figures.server_cpu, 3),
            shown(figures.database_cpu, 3),
            shown(times(|figures| Some(figures.p50)), 2),
            shown(times(|figures| figures.server_cpu), 2),
            shown(times(|figures| figures.database_cpu), 2),
        ]));
    }
    table(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_is_compared_with_the_smallest() {
        let point = |row: &str, size: &str, p50| Point {
            row: row.to_owned(),
            size: size.to_owned(),
            figures: Figures { p50, database_cpu: Some(p50 / 10.0), ..Figures::default() },
        };
        let points = [point("list", "0.1", 2.0), point("wallet", "0.1", 1.0), point("list", "1", 3.0)];
        let expected = "\
| row    | scale | req/s | p50 ms | p99 ms | server CPU | database CPU | × p50 | × server | × database |
|--------|------:|------:|-------:|-------:|-----------:|-------------:|------:|---------:|-----------:|
| list   |   0.1 |     0 |  2.000 |  0.000 |            |        0.200 |  1.00 |          |       1.00 |
| list   |     1 |     0 |  3.000 |  0.000 |            |        0.300 |  1.50 |          |       1.50 |
| wallet |   0.1 |     0 |  1.000 |  0.000 |            |        0.100 |  1.00 |          |       1.00 |
";
        assert_eq!(compared("scale", &points), expected);
    }

    #[test]
    fn the_overview_has_one_line_for_each_row() {
        let point = |row: &str, size: &str, p50| Point {
            row: row.to_owned(),
            size: size.to_owned(),
            figures: Figures { p50, server_cpu: Some(p50 / 10.0), ..Figures::default() },
        };
        let points = [
            point("list", "0.1", 2.0),
            point("hot", "0.1", 1.0),
            point("list", "1", 3.0),
            point("hot", "1", 0.75),
        ];
        let expected = "\
| row  | p50 ms at 0.1 | p50 ms at 1 | × p50 | × server CPU | × database CPU |
|------|--------------:|------------:|------:|-------------:|---------------:|
| list |          2.00 |        3.00 |  1.50 |         1.50 |                |
| hot  |          1.00 |        0.75 |  0.75 |         0.75 |                |
";
        assert_eq!(overview(&points), expected);
    }
}
