//! Addresses of the networks that can be paid out on: which text is one, and how it is written.
//!
//! Each family of networks has a file that decodes its addresses, checksum included. What is decoded is judged here,
//! so that test networks, addresses without an owner and mix-ups are refused alike everywhere.

mod base58;
mod bitcoin;
mod crc;
mod curve;
mod evm;
mod options;
mod policy;
mod ripple;
mod solana;
mod stellar;
mod ton;
mod tron;

pub use options::{OptionsError, OptionsTable, PayoutOption};
pub use policy::{AddressPolicy, Destination, DestinationRefusal};

use strum::{EnumIter, EnumString, IntoStaticStr};
use thiserror::Error;

use crate::names::named_enum;

/// Why a text is no address to pay out to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum AddressError {
    /// It is no address of any network: misspelt, cut, or with a wrong checksum.
    #[error("no address")]
    Malformed,
    /// It is an address of another network than the one named.
    #[error("an address of another network")]
    OtherNetwork,
    /// It is an address of a network for tests.
    #[error("an address of a test network")]
    TestNetwork,
    /// No private key leads there: what is sent there is lost, or falls to a program.
    #[error("an address without a private key")]
    Ownerless,
    /// What is sent there can be taken by anybody.
    #[error("an address that anybody can spend from")]
    AnyoneCanSpend,
}

/// An address as its family decoded it, checksum verified.
struct Decoded {
    /// Whether it says that it is for tests.
    test: bool,
    /// Why nothing should be sent to this address, on any network.
    flaw: Option<AddressError>,
    /// The one spelling in which it is stored and shown.
    canonical: String,
}

/// A network that can be paid out on. Names are read in any letter case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum Network {
    /// Bitcoin: P2PKH, P2SH, P2WPKH, P2WSH and taproot.
    Bitcoin,
    /// Litecoin: `L…`, `M…` and `ltc1…`; not the old `3…`, which Bitcoin has too.
    Litecoin,
    /// Dogecoin: P2PKH and P2SH.
    Dogecoin,
    /// Ethereum; its addresses and those of the networks like it are the same.
    Ethereum,
    /// Arbitrum One.
    Arbitrum,
    /// OP Mainnet.
    Optimism,
    /// Base.
    Base,
    /// Polygon PoS.
    Polygon,
    /// BNB Smart Chain.
    Bsc,
    /// Avalanche C-Chain.
    Avalanche,
    /// TRON; its test networks use the same addresses.
    Tron,
    /// Solana; its addresses have no checksum, and its test networks use the same.
    Solana,
    /// XRP Ledger: classic addresses, and X-addresses, which carry a destination tag.
    Xrp,
    /// Stellar: accounts, and muxed accounts, which carry an id; its test network uses the same addresses.
    Stellar,
    /// TON, user-friendly or raw.
    Ton,
}

named_enum!(Network);

impl Network {
    /// The address that a text is on this network.
    fn decode(self, text: &str) -> Option<Decoded> {
        match self {
            Self::Bitcoin => bitcoin::decode(&bitcoin::BITCOIN, text),
            Self::Litecoin => bitcoin::decode(&bitcoin::LITECOIN, text),
            Self::Dogecoin => bitcoin::decode(&bitcoin::DOGECOIN, text),
            Self::Ethereum
            | Self::Arbitrum
            | Self::Optimism
            | Self::Base
            | Self::Polygon
            | Self::Bsc
            | Self::Avalanche => evm::decode(text),
            Self::Tron => tron::decode(text),
            Self::Solana => solana::decode(text),
            Self::Xrp => ripple::decode(text),
            Self::Stellar => stellar::decode(text),
            Self::Ton => ton::decode(text),
        }
    }

    /// The canonical spelling of an address of this network; that spelling again gives itself.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn canonical(self, text: &str) -> Result<String, AddressError> {
        match self.decode(text) {
            Some(Decoded { test: true, .. }) => Err(AddressError::TestNetwork),
            Some(Decoded { flaw: Some(flaw), .. }) => Err(flaw),
            Some(Decoded { flaw: None, canonical, .. }) => Ok(canonical),
            None if Self::all().any(|other| other.decode(text).is_some()) => Err(AddressError::OtherNetwork),
            None => Err(AddressError::Malformed),
        }
    }
}

/// Whether the 2nd to the 16th byte of an account are the same.
///
/// A hash has this form with a probability of 2^-112. Accounts that a network defines (zero and burn addresses,
/// precompiles, system contracts) have it, and no key is known to lead there.
fn is_uniform(account: &[u8]) -> bool {
    account.get(1..16).is_some_and(|middle| middle.iter().all(|byte| middle.first() == Some(byte)))
}
