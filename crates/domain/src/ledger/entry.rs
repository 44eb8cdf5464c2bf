//! Permanent records of a plan: one entry per wallet, one posting for each other account.

use crate::checksum::ChecksumFields;
use crate::entity_ref::EntityRef;
use crate::ids::{OperationId, UserId};
use crate::ledger::{Balance, ChainHash, EntryKind, OutsideAccount, PlatformAccount};
use crate::money::Money;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// The bytes of the fields of most entries, with their lengths.
const USUAL_FIELDS: usize = 384;

/// One change of one wallet by one operation; never edited, never deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The owner of the wallet.
    pub wallet: UserId,
    /// The number within the wallet, from 1 without gaps.
    pub seq: i64,
    /// The operation that made it.
    pub operation: OperationId,
    pub kind: EntryKind,
    /// The entity that it refers to.
    pub reference: EntityRef,
    pub change: Balance,
    pub after: Balance,
    /// The time; never before that of the previous entry.
    pub at: Timestamp,
    /// The previous link.
    pub previous: ChainHash,
    /// This entry's link.
    pub hash: ChainHash,
}

impl Entry {
    /// Whether it increases the debt: its kind is a reason of what the wallet owes.
    #[must_use]
    pub fn increases_debt(&self) -> bool {
        self.change.owed > Money::ZERO
    }

    /// The link computed from the entry's fields: SHA-256 over each field prefixed with its length in bytes.
    #[must_use]
    pub fn link(&self) -> ChainHash {
        let mut fields = ChecksumFields::with_capacity(USUAL_FIELDS);
        let mut field = |bytes: &[u8]| fields.push(bytes);
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
        ChainHash(fields.sha256())
    }
}

/// A change of an account outside all wallets, which has no running balance, only the sum of its postings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Posting {
    /// The operation that made it.
    pub operation: OperationId,
    pub account: PostingAccount,
    /// The change; negative if money left the account.
    pub amount: Money,
    /// The time.
    pub at: Timestamp,
}

/// The accounts of postings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PostingAccount {
    Platform(PlatformAccount),
    /// An external account.
    Outside(OutsideAccount),
    /// An account of a newer version.
    Unknown(UnknownName),
}

impl PostingAccount {
    /// Every account that this version knows.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        PlatformAccount::all().map(Self::Platform).chain(OutsideAccount::all().map(Self::Outside))
    }

    /// The name, as used by stores.
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

    /// The account of this name, known or not; `None` for names that no version writes.
    #[must_use]
    pub fn stored(name: &str) -> Option<Self> {
        Self::named(name).or_else(|| UnknownName::stored(name).map(Self::Unknown))
    }
}
