//! The rows of a gig, for spreadsheets.

use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::music_request::{MusicRequest, RequestState};

use crate::format::Rfc3339;

/// The names of the columns.
const COLUMNS: [&str; 9] = [
    "requested_at",
    "song_title",
    "artist_name",
    "kind",
    "status",
    "fee",
    "commission",
    "currency",
    "played_at",
];

/// The first row of the requests of a gig as CSV by RFC 4180, in UTF-8.
#[must_use]
pub fn csv_head() -> String {
    let mut csv = String::new();
    push_row(&mut csv, COLUMNS.map(str::to_owned));
    csv
}

/// Further rows: requests without names of guests. Times are in UTC, and amounts have a point.
#[must_use]
pub fn csv_rows(requests: &[MusicRequest], currency: &Currency) -> String {
    let mut csv = String::new();
    for request in requests {
        let (commission, played_at) = match request.state {
            RequestState::Played { at, commission } => (Some(commission), Some(at)),
            RequestState::Refunded { commission, .. } => (Some(commission), None),
            _ => (None, None),
        };
        let amount = |money: Money| currency.print(money);
        push_row(
            &mut csv,
            [
                Rfc3339(request.created_at).to_string(),
                request.song_title.as_str().to_owned(),
                request.artist_name.as_str().to_owned(),
                request.artist_type.name().to_owned(),
                request.state.status().name().to_owned(),
                amount(request.fee),
                commission.map(amount).unwrap_or_default(),
                currency.code().to_owned(),
                played_at.map(|at| Rfc3339(at).to_string()).unwrap_or_default(),
            ],
        );
    }
    csv
}

fn push_row(csv: &mut String, cells: [String; 9]) {
    let cells = cells.map(|text| cell(&text));
    csv.push_str(&cells.join(","));
    csv.push_str("\r\n");
}

/// The text as a cell. A spreadsheet takes a text that begins like a formula for one, unless an apostrophe is before it.
fn cell(text: &str) -> String {
    let guard = if text.trim_start().starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    let quoted = text.contains(['"', ',', '\r', '\n']);
    if quoted { format!("\"{guard}{}\"", text.replace('"', "\"\"")) } else { format!("{guard}{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_and_no_formula() {
        for (text, expected) in [
            ("Blue Monday", "Blue Monday"),
            ("", ""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=1+1", "'=1+1"),
            ("+49", "'+49"),
            ("-5", "'-5"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\u{a0}=1", "'\u{a0}=1"),
            ("=\"a\",b", "\"'=\"\"a\"\",b\""),
            ("a=b", "a=b"),
        ] {
            assert_eq!(cell(text), expected, "{text}");
        }
    }
}
