//! Values of columns in PostgreSQL's binary format.

use diesel::serialize::{self, IsNull};

use super::{
    BigInt, Binary, Bool, ColumnType, Double, Integer, Json, MoneySum, Nullable, OperationUuid, SmallInt,
    Text, UtcTime, numeric,
};
use crate::named::{Named, StoredName};

/// The start of 2000, from which PostgreSQL counts, in microseconds since the start of 1970.
const EPOCH: i64 = 946_684_800_000_000;
/// The version byte of the binary format of `jsonb`; the text follows.
pub(super) const JSONB_VERSION: u8 = 1;

/// A column type with a binary format.
pub(crate) trait Encoded: ColumnType {
    /// Appends the value, unless it is null.
    ///
    /// # Errors
    /// When the value has no binary form.
    fn encode(value: &Self::Value, out: &mut Vec<u8>) -> serialize::Result;
}

impl<T: Encoded> Encoded for Nullable<T> {
    fn encode(value: &Self::Value, out: &mut Vec<u8>) -> serialize::Result {
        value.as_ref().map_or(Ok(IsNull::Yes), |value| T::encode(value, out))
    }
}

/// Declares the bytes of values.
macro_rules! encoded {
    ($($sql:ty: $value:ident => $bytes:expr;)+) => {$(
        impl Encoded for $sql {
            fn encode($value: &Self::Value, out: &mut Vec<u8>) -> serialize::Result {
                out.extend_from_slice(&$bytes);
                Ok(IsNull::No)
            }
        }
    )+};
}

encoded! {
    BigInt: value => value.to_be_bytes();
    Integer: value => value.to_be_bytes();
    SmallInt: value => value.to_be_bytes();
    Double: value => value.to_be_bytes();
    Bool: value => [u8::from(*value)];
    Text: value => *value.as_bytes();
    Binary: value => **value;
    OperationUuid: value => *value.as_bytes();
    UtcTime: value => value.unix_micros().saturating_sub(EPOCH).to_be_bytes();
}

impl<T: StoredName> Encoded for Named<T> {
    fn encode(value: &Self, out: &mut Vec<u8>) -> serialize::Result {
        out.extend_from_slice(value.name()?.as_bytes());
        Ok(IsNull::No)
    }
}

impl Encoded for Json {
    fn encode(value: &Self::Value, out: &mut Vec<u8>) -> serialize::Result {
        out.push(JSONB_VERSION);
        out.extend_from_slice(value.as_bytes());
        Ok(IsNull::No)
    }
}

impl Encoded for MoneySum {
    fn encode(value: &Self::Value, out: &mut Vec<u8>) -> serialize::Result {
        let (number, decimals) = value.digits().ok_or("the decimals of the sum are not known")?;
        numeric::write(number, decimals, out)?;
        Ok(IsNull::No)
    }
}

#[cfg(test)]
mod tests {
    use bigdecimal::BigDecimal;
    use cuepoint_domain::money::{Currency, Money};
    use diesel::data_types::PgNumeric;

    use super::numeric::tests::sent;
    use super::*;
    use crate::sum::Sum;

    fn encoded<T: Encoded>(value: &T::Value) -> Vec<u8> {
        let mut out = Vec::new();
        assert_eq!(T::encode(value, &mut out).unwrap(), IsNull::No);
        out
    }

    #[test]
    fn sums_are_encoded_as_diesel_encodes_decimals() {
        let largest = Money::MAX_BALANCE.minor();
        for decimals in 0..=8 {
            let currency = Currency::new("USD", decimals).unwrap();
            let powers = (0..20).map(|power| 10_i128.pow(power));
            for number in powers.flat_map(|power| [power, power * 9_999, power * 12_034 + 5]).chain([largest])
            {
                for number in [number, -number] {
                    let sum = Sum::of(&currency, Money::from_minor(number));
                    let decimal = BigDecimal::new(number.into(), decimals.into());
                    let expected = sent(&PgNumeric::from(&decimal));
                    let decimal = Sum::from(decimal);
                    assert_eq!(encoded::<MoneySum>(&sum), expected, "{number} / 10^{decimals}");
                    assert_eq!(encoded::<MoneySum>(&decimal), expected, "{number} / 10^{decimals}");
                }
            }
        }
    }

    #[test]
    fn zero_is_encoded_without_digits() {
        assert_eq!(encoded::<MoneySum>(&Sum::ZERO), [0; 8]);
    }

    #[test]
    fn sums_with_unknown_or_too_many_decimals_are_not_encoded() {
        let stored = Sum::from_minor_units("1250");
        MoneySum::encode(&stored, &mut Vec::new()).unwrap_err();
        let huge = Sum::from(BigDecimal::new(1.into(), 70_000));
        MoneySum::encode(&huge, &mut Vec::new()).unwrap_err();
    }
}
