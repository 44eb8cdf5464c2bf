//! The lines of the checks, or one JSON object.

use cuepoint_domain::ports::{Diagnosis, Health};
use serde::Serialize;

use crate::cli::print;

/// Exit status: a check failed.
const FAILED: u8 = 1;
/// Exit status: no check failed.
const PASSED: u8 = 0;

/// The width of the names of checks.
const WIDTH: usize = 26;

/// A result as JSON.
#[derive(Serialize)]
struct Row {
    check: &'static str,
    status: &'static str,
    found: String,
    /// What to do; null if nothing has to be done.
    remedy: Option<String>,
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    failures: usize,
    warnings: usize,
    checks: &'a [Row],
}

/// The results so far. Lines are printed as they come, since some checks take seconds.
pub(super) struct DoctorReport {
    as_json: bool,
    rows: Vec<Row>,
}

impl DoctorReport {
    pub(super) const fn new(as_json: bool) -> Self {
        Self { as_json, rows: Vec::new() }
    }

    /// Adds results, and prints their lines.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) fn extend(&mut self, results: impl IntoIterator<Item = Diagnosis>) -> anyhow::Result<()> {
        for result in results {
            let row = Row::new(result);
            if !self.as_json {
                print(&row.line())?;
            }
            self.rows.push(row);
        }
        Ok(())
    }

    /// Prints the summary, and returns the exit status.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub(super) fn finish(self) -> anyhow::Result<u8> {
        let count = |status| self.rows.iter().filter(|row| row.status == status).count();
        let (failures, warnings) = (count(FAIL), count(WARN));
        if self.as_json {
            let summary = Summary { failures, warnings, checks: &self.rows };
            print(&format!("{}\n", serde_json::to_string_pretty(&summary)?))?;
        } else {
            print(&format!("{failures} of {} checks failed, {warnings} warned\n", self.rows.len()))?;
        }
        Ok(if failures > 0 { FAILED } else { PASSED })
    }
}

/// The names of results.
const OK: &str = "ok";
const WARN: &str = "warn";
const FAIL: &str = "fail";

impl Row {
    fn new(Diagnosis { check, health, found }: Diagnosis) -> Self {
        let (status, remedy) = match health {
            Health::Ok => (OK, None),
            Health::Warn(remedy) => (WARN, Some(remedy)),
            Health::Fail(remedy) => (FAIL, Some(remedy)),
        };
        // One line each, even if a library's message has several.
        let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { check, status, found, remedy }
    }

    fn line(&self) -> String {
        let Self { check, status, found, remedy } = self;
        let remedy = remedy.as_ref().map(|remedy| format!("; to do: {remedy}")).unwrap_or_default();
        format!("{status:<4}  {check:<WIDTH$}  {found}{remedy}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_show_status_check_finding_and_remedy() {
        let row = Row::new(Diagnosis::warn("disk.free", "12 %\nof 80 GB", "free some"));
        assert_eq!(row.line(), "warn  disk.free                   12 % of 80 GB; to do: free some\n");
        let row = Row::new(Diagnosis::ok("backup", "3 hours old"));
        assert_eq!(row.line(), "ok    backup                      3 hours old\n");
    }
}
