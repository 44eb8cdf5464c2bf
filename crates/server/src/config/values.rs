//! The merged layers as text by key, and strict readers of one value each.
//!
//! The library's own conversions would take `true` for 1 and round `80.5` to a port; these refuse.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use config::{Config, Source, Value, ValueKind};
use cuepoint_domain::money::{Amount, Currency};
use secrecy::SecretString;

use super::ConfigError;
use super::keys::{self, KEYS};

/// A value as its layer wrote it.
enum Written {
    Text(String),
    Integer(String),
    Boolean(bool),
    List(Vec<String>),
    /// What no key takes: a table, a date, a float, a list of such.
    Other,
}

/// The merged layers by key.
pub(super) struct Values(BTreeMap<String, Written>);

impl Values {
    /// The values of a merged configuration; every key is known.
    pub(super) fn new(merged: Config) -> Result<Self, ConfigError> {
        let tree = merged.collect().map_err(|error| ConfigError::new("configuration", error.to_string()))?;
        let mut values = BTreeMap::new();
        flatten("", tree, &mut values);
        match values.keys().find(|key| !keys::is_known(key)) {
            Some(unknown) => Err(ConfigError::new(unknown.as_str(), "there is no such key")),
            None => Ok(Self(values)),
        }
    }

    /// Whether the key has a value.
    pub(super) fn is_set(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A text that is not empty, if there is one.
    pub(super) fn text(&self, key: &str) -> Result<Option<&str>, ConfigError> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Written::Text(text)) if !text.trim().is_empty() => Ok(Some(text.trim())),
            Some(_) => Err(ConfigError::new(key, "must be a text that is not empty")),
        }
    }

    /// A secret text, untrimmed, if there is one.
    pub(super) fn secret(&self, key: &str) -> Result<Option<SecretString>, ConfigError> {
        match self.0.get(key) {
            None => Ok(None),
            Some(Written::Text(text)) if !text.is_empty() => Ok(Some(SecretString::from(text.as_str()))),
            Some(_) => Err(ConfigError::new(key, "must be a text that is not empty")),
        }
    }

    /// A text that must be there.
    pub(super) fn required(&self, key: &str) -> Result<&str, ConfigError> {
        self.text(key)?.ok_or_else(|| missing(key))
    }

    /// A whole number within a range, if there is one.
    pub(super) fn number<T>(&self, key: &str, range: RangeInclusive<T>) -> Result<Option<T>, ConfigError>
    where
        T: std::str::FromStr + PartialOrd + fmt::Display,
    {
        let written = match self.0.get(key) {
            None => return Ok(None),
            Some(Written::Text(digits) | Written::Integer(digits)) => digits.trim(),
            Some(Written::Boolean(_) | Written::List(_) | Written::Other) => "",
        };
        let number = written.parse().ok().filter(|number| range.contains(number));
        let refusal = || format!("must be a whole number from {} to {}", range.start(), range.end());
        number.map(Some).ok_or_else(|| ConfigError::new(key, refusal()))
    }

    /// A whole number within a range that must be there.
    pub(super) fn required_number<T>(&self, key: &str, range: RangeInclusive<T>) -> Result<T, ConfigError>
    where
        T: std::str::FromStr + PartialOrd + fmt::Display,
    {
        self.number(key, range)?.ok_or_else(|| missing(key))
    }

    /// Yes or no, which must be there.
    pub(super) fn flag(&self, key: &str) -> Result<bool, ConfigError> {
        match self.0.get(key) {
            None => Err(missing(key)),
            Some(Written::Boolean(flag)) => Ok(*flag),
            Some(Written::Text(text)) if text == "true" => Ok(true),
            Some(Written::Text(text)) if text == "false" => Ok(false),
            Some(_) => Err(ConfigError::new(key, "must be true or false")),
        }
    }

    /// One of a few names, which must be there.
    pub(super) fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T, ConfigError> {
        let name = self.required(key)?;
        choices.iter().find(|(choice, _)| *choice == name).map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
            ConfigError::new(key, format!("must be one of {}", names.join(", ")))
        })
    }

    /// A sum of money, if there is one; zero only where it is `allowed`, and then as none.
    pub(super) fn amount(
        &self,
        key: &str,
        currency: &Currency,
        zero_allowed: bool,
    ) -> Result<Option<Amount>, ConfigError> {
        let number = match self.0.get(key) {
            None => return Ok(None),
            Some(Written::Text(number) | Written::Integer(number)) => number.trim(),
            Some(Written::Boolean(_) | Written::List(_) | Written::Other) => {
                return Err(ConfigError::new(key, "must be a sum of money as text, such as \"12.50\""));
            }
        };
        let money = currency
            .parse(number)
            .map_err(|error| ConfigError::new(key, format!("is no sum of {}: {error}", currency.code())))?;
        match Amount::new(money) {
            Some(amount) => Ok(Some(amount)),
            None if zero_allowed && money.is_zero() => Ok(None),
            None => Err(ConfigError::new(key, "must be more than zero")),
        }
    }

    /// A list of texts, or one text with commas; empty where there is none.
    pub(super) fn list(&self, key: &str) -> Result<Vec<&str>, ConfigError> {
        match self.0.get(key) {
            None => Ok(Vec::new()),
            Some(Written::List(items)) => Ok(items.iter().map(|item| item.trim()).collect()),
            Some(Written::Text(text)) => Ok(text.split(',').map(str::trim).collect()),
            Some(_) => Err(ConfigError::new(key, "must be a list of texts")),
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for key in KEYS {
            match self.0.get(key.name) {
                None => writeln!(f, "# {} is not set", key.name)?,
                Some(_) if key.secret => writeln!(f, "{} = [REDACTED]", key.name)?,
                Some(Written::Text(text)) => writeln!(f, "{} = {text:?}", key.name)?,
                Some(Written::Integer(digits)) => writeln!(f, "{} = {digits}", key.name)?,
                Some(Written::Boolean(flag)) => writeln!(f, "{} = {flag}", key.name)?,
                Some(Written::List(items)) => writeln!(f, "{} = {items:?}", key.name)?,
                Some(Written::Other) => writeln!(f, "{} = ?", key.name)?,
            }
        }
        Ok(())
    }
}

pub(super) fn missing(key: &str) -> ConfigError {
    ConfigError::new(key, "is required")
}

fn flatten(prefix: &str, table: config::Map<String, Value>, into: &mut BTreeMap<String, Written>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value.kind {
            ValueKind::Table(inner) => flatten(&key, inner, into),
            ValueKind::Nil => {}
            kind => {
                into.insert(key, written(kind));
            }
        }
    }
}

fn written(kind: ValueKind) -> Written {
    match kind {
        ValueKind::String(text) => Written::Text(text),
        ValueKind::Boolean(flag) => Written::Boolean(flag),
        ValueKind::I64(number) => Written::Integer(number.to_string()),
        ValueKind::I128(number) => Written::Integer(number.to_string()),
        ValueKind::U64(number) => Written::Integer(number.to_string()),
        ValueKind::U128(number) => Written::Integer(number.to_string()),
        ValueKind::Array(values) => {
            let text = |value: Value| match value.kind {
                ValueKind::String(text) => Some(text),
                _ => None,
            };
            values.into_iter().map(text).collect::<Option<_>>().map_or(Written::Other, Written::List)
        }
        ValueKind::Float(_) | ValueKind::Nil | ValueKind::Table(_) => Written::Other,
    }
}
