//! `cargo xtask soak`: the long version of the randomized tests.

use crate::{Count, test};

/// The tests that scale, in any package.
const TESTS: &[&str] =
    &["--", "--nocapture", "histories_agree", "soak::", "unread_log::", "erasure_at_size::"];

/// Runs more random histories, more mixed operations and kills over HTTP, more guests of a venue and more guesses
/// of passwords, more phones that follow the pages of an evening, more calls with an undrained log, more strangers with large
/// gigs, and an erasure of a user with more rows.
pub(crate) fn run(times: Count) -> anyhow::Result<u8> {
    let times = &times.to_string();
    test::run_with(TESTS, &[("CUEPOINT_SOAK", times), ("CUEPOINT_HISTORIES", times)])
}
