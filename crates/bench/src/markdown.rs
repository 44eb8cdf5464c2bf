//! Tables in Markdown.

use crate::figures::{median, shown};

/// A figure of a row: the head of its column and its number of decimals.
pub(crate) type Column = (&'static str, usize);

/// The figures of a row in one run, one for each column.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Row<const COLUMNS: usize> {
    pub(crate) name: String,
    pub(crate) figures: [Option<f64>; COLUMNS],
}

/// Returns the rows of all runs as a table of the medians of each figure, in the order of the first run; nothing without
/// rows.
pub(crate) fn medians<const COLUMNS: usize>(
    columns: [Column; COLUMNS],
    title: &str,
    rows: &[Row<COLUMNS>],
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let lines = distinct(rows.iter().map(|row| row.name.as_str())).into_iter().map(|name| {
        let of_row = |place: usize| {
            let runs = rows.iter().filter(|row| row.name == name);
            median(runs.filter_map(|row| row.figures.get(place).copied().flatten()))
        };
        let figures = (0..).zip(&columns).map(|(place, (_, decimals))| shown(of_row(place), *decimals));
        [name.to_owned()].into_iter().chain(figures).collect::<Vec<_>>()
    });
    let heads: String = columns.iter().map(|(head, _)| format!(" | {head}")).collect();
    format!("{title}\n\n{}\n", table(&format!("row{heads}"), lines))
}

/// The different ones of these texts, in the order in which they occur first.
pub(crate) fn distinct<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut found = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// Formats lines below heads such as `row | req/s`, padded for reading as plain text: names to the left, numbers to the
/// right.
pub(crate) fn table<Line: AsRef<[String]>>(heads: &str, lines: impl IntoIterator<Item = Line>) -> String {
    let heads: Vec<String> = heads.split(" | ").map(str::to_owned).collect();
    let lines: Vec<Line> = lines.into_iter().collect();
    let form = heads.iter().enumerate().map(|(column, head)| {
        let cells = || lines.iter().filter_map(|line| line.as_ref().get(column));
        let width = cells().chain([head]).map(|cell| cell.chars().count()).max();
        (width.unwrap_or(0).max(3), cells().any(|cell| cell.contains(char::is_alphabetic)))
    });
    let form: Vec<(usize, bool)> = form.collect();
    let padded = |line: &[String]| {
        let cells = line.iter().zip(&form).map(|(cell, (width, is_text))| {
            if *is_text { format!("| {cell:<width$} ") } else { format!("| {cell:>width$} ") }
        });
        cells.collect::<String>() + "|\n"
    };
    let rule = form.iter().map(|(width, is_text)| {
        let end = if *is_text { '-' } else { ':' };
        format!("|-{}{end}", "-".repeat(*width))
    });
    let above = [padded(&heads), rule.collect(), "|\n".to_owned()];
    above.into_iter().chain(lines.iter().map(|line| padded(line.as_ref()))).collect()
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
        assert_eq!(medians([("p99 ms", 0), ("CPU", 2)], "Streams:", &rows), expected);
        assert_eq!(medians([("p99 ms", 0), ("CPU", 2)], "Streams:", &[]), "");
    }
}
