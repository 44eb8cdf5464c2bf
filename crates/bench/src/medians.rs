//! Tables of rows with figures of their own kind: medians of each figure over all runs.

use crate::figures::median;
use crate::table::{line, shown, table};

/// A figure of a row: the head of its column and its number of decimals.
pub(crate) type Column = (&'static str, usize);

/// The figures of a row in one run, one for each column.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row<const COLUMNS: usize> {
    pub(crate) name: String,
    pub(crate) figures: [Option<f64>; COLUMNS],
}

/// Returns the rows of all runs as a table of medians, in the order of the first run; nothing without rows.
pub(crate) fn markdown<const COLUMNS: usize>(
    columns: [Column; COLUMNS],
    title: &str,
    rows: &[Row<COLUMNS>],
) -> String {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.name.as_str()) {
            names.push(&row.name);
        }
    }
    if names.is_empty() {
        return String::new();
    }
    let heads = columns.map(|(head, _)| head.to_owned());
    let mut lines = vec![line(["row".to_owned()]).into_iter().chain(heads).collect()];
    for name in names {
        let of_row = |place: usize| {
            let runs = rows.iter().filter(|row| row.name == name);
            median(runs.filter_map(|row| row.figures.get(place).copied().flatten()))
        };
        let figures =
            columns.iter().enumerate().map(|(place, (_, decimals))| shown(of_row(place), *decimals));
        lines.push(std::iter::once(name.to_owned()).chain(figures).collect());
    }
    format!("{title}\n\n{}\n", table(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_the_median_of_each_figure() {
        let row = |name: &str, first, second| Row { name: name.to_owned(), figures: [Some(first), second] };
        let rows = [
            row("sqlite", 1.0, Some(0.25)),
            row("memory", 7.0, None),
            row("sqlite", 9.0, Some(0.75)),
            row("sqlite", 3.0, Some(0.5)),
        ];
        let expected = "\
Streams:

| row    | p99 ms |  CPU |
|--------|-------:|-----:|
| sqlite |      3 | 0.50 |
| memory |      7 |      |

";
        assert_eq!(markdown([("p99 ms", 0), ("CPU", 2)], "Streams:", &rows), expected);
        assert_eq!(markdown([("p99 ms", 0), ("CPU", 2)], "Streams:", &[]), "");
    }
}
