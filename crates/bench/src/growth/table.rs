//! The growth tables: each figure next to that of the smallest size.

use super::Point;
use crate::document::Report;
use crate::figures::{Figures, shown};
use crate::markdown::{distinct, table};
use crate::options::Options;

/// Returns the growth of everything as a short table, and further all points.
pub(super) fn report(
    machine: &str,
    Options { runs, seconds, .. }: &Options,
    scales: &[Point],
    wallets: &[Point],
    feeds: &[Point],
) -> Report {
    let kept = format!(
        "{machine}; medians of {runs} run(s) of {seconds} s a cell, on PostgreSQL at 16 connections:\n\n{}\n",
        overview(scales)
    );
    let further = format!(
        "At each scale:\n\n{}\n\
         One wallet with so many entries, at 1 connection:\n\n{}\n\
         A log of so many operations, at 1 connection (wanted: p99 at most 5 ms):\n\n{}",
        compared("scale", scales),
        compared("entries", wallets),
        compared("operations", feeds)
    );
    Report { kept, further }
}

/// The median latency and the CPU times as multiples of those of the smallest size.
fn times(figures: &Figures, smallest: &Figures) -> [String; 3] {
    let times = |of: fn(&Figures) -> Option<f64>| shown(of(figures).zip(of(smallest)).map(|(a, b)| a / b), 2);
    [times(|of| Some(of.p50)), times(|of| of.server_cpu), times(|of| of.database_cpu)]
}

/// The points of a row, smallest size first.
fn of_row(points: &[Point], row: &str) -> Vec<Point> {
    points.iter().filter(|point| point.row == row).cloned().collect()
}

/// Returns one line for each row: the median latency at each size, and the largest size compared with the smallest.
fn overview(points: &[Point]) -> String {
    let sizes = distinct(points.iter().map(|point| point.size.as_str()));
    let heads: String = sizes.iter().map(|size| format!("p50 ms at {size} | ")).collect();
    let lines = distinct(points.iter().map(|point| point.row.as_str())).into_iter().map(|row| {
        let points = of_row(points, row);
        let at_sizes = points.iter().map(|point| format!("{:.2}", point.figures.p50));
        let ends = points.last().zip(points.first());
        let times = ends.map(|(largest, smallest)| times(&largest.figures, &smallest.figures));
        [row.to_owned()].into_iter().chain(at_sizes).chain(times.into_iter().flatten()).collect::<Vec<_>>()
    });
    table(&format!("row | {heads}× p50 | × server CPU | × database CPU"), lines)
}

/// Returns the table of the points, grouped by row, smallest size first.
fn compared(size: &str, points: &[Point]) -> String {
    let rows = distinct(points.iter().map(|point| point.row.as_str())).into_iter();
    let lines = rows.map(|row| of_row(points, row)).flat_map(|points| {
        let smallest = points.first().map(|point| point.figures).unwrap_or_default();
        points.into_iter().map(move |Point { row, size, figures }| {
            [&[row, size][..], &figures.cells(3), &times(&figures, &smallest)].concat()
        })
    });
    let heads = "req/s | p50 ms | p99 ms | server CPU | database CPU | × p50 | × server | × database";
    table(&format!("row | {size} | {heads}"), lines)
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
        let points = [
            point("list", "0.1", 2.0),
            point("wallet", "0.1", 1.0),
            point("list", "1", 3.0),
            point("wallet", "1", 0.75),
        ];
        let expected = "\
| row    | scale | req/s | p50 ms | p99 ms | server CPU | database CPU | × p50 | × server | × database |
|--------|------:|------:|-------:|-------:|-----------:|-------------:|------:|---------:|-----------:|
| list   |   0.1 |     0 |  2.000 |  0.000 |            |        0.200 |  1.00 |          |       1.00 |
| list   |     1 |     0 |  3.000 |  0.000 |            |        0.300 |  1.50 |          |       1.50 |
| wallet |   0.1 |     0 |  1.000 |  0.000 |            |        0.100 |  1.00 |          |       1.00 |
| wallet |     1 |     0 |  0.750 |  0.000 |            |        0.075 |  0.75 |          |       0.75 |
";
        assert_eq!(compared("scale", &points), expected);
        let expected = "\
| row    | p50 ms at 0.1 | p50 ms at 1 | × p50 | × server CPU | × database CPU |
|--------|--------------:|------------:|------:|-------------:|---------------:|
| list   |          2.00 |        3.00 |  1.50 |              |           1.50 |
| wallet |          1.00 |        0.75 |  0.75 |              |           0.75 |
";
        assert_eq!(overview(&points), expected);
    }
}
