//! `cargo xtask soak`: the long version of the tests that look for what chance alone finds.

use crate::{Count, test};

/// What scales, wherever it lies.
const TESTS: &[&str] =
    &["--", "--nocapture", "histories_agree", "soak::", "unread_log::", "erasure_at_size::"];

/// Plays more random histories, does more mixed operations over HTTP, makes more calls whose log is not read, and erases
/// somebody who left more rows.
pub(crate) fn run(times: Count) -> anyhow::Result<u8> {
    let times = &times.to_string();
    test::run_with(TESTS, &[("CUEPOINT_SOAK", times), ("CUEPOINT_HISTORIES", times)])
}
