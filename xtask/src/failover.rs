//! `cargo xtask failover`: the long version of the failover tests, with their tables.

use crate::{Count, test};

const TESTS: &[&str] = &["--package", "cuepoint", "--test", "failover", "--", "--nocapture"];

/// Kills primaries, promotes standbys and restores nodes under load; returns the exit code of the tests.
pub(crate) fn run(rounds: Count) -> anyhow::Result<u8> {
    let rounds = &rounds.to_string();
    test::run_with(TESTS, &[("CUEPOINT_FAILOVER", rounds)])
}
