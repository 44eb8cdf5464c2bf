//! Values of columns in PostgreSQL's binary format.

use std::error::Error;

use diesel::serialize::{self, IsNull};

use super::{
    BigInt, Binary, Bool, ColumnType, Double, Integer, Json, MoneySum, Nullable, OperationUuid, SmallInt,
    Text, UtcTime,
};
use crate::named::{Named, StoredName};

/// The start of 2000, from which PostgreSQL counts, in microseconds since the start of 1970.
const EPOCH: i64 = 946_684_800_000_000;
/// The version byte of the binary format of `jsonb`; the text follows.
pub(super) const JSONB_VERSION: u8 = 1;
/// The sign of a negative `numeric`.
const NEGATIVE: u16 = 0x4000;
/// The maximum number of digits of a 128-bit number to the base 10 000.
const MOST_DIGITS: usize = 10;

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
        numeric(number, decimals, out)?;
        Ok(IsNull::No)
    }
}

/// Appends a number divided by this power of ten, as `numeric`: the number of its digits to the base 10 000, the
/// power of the first digit, the sign, the number of decimals, and the digits.
fn numeric(number: i128, decimals: u16, out: &mut Vec<u8>) -> Result<(), Box<dyn Error + Send + Sync>> {
    // Padded, so that the decimals fill whole digits.
    let padding = decimals.wrapping_neg() % 4;
    let padded = number.unsigned_abs().checked_mul(10_u128.pow(u32::from(padding)));
    let mut rest = padded.ok_or("the sum is too large")?;
    let mut digits = [[0; 2]; MOST_DIGITS];
    let mut count = 0_i16;
    for digit in digits.iter_mut().rev() {
        if rest == 0 {
            break;
        }
        *digit = u16::try_from(rest % 10_000)?.to_be_bytes();
        rest /= 10_000;
        count = count.saturating_add(1);
    }
    let after_point = i16::try_from(decimals.div_ceil(4))?;
    let weight = if count == 0 { 0 } else { count.saturating_sub(after_point).saturating_sub(1) };
    let sign = if number < 0 { NEGATIVE } else { 0 };
    let mut digits = digits.as_slice();
    while let [[0, 0], others @ ..] = digits {
        digits = others;
    }
    while let [others @ .., [0, 0]] = digits {
        digits = others;
    }
    out.extend_from_slice(&u16::try_from(digits.len())?.to_be_bytes());
    out.extend_from_slice(&weight.to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&decimals.to_be_bytes());
    out.extend_from_slice(digits.as_flattened());
    Ok(())
}

#[cfg(test)]
mod tests {
    use bigdecimal::BigDecimal;
    use cuepoint_domain::money::{Currency, Money};
    use diesel::data_types::PgNumeric;

    use super::*;
    use crate::sum::Sum;

    fn encoded<T: Encoded>(value: &T::Value) -> Vec<u8> {
        let mut out = Vec::new();
        assert_eq!(T::encode(value, &mut out).unwrap(), IsNull::No);
        out
    }

    /// The words of a number as Diesel encodes it.
    fn by_diesel(number: i128, decimals: u8) -> Vec<u8> {
        let decimal = BigDecimal::new(number.into(), decimals.into());
        let (sign, weight, scale, digits) = match PgNumeric::from(&decimal) {
            PgNumeric::Positive { weight, scale, digits } => (0, weight, scale, digits),
            PgNumeric::Negative { weight, scale, digits } => (NEGATIVE, weight, scale, digits),
            PgNumeric::NaN => panic!("{decimal}"),
        };
        let count = u16::try_from(digits.len()).unwrap();
        let head = [count.to_be_bytes(), weight.to_be_bytes(), sign.to_be_bytes(), scale.to_be_bytes()];
        head.into_iter().chain(digits.into_iter().map(i16::to_be_bytes)).flatten().collect()
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
                    let decimal = Sum::from(BigDecimal::new(number.into(), decimals.into()));
                    let expected = by_diesel(number, decimals);
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
