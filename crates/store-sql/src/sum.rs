//! Sums of money in rows.

use bigdecimal::BigDecimal;
#[cfg(feature = "postgres")]
use bigdecimal::ToPrimitive;
use cuepoint_domain::money::{Currency, DecimalText, Money};
use diesel::deserialize::FromSqlRow;
use diesel::expression::AsExpression;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::corrupt::Corrupt;

/// An exact sum in whole units of the currency, with as many decimals as it was written with.
///
/// A database holds it as a decimal number, or as the minor units of [`Sum::money`]. In JSON it is the text of the
/// decimal number.
#[derive(Clone, Debug, AsExpression, FromSqlRow)]
#[diesel(sql_type = crate::sql_types::MoneySum)]
pub struct Sum(Form);

#[derive(Clone, Debug)]
enum Form {
    Decimal(BigDecimal),
    /// Units of the last of this many decimals, of which the deployment's currency has as many.
    Minor(i128, u8),
    /// Units of the last of this many decimals of a column, so that no decimal is computed on the way to minor units.
    Column(i128, u8),
    /// Minor units of the deployment's currency, as they were read from a column.
    Stored(Money),
    /// A column held something else.
    Invalid,
}

impl Sum {
    /// Nothing, in any currency.
    pub const ZERO: Self = Self(Form::Minor(0, 0));

    /// Converts money to a sum with the decimals of the currency.
    #[must_use]
    pub const fn of(currency: &Currency, money: Money) -> Self {
        Self(Form::Minor(money.minor(), currency.scale()))
    }

    /// A column's units of the last of its decimals.
    #[cfg(any(test, feature = "postgres"))]
    pub(crate) const fn of_column(units: i128, decimals: u8) -> Self {
        Self(Form::Column(units, decimals))
    }

    /// Reads minor units of the deployment's currency. Only their canonical form is valid, since no other is ever
    /// written.
    #[must_use]
    pub fn from_minor_units(text: &str) -> Self {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_canonical = text == "0" || digits.starts_with(|first| matches!(first, '1'..='9'));
        let minor = text.parse().ok().filter(|_| is_canonical);
        Self(minor.map_or(Form::Invalid, |minor| Form::Stored(Money::from_minor(minor))))
    }

    /// Converts the sum to money, in minor units of the currency.
    ///
    /// # Errors
    /// [`Corrupt`] with the name of the column, if the sum has more decimals than the currency, is too large, or
    /// was invalid in its column.
    pub fn money(&self, currency: &Currency, column: &'static str) -> Result<Money, Corrupt> {
        let money = match &self.0 {
            Form::Decimal(decimal) => currency.column(decimal),
            Form::Minor(units, decimals) | Form::Column(units, decimals) => {
                currency.units(*units, i64::from(*decimals))
            }
            Form::Stored(money) => Ok(*money),
            Form::Invalid => return Err(Corrupt::Column(column)),
        };
        money.map_err(|error| Corrupt::Sum(column, error))
    }

    /// The minor units; `None` for a decimal number.
    #[cfg(feature = "sqlite")]
    pub(crate) const fn minor(&self) -> Option<Money> {
        match self.0 {
            Form::Minor(units, _) => Some(Money::from_minor(units)),
            Form::Stored(money) => Some(money),
            Form::Column(..) | Form::Decimal(_) | Form::Invalid => None,
        }
    }

    /// The digits as a whole number, and how many of them are decimals; `None` if that is not known, or too many.
    #[cfg(feature = "postgres")]
    pub(crate) fn digits(&self) -> Option<(i128, u16)> {
        match &self.0 {
            Form::Decimal(decimal) => {
                let (digits, scale) = decimal.as_bigint_and_scale();
                digits.to_i128().zip(u16::try_from(scale).ok())
            }
            Form::Minor(units, decimals) | Form::Column(units, decimals) => {
                Some((*units, u16::from(*decimals)))
            }
            Form::Stored(_) | Form::Invalid => None,
        }
    }
}

impl From<BigDecimal> for Sum {
    fn from(decimal: BigDecimal) -> Self {
        Self(Form::Decimal(decimal))
    }
}

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Minor(units, decimals) | Form::Column(units, decimals) => {
                to.serialize_str(DecimalText::new(*units, *decimals).as_str())
            }
            Form::Decimal(decimal) => to.serialize_str(&decimal.to_plain_string()),
            Form::Stored(_) | Form::Invalid => Err(S::Error::custom("the currency of the sum is not known")),
        }
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
    fn minor_units_and_decimals_give_equal_sums() {
        let currency = Currency::new("USD", 2).unwrap();
        for (minor, text) in [(1_250, "12.50"), (0, "0.00"), (-5, "-0.05")] {
            let money = Money::from_minor(minor);
            let sum = Sum::of(&currency, money);
            let decimal = Sum::from(text.parse::<BigDecimal>().unwrap());
            for form in [&sum, &decimal] {
                assert_eq!(serde_json::to_string(form).unwrap(), format!("{text:?}"));
                assert_eq!(form.money(&currency, "").unwrap(), money);
            }
            let column = Sum::of_column(minor * 1_000_000, 8);
            assert_eq!(column.money(&currency, "").unwrap(), money);
            let coarse = Currency::new("JPY", 0).unwrap();
            for form in [&sum, &decimal, &column] {
                assert_eq!(form.money(&coarse, "").is_ok(), minor == 0, "{text}");
            }
        }
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn only_sums_of_the_deployments_currency_have_minor_units() {
        let currency = Currency::new("USD", 2).unwrap();
        assert_eq!(Sum::of(&currency, Money::from_minor(1_250)).minor(), Some(Money::from_minor(1_250)));
        assert_eq!(Sum::from_minor_units("1250").minor(), Some(Money::from_minor(1_250)));
        assert_eq!(Sum::of_column(1_250_000_000, 8).minor(), None);
    }

    #[test]
    fn only_canonical_minor_units_are_valid() {
        let currency = Currency::new("USD", 2).unwrap();
        let read = |text| Sum::from_minor_units(text).money(&currency, "wallets.held");
        for text in ["0", "1250", "-3", "99999999999999999999"] {
            assert_eq!(read(text).unwrap().minor().to_string(), text);
        }
        for text in ["", "-", "-0", "01", "+1", "1.5", "1e3", " 1", "1\0", "NaN"] {
            assert!(matches!(read(text), Err(Corrupt::Column("wallets.held"))), "{text:?}");
        }
    }
}
