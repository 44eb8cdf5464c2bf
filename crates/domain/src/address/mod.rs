//! Addresses of the payout networks: decoding, validation and canonical form.
//!
//! Each family of networks has a file that decodes its addresses and verifies their checksums. Decoded
//! addresses are judged here, so that test networks, unspendable addresses and mix-ups are refused alike
//! everywhere.

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

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use thiserror::Error;

use crate::names::{explained_enum, named_enum};

/// Why a payout address is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum AddressError {
    /// Not an address of any network: misspelt, truncated, or with a wrong checksum.
    #[error("no address")]
    Malformed,
    /// An address of a network other than the one given.
    #[error("an address of another network")]
    OtherNetwork,
    #[error("an address of a test network")]
    TestNetwork,
    /// An address without a private key: money sent there is lost, or controlled by a program.
    #[error("an address without a private key")]
    Ownerless,
    /// An address that can be spent from without a private key.
    #[error("an address that anybody can spend from")]
    AnyoneCanSpend,
}

/// A decoded address, its checksum verified.
struct Decoded {
    /// Whether it is marked as a test network's.
    test: bool,
    /// The bytes that identify the account: a hash of 20 or 32 bytes, a witness program, or a public key, without
    /// version, tag and checksum.
    account: Vec<u8>,
    /// The flaw by the rules of its own network, if any.
    flaw: Option<AddressError>,
    /// The spelling in which it is stored and shown.
    canonical: String,
}

/// A payout network. Names are case-insensitive.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
pub enum Network {
    /// Bitcoin: P2PKH, P2SH, P2WPKH, P2WSH and taproot addresses.
    Bitcoin,
    /// Litecoin: `L…`, `M…` and `ltc1…`. The old form `3…` is refused, because Bitcoin uses it too.
    Litecoin,
    /// Dogecoin: P2PKH and P2SH addresses.
    Dogecoin,
    /// Ethereum.
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
    /// TRON. Its test networks use the same addresses.
    Tron,
    /// Solana. Its addresses have no checksum, and its test networks use the same addresses.
    Solana,
    /// XRP Ledger: classic addresses, and X-addresses with a destination tag.
    Xrp,
    /// Stellar: accounts, and muxed accounts with an id. Its test network uses the same addresses.
    Stellar,
    /// TON: user-friendly and raw addresses.
    Ton,
}

named_enum!(Network);
explained_enum!(Network);

impl Network {
    /// Decodes a text as an address of this network.
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

    /// The canonical spelling of an address of this network; canonicalization is idempotent.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn canonical(self, text: &str) -> Result<String, AddressError> {
        match self.decode(text) {
            Some(Decoded { test: true, .. }) => Err(AddressError::TestNetwork),
            Some(Decoded { flaw: Some(flaw), .. }) => Err(flaw),
            Some(Decoded { account, .. }) if is_uniform(&account) => Err(AddressError::Ownerless),
            Some(Decoded { canonical, .. }) => Ok(canonical),
            None if Self::all().any(|other| other.decode(text).is_some()) => Err(AddressError::OtherNetwork),
            None => Err(AddressError::Malformed),
        }
    }
}

/// Whether the 2nd to the 16th byte of an account are equal.
///
/// A hash or a public key has this form with a probability of 2^-112. Accounts defined by a network (zero and burn
/// addresses, precompiles, system contracts) and placeholders have it, and no key is known to lead to them.
fn is_uniform(account: &[u8]) -> bool {
    account.get(1..16).is_some_and(|middle| middle.iter().all(|byte| middle.first() == Some(byte)))
}
