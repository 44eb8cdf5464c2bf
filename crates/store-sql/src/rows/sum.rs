//! Sums of money in rows.

use bigdecimal::BigDecimal;
use cuepoint_domain::money::{Currency, Money};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Corrupt;

/// An exact sum in whole units of the currency, with as many decimals as it was written with.
///
/// A store encodes it as a decimal number, or as the minor units of [`Sum::money`]. In JSON it is the text of
/// the decimal number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sum(BigDecimal);

impl Sum {
    /// Converts money to a sum with the decimals of the currency.
    #[must_use]
    pub fn of(currency: &Currency, money: Money) -> Self {
        Self(currency.to_decimal(money))
    }

    /// Converts the sum to money, in minor units of the currency.
    ///
    /// # Errors
    /// [`Corrupt::Sum`] with the name of the column, if the sum has more decimals than the currency or is too
    /// large.
    pub fn money(&self, currency: &Currency, column: &'static str) -> Result<Money, Corrupt> {
        currency.column(&self.0).map_err(|error| Corrupt::Sum(column, error))
    }
}

impl From<BigDecimal> for Sum {
    fn from(decimal: BigDecimal) -> Self {
        Self(decimal)
    }
}

impl From<Sum> for BigDecimal {
    fn from(sum: Sum) -> Self {
        sum.0
    }
}

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0.to_plain_string())
    }
}

impl<'de> Deserialize<'de> for Sum {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map(Self).map_err(|_| D::Error::custom("not a number"))
    }
}
