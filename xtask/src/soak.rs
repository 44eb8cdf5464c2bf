//! `cargo xtask soak`: the long version of the tests that look for what chance alone finds.

use anyhow::{Context, ensure};

use crate::test;

/// How many times longer it runs than the tests of every day, unless it is told.
const TIMES: &str = "10";
/// What scales, wherever it lies.
const TESTS: &[&str] =
    &["--", "--nocapture", "histories_agree", "soak::", "unread_log::", "erasure_at_size::"];

/// Plays more random histories, does more mixed operations over HTTP, makes more calls whose log is not read, and erases
/// somebody who left more rows.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<u8> {
    ensure!(arguments.len() <= 1, "it takes one number at most");
    let times = arguments.first().map_or(TIMES, String::as_str);
    let number: u32 = times.parse().with_context(|| format!("`{times}` is no number of times"))?;
    ensure!(number > 0, "nothing times nothing is nothing");
    let tests: Vec<String> = TESTS.iter().map(ToString::to_string).collect();
    test::run_with(&tests, &[("CUEPOINT_SOAK", times), ("CUEPOINT_HISTORIES", times)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_of_times_is_refused_before_anything_starts() {
        for arguments in [&["many"][..], &["0"], &["-1"], &["1", "2"]] {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            assert!(run(&arguments).is_err(), "{arguments:?}");
        }
    }
}
