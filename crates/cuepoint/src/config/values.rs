//! Types of configuration values; each error states the valid values in one sentence.
//!
//! A file has TOML values, a variable only text. The type of the key determines how both are read, so that a
//! numeric password stays text.

use std::time::Duration;

use cuepoint_domain::money::{Amount, Currency, Money};
use secrecy::SecretString;
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde_json::Value;

use super::ConfigError;
use super::keys::Shape;
use cuepoint_adapters::networks::Networks;
use cuepoint_adapters::outgoing::NameServers;
use cuepoint_adapters::signed_messages::SigningSecrets;

/// Seconds per day.
pub(super) const DAY: u32 = 86_400;
/// Seconds per hour.
pub(super) const HOUR: u32 = 3_600;

/// A secret value, which is never shown.
#[derive(Deserialize)]
pub(super) struct Secret<T>(pub(super) T);

/// An integer from `MIN` to `MAX`.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "Value", bound = "T: TryFrom<u32>")]
pub(super) struct Whole<T, const MIN: u32, const MAX: u32>(pub(super) T);

/// A duration in whole seconds.
pub(super) type Seconds<const MIN: u32, const MAX: u32> = Whole<u32, MIN, MAX>;

impl<T: TryFrom<u32>, const MIN: u32, const MAX: u32> TryFrom<Value> for Whole<T, MIN, MAX> {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let number: Option<u32> = match written {
            Value::String(digits) => digits.trim().parse().ok(),
            Value::Number(number) => number.as_u64().and_then(|number| number.try_into().ok()),
            _ => None,
        };
        let within = number.filter(|number| (MIN..=MAX).contains(number));
        let number = within.and_then(|number| T::try_from(number).ok());
        number.map(Self).ok_or_else(|| format!("must be a whole number from {MIN} to {MAX}"))
    }
}

impl<const MIN: u32, const MAX: u32> Seconds<MIN, MAX> {
    /// Converts to a duration of the standard library.
    pub(super) fn to_std(self) -> Duration {
        Duration::from_secs(u64::from(self.0))
    }

    /// Converts to a duration of the domain.
    pub(super) fn to_time(self) -> time::Duration {
        time::Duration::seconds(i64::from(self.0))
    }
}

/// A boolean.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Flag(pub(super) bool);

impl TryFrom<Value> for Flag {
    type Error = &'static str;

    fn try_from(written: Value) -> Result<Self, &'static str> {
        let flag = written.as_bool().or_else(|| written.as_str().and_then(|text| text.parse().ok()));
        flag.map(Self).ok_or("must be true or false")
    }
}

/// A variant of an enum, given by name.
#[derive(Deserialize)]
#[serde(try_from = "Value", bound = "T: DeserializeOwned")]
pub(super) struct Choice<T>(pub(super) T);

impl<T: DeserializeOwned> TryFrom<Value> for Choice<T> {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let name: StrDeserializer<'_, Shape> =
            written.as_str().unwrap_or_default().trim().into_deserializer();
        // The message of serde would quote the value, which may be a secret under the wrong key.
        T::deserialize(name).map(Self).map_err(|shape| match shape {
            Shape::Choice(names) => format!("must be one of {}", names.join(", ")),
            other => other.to_string(),
        })
    }
}

/// A value parsed from non-empty text.
#[derive(Deserialize)]
#[serde(try_from = "Value", bound = "T: FromText")]
pub(super) struct TextValue<T = String>(pub(super) T);

/// A type that is configured as text.
pub(super) trait FromText: Sized {
    /// Parses non-empty text; the error states the requirement.
    fn from_text(text: &str) -> Result<Self, String>;
}

impl<T: FromText> TryFrom<Value> for TextValue<T> {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let text = written.as_str().filter(|text| !text.is_empty());
        text.ok_or_else(|| EMPTY.to_owned()).and_then(T::from_text).map(Self)
    }
}

const EMPTY: &str = "must be a non-empty string";

impl FromText for String {
    fn from_text(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        if trimmed.is_empty() { Err(EMPTY.to_owned()) } else { Ok(trimmed.to_owned()) }
    }
}

impl FromText for SecretString {
    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Self::from(text))
    }
}

/// A value parsed from a list of texts, or from one comma-separated text.
#[derive(Deserialize)]
#[serde(try_from = "Value", bound = "T: FromList")]
pub(super) struct TextList<T>(pub(super) T);

/// A type that is configured as a list of texts.
pub(super) trait FromList: Sized {
    /// Parses trimmed texts; the error quotes the first invalid one unless they are secret.
    fn from_list(texts: Vec<&str>) -> Result<Self, String>;
}

impl<T: FromList> TryFrom<Value> for TextList<T> {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let texts: Option<Vec<&str>> = match &written {
            Value::String(text) => Some(text.split(',').map(str::trim).collect()),
            Value::Array(items) => items.iter().map(|item| item.as_str().map(str::trim)).collect(),
            _ => None,
        };
        texts.ok_or_else(|| "must be a list of strings".to_owned()).and_then(T::from_list).map(Self)
    }
}

impl FromList for Networks {
    fn from_list(texts: Vec<&str>) -> Result<Self, String> {
        Self::parse(texts).map_err(|error| error.to_string())
    }
}

impl FromList for NameServers {
    fn from_list(texts: Vec<&str>) -> Result<Self, String> {
        Self::parse(texts)
    }
}

impl FromList for SigningSecrets {
    fn from_list(texts: Vec<&str>) -> Result<Self, String> {
        Self::parse(texts).map_err(|error| error.to_string())
    }
}

/// Returns the secrets of a key; empty if not set.
pub(super) fn signing_secrets(secrets: Option<Secret<TextList<SigningSecrets>>>) -> SigningSecrets {
    secrets.map(|Secret(TextList(secrets))| secrets).unwrap_or_default()
}

/// An amount of money as text, because its currency is a separate key.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct AmountText(String);

impl TryFrom<Value> for AmountText {
    type Error = &'static str;

    fn try_from(written: Value) -> Result<Self, &'static str> {
        match written {
            Value::String(number) => Ok(Self(number)),
            Value::Number(number) if !number.is_f64() => Ok(Self(number.to_string())),
            _ => Err("must be an amount of money as text, such as \"12.50\""),
        }
    }
}

/// Parses the amount of a key, which must be greater than zero if set.
///
/// # Errors
/// [`ConfigError`] for text that is not a positive amount in the currency.
pub(super) fn amount(
    key: &str,
    sum: Option<AmountText>,
    currency: &Currency,
) -> Result<Option<Amount>, ConfigError> {
    sum.map(|sum| amount_above_zero(key, &sum, currency)).transpose()
}

/// Parses the amount of a key, which must be greater than zero.
///
/// # Errors
/// As [`amount`].
pub(super) fn amount_above_zero(
    key: &str,
    AmountText(number): &AmountText,
    currency: &Currency,
) -> Result<Amount, ConfigError> {
    let money = currency.parse(number.trim()).map_err(|error| {
        ConfigError::new(key, format!("is not an amount in {}: {error}", currency.code()))
    })?;
    Amount::new(money).ok_or_else(|| ConfigError::new(key, "must be greater than zero"))
}

/// Parses the amount of a key, of which 0 means that there is none.
///
/// # Errors
/// As [`amount`].
pub(super) fn amount_unless_zero(
    key: &str,
    sum: Option<AmountText>,
    currency: &Currency,
) -> Result<Option<Amount>, ConfigError> {
    let is_zero = |AmountText(number): &AmountText| currency.parse(number.trim()).is_ok_and(Money::is_zero);
    amount(key, sum.filter(|sum| !is_zero(sum)), currency)
}
