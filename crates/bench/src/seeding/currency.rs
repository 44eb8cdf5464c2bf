//! The currency of the seeded history.

use anyhow::Context;
use cuepoint_domain::money::Currency;

/// The currency of all amounts.
pub(super) fn currency() -> anyhow::Result<Currency> {
    Currency::new("USD", 2).context("the currency is invalid")
}
