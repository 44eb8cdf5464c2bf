//! Money on the wire: a JSON number with the currency's exact decimals.

use cuepoint_domain::money::{Currency, DecimalText, Money};
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::wire::write_json::WriteJson;

/// A JSON number printed exactly as given, never through a float.
#[derive(Clone, Debug)]
pub struct Number(DecimalText);

impl Number {
    /// The sum with the currency's decimals: `12.50`.
    #[must_use]
    pub fn money(currency: &Currency, money: Money) -> Self {
        Self(currency.text(money))
    }

    /// Hundredths, printed with two decimals: `4.67`.
    #[must_use]
    pub fn hundredths(hundredths: i64) -> Self {
        Self(DecimalText::new(hundredths.into(), 2))
    }

    /// Zero: `0`.
    #[must_use]
    pub fn zero() -> Self {
        Self(DecimalText::new(0, 0))
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number: &RawValue = serde_json::from_str(self.0.as_str()).map_err(S::Error::custom)?;
        number.serialize(serializer)
    }
}

impl WriteJson for Number {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0.as_str().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_decimals_of_the_currency() {
        for (scale, minor, text) in
            [(2, 1_250, "12.50"), (2, 0, "0.00"), (2, -5, "-0.05"), (0, 12, "12"), (8, 1, "0.00000001")]
        {
            let currency = Currency::new("USD", scale).unwrap();
            let number = Number::money(&currency, Money::from_minor(minor));
            assert_eq!(serde_json::to_string(&number).unwrap(), text);
        }
    }

    #[test]
    fn a_large_amount_keeps_every_digit() {
        let usd = Currency::new("USD", 2).unwrap();
        let number = Number::money(&usd, Money::from_minor(99_999_999_999_999_999_999));
        assert_eq!(serde_json::to_string(&number).unwrap(), "999999999999999999.99");
    }

    #[test]
    fn hundredths_have_two_decimals() {
        for (hundredths, text) in [(467, "4.67"), (450, "4.50"), (500, "5.00"), (105, "1.05")] {
            assert_eq!(serde_json::to_string(&Number::hundredths(hundredths)).unwrap(), text);
        }
        assert_eq!(serde_json::to_string(&Number::zero()).unwrap(), "0");
    }
}
