//! Decimal numbers as text.

use std::fmt;

/// The largest number of decimals.
const MAX_DECIMALS: u8 = 38;
/// The length of the longest text: 39 digits, a point and a sign.
const LONGEST: usize = 41;

/// The text of a decimal number, such as `-12.50`, without an allocation.
#[derive(Clone, Copy)]
pub struct DecimalText {
    /// Ends with the text.
    bytes: [u8; LONGEST],
    start: usize,
}

impl DecimalText {
    /// The number of this many units of the last of its decimals, of which it has at most 38.
    #[must_use]
    pub fn new(units: i128, decimals: u8) -> Self {
        let decimals = decimals.min(MAX_DECIMALS);
        let mut text = Self { bytes: [0; LONGEST], start: LONGEST };
        let (mut rest, mut digits) = (units.unsigned_abs(), 0_u8);
        while rest > 0 || digits <= decimals {
            if digits == decimals && decimals > 0 {
                text.put(b'.');
            }
            text.put(b'0'.saturating_add(take_digit(&mut rest)));
            digits = digits.saturating_add(1);
        }
        if units < 0 {
            text.put(b'-');
        }
        text
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.bytes.get(self.start..).unwrap_or_default()).unwrap_or_default()
    }

    /// Puts a character before the text.
    fn put(&mut self, byte: u8) {
        let start = self.start.saturating_sub(1);
        if let Some(place) = self.bytes.get_mut(start) {
            *place = byte;
            self.start = start;
        }
    }
}

impl fmt::Debug for DecimalText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Divides the number by ten, and returns the remainder.
fn take_digit(number: &mut u128) -> u8 {
    // Nearly all amounts fit 64 bits, where a division takes a fraction of the time.
    let digit = match u64::try_from(*number) {
        Ok(small) => {
            *number = u128::from(small / 10);
            u8::try_from(small % 10)
        }
        Err(_) => {
            let digit = *number % 10;
            *number /= 10;
            u8::try_from(digit)
        }
    };
    digit.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bigdecimal::BigDecimal;
    use bigdecimal::num_bigint::BigInt;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_is_printed_with_a_leading_digit_and_all_its_decimals() {
        for (units, decimals, text) in [
            (0, 0, "0"),
            (0, 2, "0.00"),
            (-5, 2, "-0.05"),
            (1_250, 2, "12.50"),
            (-100, 0, "-100"),
            (1, 18, "0.000000000000000001"),
            (i128::MAX, 0, "170141183460469231731687303715884105727"),
            (i128::MIN, 38, "-1.70141183460469231731687303715884105728"),
            (i128::MIN, 39, "-1.70141183460469231731687303715884105728"),
        ] {
            assert_eq!(DecimalText::new(units, decimals).as_str(), text);
        }
    }

    proptest! {
        #[test]
        fn a_number_is_printed_like_an_equal_big_decimal(units: i128, small: i32, decimals in 0..=MAX_DECIMALS) {
            for units in [units, small.into()] {
                let decimal = BigDecimal::new(BigInt::from(units), i64::from(decimals));
                let text = DecimalText::new(units, decimals);
                prop_assert_eq!(text.as_str(), decimal.to_plain_string());
            }
        }
    }
}
