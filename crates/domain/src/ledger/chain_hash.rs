//! Links of a wallet's chain of entries.

/// A link of a wallet's chain: the SHA-256 of an entry and of the link before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// The predecessor of the first entry of every wallet.
    pub const START: Self = Self([0; 32]);
}
