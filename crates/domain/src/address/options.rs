//! What is paid out, and on which networks.

use thiserror::Error;

use super::Network;

/// Why a table is none.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OptionsError {
    /// It has no row.
    #[error("must have at least one currency")]
    Empty,
    /// What stands for a currency is no code.
    #[error("{0:?} is no currency of 2 to 12 letters or digits")]
    BadCurrency(String),
    /// A currency has no network.
    #[error("{0} has no network")]
    NoNetwork(String),
    /// There is no such network.
    #[error("{0:?} is none of the networks {networks}", networks = names(Network::all()))]
    UnknownNetwork(String),
    /// A currency, or a network of one, is there twice.
    #[error("{0} is there twice")]
    Twice(String),
}

/// A currency that is paid out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PayoutOption {
    currency: String,
    networks: Vec<Network>,
}

/// Every currency that is paid out, each with its networks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OptionsTable(Vec<PayoutOption>);

impl PayoutOption {
    /// A currency and the names of its networks, in any letter case.
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

    /// The currency's code, in capitals.
    #[must_use]
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// The networks that it is paid out on; at least one.
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
    /// The table of these rows.
    ///
    /// # Errors
    /// [`OptionsError`] when there is none, or a currency is there twice.
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
