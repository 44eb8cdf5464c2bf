//! What a scenario came to: a row of the table, and every broken promise.

use std::time::Duration;

/// The longest that a caller waits for a 503.
pub(crate) const REFUSED_WITHIN: Duration = Duration::from_secs(5);
/// The longest from the promotion of a standby, or from the return of the primary's name, to the first success.
pub(crate) const SUCCESS_WITHIN: Duration = Duration::from_secs(10);

const COLUMNS: [&str; 8] =
    ["scenario", "first success", "503s", "slowest 503", "slowest 2xx", "acknowledged", "lost", "doubled"];

/// A report that is being written.
pub(crate) struct Report {
    scenario: &'static str,
    rows: Vec<[String; COLUMNS.len()]>,
    broken: Vec<String>,
}

impl Report {
    pub(crate) const fn new(scenario: &'static str) -> Self {
        Self { scenario, rows: Vec::new(), broken: Vec::new() }
    }

    /// Notes a promise that does not hold, and goes on.
    pub(crate) fn check(&mut self, holds: bool, promise: impl Into<String>) {
        if !holds {
            self.broken.push(promise.into());
        }
    }

    /// Adds a row; columns without a value stay empty.
    pub(crate) fn row(&mut self, part: &str, values: [String; COLUMNS.len() - 1]) {
        let name =
            if part.is_empty() { self.scenario.to_owned() } else { format!("{}, {part}", self.scenario) };
        let mut row = std::array::from_fn(|_| String::new());
        row[0] = name;
        row[1..].clone_from_slice(&values);
        self.rows.push(row);
    }

    /// Adds a row for one answer.
    pub(crate) fn answer(&mut self, part: &str, status: u16, took: Duration) {
        let mut values: [String; COLUMNS.len() - 1] = std::array::from_fn(|_| String::new());
        let (refused, column) = if status == 503 { ("1", 2) } else { ("0", 3) };
        values[1] = refused.to_owned();
        values[column] = seconds(took);
        self.row(part, values);
    }

    /// Prints the table; fails where a promise was broken.
    #[track_caller]
    pub(crate) fn finish(self) {
        eprintln!("{}", self.table());
        assert!(self.broken.is_empty(), "{}:\n- {}", self.scenario, self.broken.join("\n- "));
    }

    fn table(&self) -> String {
        let header = COLUMNS.map(str::to_owned);
        let rows: Vec<_> = std::iter::once(&header).chain(&self.rows).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
        let line = |row: &&[String; COLUMNS.len()]| {
            let cells = (1..COLUMNS.len()).map(|column| format!("{:>1$}", row[column], width(column)));
            format!("{:<1$}  {2}", row[0], width(0), cells.collect::<Vec<_>>().join("  "))
        };
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// A duration in seconds.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.2} s", time.as_secs_f64())
}
