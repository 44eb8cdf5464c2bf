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

use thiserror::Error;

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

macro_rules! networks {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $decode:expr;)+) => {
        /// A network that can be paid out on.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Network {
            $($(#[$doc])* $variant,)+
        }

        impl Network {
            /// Every network.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The name, as it is configured, stored and shown.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            fn decode(self, text: &str) -> Option<Decoded> {
                match self {
                    $(Self::$variant => $decode(text),)+
                }
            }
        }
    };
}

networks! {
    /// Bitcoin: P2PKH, P2SH, P2WPKH, P2WSH and taproot.
    Bitcoin = "bitcoin", |text| bitcoin::decode(&bitcoin::BITCOIN, text);
    /// Litecoin: `L…`, `M…` and `ltc1…`; not the old `3…`, which Bitcoin has too.
    Litecoin = "litecoin", |text| bitcoin::decode(&bitcoin::LITECOIN, text);
    /// Dogecoin: P2PKH and P2SH.
    Dogecoin = "dogecoin", |text| bitcoin::decode(&bitcoin::DOGECOIN, text);
    /// Ethereum; its addresses and those of the networks like it are the same.
    Ethereum = "ethereum", evm::decode;
    /// Arbitrum One.
    Arbitrum = "arbitrum", evm::decode;
    /// OP Mainnet.
    Optimism = "optimism", evm::decode;
    /// Base.
    Base = "base", evm::decode;
    /// Polygon PoS.
    Polygon = "polygon", evm::decode;
    /// BNB Smart Chain.
    Bsc = "bsc", evm::decode;
    /// Avalanche C-Chain.
    Avalanche = "avalanche", evm::decode;
    /// TRON; its test networks use the same addresses.
    Tron = "tron", tron::decode;
    /// Solana; its addresses have no checksum, and its test networks use the same.
    Solana = "solana", solana::decode;
    /// XRP Ledger: classic addresses, and X-addresses, which carry a destination tag.
    Xrp = "xrp", ripple::decode;
    /// Stellar: accounts, and muxed accounts, which carry an id; its test network uses the same addresses.
    Stellar = "stellar", stellar::decode;
    /// TON, user-friendly or raw.
    Ton = "ton", ton::decode;
}

impl Network {
    /// The network of this name, in any letter case.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|network| network.name().eq_ignore_ascii_case(name))
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
            None if Self::ALL.iter().any(|other| other.decode(text).is_some()) => {
                Err(AddressError::OtherNetwork)
            }
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
