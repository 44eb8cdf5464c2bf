//! The encoding of values inside a receipt: numbers as text, so that no JSON reader rounds them.

/// Defines a serde `with` module for a type, and one for a nullable column of it.
macro_rules! exact {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $write:expr, $read:expr;)+) => {$(
        $(#[$doc])*
        #[allow(dead_code, reason = "no column needs both of `double`")]
        pub(super) mod $name {
            use serde::de::Error;
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            pub(in crate::schema) fn serialize<S: Serializer>(value: &$type, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&($write)(value))
            }

            pub(in crate::schema) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                ($read)(&String::deserialize(from)?).ok_or_else(|| D::Error::custom("not a number"))
            }

            /// The module for a nullable column.
            pub(in crate::schema) mod option {
                use super::*;

                pub(in crate::schema) fn serialize<S: Serializer>(
                    value: &Option<$type>,
                    to: S,
                ) -> Result<S::Ok, S::Error> {
                    value.as_ref().map($write).serialize(to)
                }

                pub(in crate::schema) fn deserialize<'de, D: Deserializer<'de>>(
                    from: D,
                ) -> Result<Option<$type>, D::Error> {
                    Option::<String>::deserialize(from)?
                        .map(|text| ($read)(&text).ok_or_else(|| D::Error::custom("not a number")))
                        .transpose()
                }
            }
        }
    )+};
}

exact! {
    /// A timestamp as microseconds since the start of 1970.
    micros: cuepoint_domain::timestamp::Timestamp,
        |at: &cuepoint_domain::timestamp::Timestamp| at.unix_micros().to_string(),
        |text: &str| text.parse().ok().map(cuepoint_domain::timestamp::Timestamp::from_unix_micros);
    /// Degrees or kilometres, in the fewest digits that round-trip.
    double: f64, f64::to_string, |text: &str| text.parse::<f64>().ok();
}

/// Whether a receipt omits the value, like those of versions without the column.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
pub(super) const fn is_false(value: &bool) -> bool {
    !*value
}
