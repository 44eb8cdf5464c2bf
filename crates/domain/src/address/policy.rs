//! How closely a withdrawal's destination is looked at.

use strum::{EnumIter, EnumString, IntoStaticStr};

use super::{AddressError, OptionsTable};
use crate::names::named_enum;
use crate::text::Line;

/// How closely a destination is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum AddressPolicy {
    /// Any text is a destination, and kept as it is.
    #[default]
    Lenient,
    /// Currency and network must be in the table and the address one of that network; all are kept in canonical form.
    Strict,
}

named_enum!(AddressPolicy);

/// Where a withdrawal goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Destination {
    /// What is paid out.
    pub currency: Line,
    /// The network that it is paid out on.
    pub network: Line,
    /// The address there.
    pub wallet_address: Line,
}

/// Which part of a destination is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DestinationRefusal {
    /// The currency is not paid out.
    Currency,
    /// There is no such network, or the currency is not paid out on it.
    Network,
    /// The address is none to pay out to.
    Address(AddressError),
}

impl AddressPolicy {
    /// The destination as it is stored and shown: under [`AddressPolicy::Strict`] the currency in capitals, the
    /// network in small letters, the address canonical.
    ///
    /// # Errors
    /// [`DestinationRefusal`], under [`AddressPolicy::Strict`] alone.
    pub fn judge(
        self,
        options: &OptionsTable,
        destination: Destination,
    ) -> Result<Destination, DestinationRefusal> {
        match self {
            Self::Lenient => Ok(destination),
            Self::Strict => canonical(options, &destination),
        }
    }
}

fn canonical(options: &OptionsTable, given: &Destination) -> Result<Destination, DestinationRefusal> {
    let row = options.currency(given.currency.as_str()).ok_or(DestinationRefusal::Currency)?;
    let network = row.network(given.network.as_str()).ok_or(DestinationRefusal::Network)?;
    let address = network.canonical(given.wallet_address.as_str()).map_err(DestinationRefusal::Address)?;
    let line = |text: &str| Line::new(text).map_err(|_| DestinationRefusal::Address(AddressError::Malformed));
    Ok(Destination {
        currency: line(row.currency())?,
        network: line(network.name())?,
        wallet_address: line(&address)?,
    })
}
