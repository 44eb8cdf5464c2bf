//! The payout options: currencies and their networks.

use thiserror::Error;

use super::Network;

/// Why an options table is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OptionsError {
    /// The table is empty.
    #[error("must have at least one currency")]
    Empty,
    /// The currency code is malformed.
    #[error("{0:?} is not a currency of 2 to 12 letters or digits")]
    BadCurrency(String),
    /// The currency has no network.
    #[error("{0} has no network")]
    NoNetwork(String),
    #[error("{0:?} is none of the networks {networks}", networks = names(Network::all()))]
    UnknownNetwork(String),
    /// A currency, or a network of one, is listed twice.
    #[error("{0} is there twice")]
    Twice(String),
}

/// A payout currency.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PayoutOption {
    currency: String,
    networks: Vec<Network>,
}

/// All payout currencies, each with its networks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OptionsTable(Vec<PayoutOption>);

impl PayoutOption {
    /// A currency and its network names, in any letter case.
    ///
    /// # Errors
    /// [`OptionsError`].
    pub fn new<'a>(
        currency: &str,
        networks: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, OptionsError> {
        let code = (2..=12).contains(&currency.len()) && currency.bytes().all(|c| c.is_ascii_alphanumeric());
        if !code {
            return Err(OptionsError::BadCurrency(currency.to_owned()));
        }
        let currency = currency.to_ascii_uppercase();
        let mut known = Vec::new();
        for name in networks {
            let network =
                Network::named(name).ok_or_else(|| OptionsError::UnknownNetwork(name.to_owned()))?;
            if known.contains(&network) {
                return Err(OptionsError::Twice(format!("{} of {currency}", network.name())));
            }
            known.push(network);
        }
        if known.is_empty() {
            return Err(OptionsError::NoNetwork(currency));
        }
        Ok(Self { currency, networks: known })
    }

    /// The currency code, in upper case.
    #[must_use]
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// The payout networks of the currency; at least one.
    #[must_use]
    pub fn networks(&self) -> &[Network] {
        &self.networks
    }

    /// The network of this name, in any letter case, if the currency is paid out on it.
    #[must_use]
    pub fn network(&self, name: &str) -> Option<Network> {
        Network::named(name).filter(|network| self.networks.contains(network))
    }
}

impl OptionsTable {
    /// A table of these rows.
    ///
    /// # Errors
    /// [`OptionsError`] if there are no rows, or a currency is listed twice.
    pub fn new(rows: Vec<PayoutOption>) -> Result<Self, OptionsError> {
        if rows.is_empty() {
            return Err(OptionsError::Empty);
        }
        let mut seen = Vec::new();
        for row in &rows {
            if seen.contains(&row.currency()) {
                return Err(OptionsError::Twice(row.currency.clone()));
            }
            seen.push(row.currency());
        }
        Ok(Self(rows))
    }

    /// The rows, in their order.
    #[must_use]
    pub fn rows(&self) -> &[PayoutOption] {
        &self.0
    }

    /// The row of this currency, in any letter case.
    #[must_use]
    pub fn currency(&self, code: &str) -> Option<&PayoutOption> {
        self.0.iter().find(|row| row.currency.eq_ignore_ascii_case(code))
    }
}

fn names(networks: impl Iterator<Item = Network>) -> String {
    networks.map(Network::name).collect::<Vec<_>>().join(", ")
}
