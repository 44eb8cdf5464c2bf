//! The log line of each answered request.
//!
//! A path can contain secrets, such as the code of a gig. The line shows the parameters of a known route only if they
//! are numbers. The query is never shown.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use cuepoint_adapters::observability::metrics;

/// The maximum length of an unknown path in the log, in bytes.
const MAX_PATH: usize = 200;
/// The maximum length of a number in a path: every id has fewer digits.
const MAX_DIGITS: usize = 19;
/// The number of segments of an unknown path in the log: `/api/v1/boards/CODE/` begins with three that are no code.
const SHOWN_SEGMENTS: usize = 3;
/// The parameter of a template that is a number.
const ID: &str = "{id}";
/// The metrics label of unknown routes.
const UNKNOWN_ROUTE: &str = "unknown";

/// The route that the router found for a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matched {
    /// The path template in the documents.
    pub(crate) route: &'static str,
    /// The path template that the path matches, which is another one for an old path.
    pub(crate) declared: &'static str,
}

/// What the line of an answered request says.
pub(crate) struct AccessLine<'r> {
    /// The request id.
    pub(crate) id: &'r str,
    /// The client's address, as the rate limits see it.
    pub(crate) client: Option<IpAddr>,
    /// The id of the authenticated user.
    pub(crate) user: Option<i64>,
    pub(crate) method: &'static str,
    pub(crate) matched: Option<Matched>,
    /// The path that the router has searched for, or the path of the request if it found none; `None` if it was not
    /// asked.
    pub(crate) path: Option<&'r str>,
    pub(crate) status: u16,
    /// The duration until the answer.
    pub(crate) took: Duration,
}

impl AccessLine<'_> {
    /// Logs the line, and counts the request.
    pub(crate) fn record(self) {
        let Self { id, client, user, method, matched, path, status, took } = self;
        let route = matched.map_or(UNKNOWN_ROUTE, |matched| matched.route);
        let path = path.map(|path| match matched {
            Some(Matched { declared, .. }) => without_secrets(declared, path),
            None => Cow::Owned(cut_and_escaped(path)),
        });
        // Logged outside the request's scope, whose fields the line would repeat.
        tracing::info!(
            request_id = id,
            client = client.map(tracing::field::display),
            user,
            method,
            route,
            path = path.as_deref(),
            status,
            duration_ms = milliseconds(took),
            "answered"
        );
        metrics::answered(method, route, status, took);
    }
}

/// Milliseconds with three decimals.
fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// A path that matches a template, with the names of the parameters other than numeric ids.
fn without_secrets<'p>(declared: &'static str, path: &'p str) -> Cow<'p, str> {
    if !declared.contains('{') {
        return Cow::Borrowed(declared);
    }
    let segments = declared.split('/').zip(path.split('/'));
    let shown = segments.map(|(declared, given)| {
        let is_number = given.len() <= MAX_DIGITS && given.bytes().all(|byte| byte.is_ascii_digit());
        if declared == ID && is_number { given } else { declared }
    });
    Cow::Owned(shown.collect::<Vec<_>>().join("/"))
}

/// The beginning of an unknown path: what follows can be a code in the path of a misspelled route. Bytes that a terminal
/// could interpret are percent-encoded.
fn cut_and_escaped(path: &str) -> String {
    let end = path.match_indices('/').nth(SHOWN_SEGMENTS).map(|(place, _)| place);
    let (path, rest) = path.split_at_checked(end.unwrap_or(path.len())).unwrap_or((path, ""));
    let mut shown = String::with_capacity(path.len().min(MAX_PATH));
    for byte in path.bytes() {
        if shown.len() >= MAX_PATH {
            shown.push('…');
            break;
        }
        if byte.is_ascii_graphic() {
            shown.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(shown, "%{byte:02X}");
        }
    }
    if !rest.is_empty() {
        shown.push_str("/…");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_parameters_are_logged_only_if_they_are_numbers() {
        for (declared, path, shown) in [
            ("/api/v1/wallet", "/api/v1/wallet", "/api/v1/wallet"),
            ("/api/v1/topups/{id}", "/api/v1/topups/0017", "/api/v1/topups/0017"),
            ("/api/v1/topups/{id}", "/api/v1/topups/+17", "/api/v1/topups/{id}"),
            ("/api/v1/topups/{id}", "/api/v1/topups/12345678901234567890", "/api/v1/topups/{id}"),
            ("/api/v1/boards/{code}/tips", "/api/v1/boards/K7QX2M/tips", "/api/v1/boards/{code}/tips"),
            ("/api/v1/boards/{code}", "/api/v1/boards/234567", "/api/v1/boards/{code}"),
            ("/docs/{file:.*}", "/docs/a/b.js", "/docs/{file:.*}"),
        ] {
            assert_eq!(without_secrets(declared, path), shown, "{path}");
        }
    }

    #[test]
    fn unknown_paths_are_cut_and_their_control_characters_escaped() {
        for (path, shown) in [
            ("/.git/config", "/.git/config".to_owned()),
            ("/%0aforged", "/%0aforged".to_owned()),
            ("/api/v1/boards/K7QX2M/", "/api/v1/boards/…".to_owned()),
            ("//api/v1/boards/K7QX2M", "//api/v1/…".to_owned()),
            ("/\u{7f}\u{9b}2J\u{202e}", "/%7F%C2%9B2J%E2%80%AE".to_owned()),
            (&format!("/{}", "a".repeat(300)), format!("/{}…", "a".repeat(199))),
        ] {
            assert_eq!(cut_and_escaped(path), shown);
        }
    }

    #[test]
    fn durations_are_logged_in_milliseconds_with_decimals() {
        assert_eq!(milliseconds(Duration::from_nanos(312_400)).to_string(), "0.312");
        assert_eq!(milliseconds(Duration::from_millis(5_000)).to_string(), "5000");
    }
}
