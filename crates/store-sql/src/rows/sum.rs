//! Sums of money in rows.

use std::borrow::Cow;

use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::BigInt;
use cuepoint_domain::money::{Currency, Money};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Corrupt;

/// An exact sum in whole units of the currency, with as many decimals as it was written with.
///
/// A store encodes it as a decimal number, or as the minor units of [`Sum::money`]. In JSON it is the text of
/// the decimal number.
#[derive(Clone, Debug)]
pub struct Sum(Form);

#[derive(Clone, Debug)]
enum Form {
    Decimal(BigDecimal),
    /// Minor units of a currency with this many decimals, so that a store that holds them computes no decimal.
    Minor(Money, u8),
}

impl Sum {
    /// Converts money to a sum with the decimals of the currency.
    #[must_use]
    pub const fn of(currency: &Currency, money: Money) -> Self {
        Self(Form::Minor(money, currency.scale()))
    }

    /// Converts the sum to money, in minor units of the currency.
    ///
    /// # Errors
    /// [`Corrupt::Sum`] with the name of the column, if the sum has more decimals than the currency or is too
    /// large.
    pub fn money(&self, currency: &Currency, column: &'static str) -> Result<Money, Corrupt> {
        match &self.0 {
            Form::Minor(money, scale) if *scale == currency.scale() => Ok(*money),
            _ => currency.column(&self.decimal()).map_err(|error| Corrupt::Sum(column, error)),
        }
    }

    fn decimal(&self) -> Cow<'_, BigDecimal> {
        match &self.0 {
            Form::Decimal(decimal) => Cow::Borrowed(decimal),
            Form::Minor(money, scale) => {
                Cow::Owned(BigDecimal::new(BigInt::from(money.minor()), i64::from(*scale)))
            }
        }
    }
}

impl PartialEq for Sum {
    fn eq(&self, other: &Self) -> bool {
        self.decimal() == other.decimal()
    }
}

impl Eq for Sum {}

impl From<BigDecimal> for Sum {
    fn from(decimal: BigDecimal) -> Self {
        Self(Form::Decimal(decimal))
    }
}

impl From<Sum> for BigDecimal {
    fn from(sum: Sum) -> Self {
        sum.decimal().into_owned()
    }
}

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.decimal().to_plain_string())
    }
}

impl<'de> Deserialize<'de> for Sum {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse::<BigDecimal>()
            .map(Self::from)
            .map_err(|_| D::Error::custom("not a number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_units_and_decimals_are_the_same_sums() {
        let currency = Currency::new("USD", 2).unwrap();
        for (minor, text) in [(1_250, "12.50"), (0, "0.00"), (-5, "-0.05")] {
            let money = Money::from_minor(minor);
            let sum = Sum::of(&currency, money);
            let decimal = Sum::from(text.parse::<BigDecimal>().unwrap());
            assert_eq!(sum, decimal);
            for form in [&sum, &decimal] {
                assert_eq!(serde_json::to_string(form).unwrap(), format!("{text:?}"));
                assert_eq!(form.money(&currency, "").unwrap(), money);
            }
            let coarse = Currency::new("JPY", 0).unwrap();
            assert_eq!(sum.money(&coarse, "").is_ok(), minor == 0, "{text}");
        }
    }
}
