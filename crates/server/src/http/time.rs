//! Moments on the wire: UTC, RFC 3339, six decimals and `Z`.

use cuepoint_domain::timestamp::Timestamp;
use serde::{Serialize, Serializer};
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

const FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:6]Z");

/// A moment, as clients read it.
#[derive(Clone, Copy, Debug)]
pub struct Moment(pub Timestamp);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.0.to_utc().format(FORMAT).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_six_decimals() {
        for (micros, text) in [
            (0, "\"1970-01-01T00:00:00.000000Z\""),
            (1_700_000_000_000_001, "\"2023-11-14T22:13:20.000001Z\""),
        ] {
            assert_eq!(serde_json::to_string(&Moment(Timestamp::from_unix_micros(micros))).unwrap(), text);
        }
    }
}
