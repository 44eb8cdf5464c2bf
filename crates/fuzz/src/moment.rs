//! Timestamps: a text is one timestamp or none, and a printed timestamp parses to the same value.

use cuepoint_views::wire::time::{WireTimestamp, parse_timestamp};

/// The input is the text of a timestamp.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Some(at) = parse_timestamp(text) else { return };
    let shown = serde_json::to_string(&WireTimestamp(at)).unwrap_or_default();
    assert_eq!(shown.len(), "\"1970-01-01T00:00:00.000000Z\"".len(), "{text:?} is shown as {shown}");
    assert_eq!(parse_timestamp(shown.trim_matches('"')), Some(at), "{text:?} is shown as {shown}");
}
