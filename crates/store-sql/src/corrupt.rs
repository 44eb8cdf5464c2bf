//! Rows without a valid value.

use cuepoint_domain::money::MoneyError;
use thiserror::Error;

/// Why a row has no value of the domain.
#[derive(Debug, Error)]
pub enum Corrupt {
    /// A column holds an invalid value.
    #[error("the column {0} holds an invalid value")]
    Column(&'static str),
    /// A sum does not fit the deployment's currency.
    #[error("the column {0} holds a sum that does not fit the currency: {1}")]
    Sum(&'static str, MoneyError),
    /// A redacted receipt, where a whole one is required.
    #[error("a receipt that has to be whole is redacted")]
    Redacted,
    /// A receipt is not in the format of this version.
    #[error("a receipt cannot be read: {0}")]
    Receipt(#[from] serde_json::Error),
}

/// Returns the value of a column, or an error with the column's name.
///
/// # Errors
/// [`Corrupt::Column`] if there is no value.
pub fn known<T>(column: &'static str, value: Option<T>) -> Result<T, Corrupt> {
    value.ok_or(Corrupt::Column(column))
}
