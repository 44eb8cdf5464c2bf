//! Moments on the wire: UTC, RFC 3339, six decimals and `Z`.

use cuepoint_domain::timestamp::Timestamp;
use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A moment, as clients read it.
#[derive(Clone, Copy, Debug)]
pub struct Moment(pub Timestamp);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = self.0.to_utc();
        let mut text = String::with_capacity("1970-01-01T00:00:00.000000Z".len());
        // By hand, since every row of a list has two of them, and a description of the form costs ten times as much.
        for (number, width, then) in [
            (at.year().unsigned_abs(), 4, '-'),
            (u8::from(at.month()).into(), 2, '-'),
            (at.day().into(), 2, 'T'),
            (at.hour().into(), 2, ':'),
            (at.minute().into(), 2, ':'),
            (at.second().into(), 2, '.'),
            (at.microsecond(), 6, 'Z'),
        ] {
            push(&mut text, number, width);
            text.push(then);
        }
        serializer.serialize_str(&text)
    }
}

/// Adds the last digits of a number, as many as there are places.
fn push(text: &mut String, number: u32, places: usize) {
    const PLACES: [u32; 6] = [100_000, 10_000, 1_000, 100, 10, 1];
    for place in PLACES.iter().skip(PLACES.len().saturating_sub(places)) {
        text.extend(number.checked_div(*place).and_then(|higher| char::from_digit(higher % 10, 10)));
    }
}

/// The moment that an RFC 3339 text is, if it is one.
#[must_use]
pub fn moment(text: &str) -> Option<Timestamp> {
    OffsetDateTime::parse(text, &Rfc3339).ok().map(Timestamp::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_rfc_3339_has_them() {
        for (text, micros) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T00:00:00.000001Z", Some(1)),
            ("1970-01-01T00:00:00.0000019Z", Some(1)),
            ("1970-01-01T02:00:00+02:00", Some(0)),
            ("1969-12-31T19:00:00.5-05:00", Some(500_000)),
            ("0000-01-01T00:00:00Z", Some(-62_167_219_200_000_000)),
            ("9999-12-31T23:59:59.999999Z", Some(253_402_300_799_999_999)),
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
            assert_eq!(moment(text).map(Timestamp::unix_micros), micros, "{text}");
        }
    }

    #[test]
    fn moments_have_six_decimals() {
        for (micros, text) in [
            (0, "\"1970-01-01T00:00:00.000000Z\""),
            (1_700_000_000_000_001, "\"2023-11-14T22:13:20.000001Z\""),
            (-1, "\"1969-12-31T23:59:59.999999Z\""),
            (-62_167_219_200_000_000, "\"0000-01-01T00:00:00.000000Z\""),
            (253_402_300_799_123_456, "\"9999-12-31T23:59:59.123456Z\""),
        ] {
            assert_eq!(serde_json::to_string(&Moment(Timestamp::from_unix_micros(micros))).unwrap(), text);
        }
    }
}
