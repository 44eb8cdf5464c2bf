//! What is paid out on which networks, as it is configured.

use cuepoint_domain::address::{OptionsTable, PayoutOption};

use super::ConfigError;
use super::values::{Values, missing};

const KEY: &str = "withdrawals.options";

/// The table: a row for each currency, its networks after a colon, apart by blanks.
pub(super) fn payout_options(values: &Values) -> Result<OptionsTable, ConfigError> {
    if !values.is_set(KEY) {
        return Err(missing(KEY));
    }
    let rows = values.list(KEY)?.into_iter().map(row).collect::<Result<_, _>>()?;
    OptionsTable::new(rows).map_err(|error| ConfigError::new(KEY, error.to_string()))
}

fn row(written: &str) -> Result<PayoutOption, ConfigError> {
    let (currency, networks) = written.split_once(':').ok_or_else(|| {
        ConfigError::new(
            KEY,
            format!("{written:?} is no currency with its networks, such as \"ETH: ethereum base\""),
        )
    })?;
    PayoutOption::new(currency.trim(), networks.split_whitespace())
        .map_err(|error| ConfigError::new(KEY, error.to_string()))
}
