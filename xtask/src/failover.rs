//! `cargo xtask failover`: the long version of the failover tests, with their tables.

use anyhow::{Context, ensure};

use crate::test;

/// How often the primary is killed, unless it is told.
const ROUNDS: &str = "10";
const TESTS: &[&str] = &["--package", "cuepoint-server", "--test", "failover"];

/// Kills primaries, promotes standbys and brings nodes back under load; answers with the exit code of the tests.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<u8> {
    ensure!(arguments.len() <= 1, "it takes one number at most");
    let rounds = arguments.first().map_or(ROUNDS, String::as_str);
    let number: u32 = rounds.parse().with_context(|| format!("`{rounds}` is no number of rounds"))?;
    ensure!(number > 0, "it takes one round at least");
    let tests: Vec<String> = TESTS.iter().chain(&["--", "--nocapture"]).map(ToString::to_string).collect();
    test::run_with(&tests, &[("CUEPOINT_FAILOVER", rounds)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_but_a_number_of_rounds_is_refused_before_anything_starts() {
        for arguments in [&["many"][..], &["0"], &["-1"], &["1", "2"]] {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            assert!(run(&arguments).is_err(), "{arguments:?}");
        }
    }
}
