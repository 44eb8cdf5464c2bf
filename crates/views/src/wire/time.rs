//! Timestamps on the wire: UTC, RFC 3339, six decimals and `Z`.

use cuepoint_domain::timestamp::Timestamp;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use time::format_description::well_known::Rfc3339;
use time::{OffsetDateTime, UtcOffset};

use crate::wire::write_json::WriteJson;

/// A timestamp in its wire format.
#[derive(Clone, Copy, Debug)]
pub struct WireTimestamp(pub Timestamp);

impl WireTimestamp {
    /// The text between quotation marks.
    fn quoted(self) -> [u8; 29] {
        let at = self.0.to_utc();
        let ((year, month, day), (hour, minute, second, micros)) = (at.to_calendar_date(), at.to_hms_micro());
        let year = year.unsigned_abs();
        // Formatted by hand, since every row of a list has two timestamps, and a format description costs ten
        // times as much.
        let [[y1, y2], [y3, y4]] = [year / 100, year].map(digits);
        let [[m1, m2], [d1, d2]] = [u8::from(month), day].map(|part| digits(part.into()));
        let [[h1, h2], [n1, n2], [s1, s2]] = [hour, minute, second].map(|part| digits(part.into()));
        let [[f1, f2], [f3, f4], [f5, f6]] = [micros / 10_000, micros / 100, micros].map(digits);
        [
            b'"', y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2, b'.',
            f1, f2, f3, f4, f5, f6, b'Z', b'"',
        ]
    }
}

impl Serialize for WireTimestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [_, text @ .., _] = self.quoted();
        serializer.serialize_str(std::str::from_utf8(&text).map_err(S::Error::custom)?)
    }
}

impl WriteJson for WireTimestamp {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.quoted());
    }
}

/// The last two digits of a number.
fn digits(number: u32) -> [u8; 2] {
    [number / 10 % 10, number % 10].map(|digit| u8::try_from(digit).unwrap_or_default().wrapping_add(b'0'))
}

/// Parses an RFC 3339 timestamp; `None` unless its year has four digits in UTC too.
#[must_use]
pub fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let utc = OffsetDateTime::parse(text, &Rfc3339).ok()?.checked_to_offset(UtcOffset::UTC)?;
    (0..=9_999).contains(&utc.year()).then(|| Timestamp::new(utc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_parsed_as_rfc_3339() {
        for (text, micros) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T00:00:00.000001Z", Some(1)),
            ("1970-01-01T00:00:00.0000019Z", Some(1)),
            ("1970-01-01T02:00:00+02:00", Some(0)),
            ("1969-12-31T19:00:00.5-05:00", Some(500_000)),
            ("0000-01-01T00:00:00Z", Some(-62_167_219_200_000_000)),
            ("9999-12-31T23:59:59.999999Z", Some(253_402_300_799_999_999)),
            ("9999-12-31T23:59:59-00:01", None),
            ("9999-12-31T23:59:59.9999999999-23:59", None),
            ("0000-01-01T00:00:00+00:01", None),
            ("1970-01-01", None),
            ("1970-01-01T00:00:00", None),
            ("1970-01-01T00:00Z", None),
            ("1970-02-30T00:00:00Z", None),
            ("1970-01-01T25:00:00Z", None),
            ("+10000-01-01T00:00:00Z", None),
            ("0", None),
            ("now", None),
            ("", None),
        ] {
            assert_eq!(parse_timestamp(text).map(Timestamp::unix_micros), micros, "{text}");
        }
    }

    #[test]
    fn timestamps_have_six_decimals() {
        for (micros, text) in [
            (0, "\"1970-01-01T00:00:00.000000Z\""),
            (1_700_000_000_000_001, "\"2023-11-14T22:13:20.000001Z\""),
            (-1, "\"1969-12-31T23:59:59.999999Z\""),
            (-62_167_219_200_000_000, "\"0000-01-01T00:00:00.000000Z\""),
            (253_402_300_799_123_456, "\"9999-12-31T23:59:59.123456Z\""),
        ] {
            assert_eq!(
                serde_json::to_string(&WireTimestamp(Timestamp::from_unix_micros(micros))).unwrap(),
                text
            );
        }
    }
}
