//! What a plan leaves behind for ever: one entry a wallet, one posting for each account that is no wallet's.

use sha2::{Digest, Sha256};

use crate::ids::{OperationId, UserId};
use crate::ledger::{Balance, ChainHash, EntityRef, EntryKind, OutsideAccount, PlatformAccount};
use crate::money::Money;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// One change of one wallet by one operation; never edited, never deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The owner of the wallet.
    pub wallet: UserId,
    /// Its number within the wallet, from 1 without a gap.
    pub seq: i64,
    /// The operation that made it.
    pub operation: OperationId,
    /// What it is called.
    pub kind: EntryKind,
    /// What it is about.
    pub reference: EntityRef,
    /// The change of each balance.
    pub change: Balance,
    /// The balances after it.
    pub after: Balance,
    /// When; never before the entry that it follows.
    pub at: Timestamp,
    /// The link before.
    pub previous: ChainHash,
    /// Its own link.
    pub hash: ChainHash,
}

impl Entry {
    /// The link that the entry's fields make: SHA-256 over each field behind its length in bytes.
    #[must_use]
    pub fn link(&self) -> ChainHash {
        let mut hasher = Sha256::new();
        let mut field = |bytes: &[u8]| {
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            hasher.update(length.to_be_bytes());
            hasher.update(bytes);
        };
        field(&self.previous.0);
        field(&self.wallet.get().to_be_bytes());
        field(&self.seq.to_be_bytes());
        field(&self.operation.0.to_be_bytes());
        field(self.kind.name().as_bytes());
        field(self.reference.kind_name().as_bytes());
        field(&self.reference.id().to_be_bytes());
        for balance in [self.change, self.after] {
            for money in [balance.available, balance.held, balance.owed] {
                field(&money.minor().to_be_bytes());
            }
        }
        field(&self.at.unix_micros().to_be_bytes());
        ChainHash(hasher.finalize().into())
    }
}

/// An account that is no wallet's: it keeps no running balance, only the sum of its postings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posting {
    /// The operation that made it.
    pub operation: OperationId,
    /// Which account.
    pub account: PostingAccount,
    /// The change; negative where money left the account.
    pub amount: Money,
    /// When.
    pub at: Timestamp,
}

/// The accounts that postings are made to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PostingAccount {
    /// One of the house.
    Platform(PlatformAccount),
    /// One of the world.
    Outside(OutsideAccount),
    /// One of a newer version.
    Unknown(UnknownName),
}

impl PostingAccount {
    /// Every account that this version knows.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        PlatformAccount::all().map(Self::Platform).chain(OutsideAccount::all().map(Self::Outside))
    }

    /// The name, as stores write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Platform(account) => account.name(),
            Self::Outside(account) => account.name(),
            Self::Unknown(name) => name.as_str(),
        }
    }

    /// The account of this name, if this version knows it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let platform = PlatformAccount::named(name).map(Self::Platform);
        platform.or_else(|| OutsideAccount::named(name).map(Self::Outside))
    }

    /// The account of this name, known or not; `None` for what no version writes.
    #[must_use]
    pub fn stored(name: &str) -> Option<Self> {
        Self::named(name).or_else(|| UnknownName::stored(name).map(Self::Unknown))
    }
}
