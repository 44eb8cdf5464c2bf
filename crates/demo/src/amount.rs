//! Amounts of money as the API writes them: JSON numbers, which are never read as floats.

use std::fmt::{Display, Formatter, Result as Printed};
use std::iter::Sum;
use std::ops::Sub;

use bigdecimal::BigDecimal;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// An exact amount in major units.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Amount(BigDecimal);

impl From<u32> for Amount {
    fn from(units: u32) -> Self {
        Self(units.into())
    }
}

impl Amount {
    /// This amount less another one.
    pub(crate) fn less(&self, other: &Self) -> Self {
        Self(Sub::sub(&self.0, &other.0))
    }
}

impl<'a> Sum<&'a Amount> for Amount {
    fn sum<I: Iterator<Item = &'a Amount>>(amounts: I) -> Self {
        Self(amounts.map(|amount| &amount.0).sum())
    }
}

impl Display for Amount {
    fn fmt(&self, into: &mut Formatter<'_>) -> Printed {
        into.write_str(&self.0.to_plain_string())
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = <&RawValue>::deserialize(from)?;
        number.get().parse().map(Self).map_err(|_| D::Error::custom("an amount must be a number"))
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, into: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_string()).map_err(S::Error::custom)?.serialize(into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_every_digit_of_a_json_number() {
        for number in ["0.10", "12.50", "0", "999999999999999999.99999999"] {
            let amount: Amount = serde_json::from_str(number).unwrap();
            assert_eq!(serde_json::to_string(&amount).unwrap(), number);
        }
        assert!(serde_json::from_str::<Amount>("\"1\"").is_err());
    }
}
