//! Validation of a withdrawal's destination.

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};

use super::{AddressError, OptionsTable};
use crate::names::{explained_enum, named_enum};
use crate::text::Line;

/// How strictly a destination is validated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, IntoStaticStr, EnumString, EnumIter, EnumMessage)]
#[strum(serialize_all = "snake_case")]
pub enum AddressPolicy {
    /// Any text is accepted as an address, a currency or a network, and stored unchanged.
    #[default]
    Lenient,
    /// The currency and the network must be among the options, and the address must belong to the network.
    /// All three are stored in canonical form.
    Strict,
}

named_enum!(AddressPolicy);
explained_enum!(AddressPolicy);

/// The destination of a withdrawal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Destination {
    /// The payout currency.
    pub currency: Line,
    /// The payout network.
    pub network: Line,
    /// The address on that network.
    pub wallet_address: Line,
}

/// The refused part of a destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DestinationRefusal {
    /// The currency is not offered.
    Currency,
    /// The network does not exist, or the currency is not offered on it.
    Network,
    /// The address is unsuitable for payouts.
    Address(AddressError),
}

impl AddressPolicy {
    /// The destination as stored and shown: under [`AddressPolicy::Strict`], the currency in upper case, the
    /// network in lower case, and the address in canonical form.
    ///
    /// # Errors
    /// [`DestinationRefusal`], only under [`AddressPolicy::Strict`].
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
