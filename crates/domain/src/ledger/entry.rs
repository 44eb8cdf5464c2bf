//! What a plan leaves behind for ever: one entry a wallet, one posting for each account that is no wallet's.

use sha2::{Digest, Sha256};

use crate::ids::{AdjustmentId, OperationId, RequestId, TopupId, UserId, WithdrawalId};
use crate::ledger::{Balance, OutsideAccount, PlatformAccount};
use crate::money::Money;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// What an entry is called on a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EntryKind {
    /// Money was paid in.
    Topup,
    /// Money was set aside.
    Hold,
    /// Money set aside is available again.
    Release,
    /// Money set aside was paid to somebody.
    Capture,
    /// A played song was paid.
    Earning,
    /// A fee that was paid is back.
    Refund,
    /// An earning was given back.
    Reversal,
    /// An operator corrected the balance.
    Adjustment,
    /// Money that was paid in was taken back by who paid it.
    Chargeback,
    /// A newer version changed it.
    Unknown(UnknownName),
}

impl EntryKind {
    /// Every kind that this version knows.
    pub const ALL: [Self; 9] = [
        Self::Topup,
        Self::Hold,
        Self::Release,
        Self::Capture,
        Self::Earning,
        Self::Refund,
        Self::Reversal,
        Self::Adjustment,
        Self::Chargeback,
    ];

    /// The name, as clients and stores write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Topup => "topup",
            Self::Hold => "hold",
            Self::Release => "release",
            Self::Capture => "capture",
            Self::Earning => "earning",
            Self::Refund => "refund",
            Self::Reversal => "reversal",
            Self::Adjustment => "adjustment",
            Self::Chargeback => "chargeback",
            Self::Unknown(name) => name.as_str(),
        }
    }

    /// The kind of this name, if this version knows it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of this name, known or not; `None` for what no version writes.
    #[must_use]
    pub fn stored(name: &str) -> Option<Self> {
        Self::named(name).or_else(|| UnknownName::stored(name).map(Self::Unknown))
    }
}

/// What an entry is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reference {
    /// A music request.
    MusicRequest(RequestId),
    /// A withdrawal.
    Withdrawal(WithdrawalId),
    /// A top-up.
    Topup(TopupId),
    /// An operator's adjustment.
    Adjustment(AdjustmentId),
    /// Something of a newer version.
    Unknown {
        /// What that version calls its type.
        kind: UnknownName,
        /// Its number.
        id: i64,
    },
}

impl Reference {
    /// The type's name, as clients and stores write it.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::MusicRequest(_) => "music_request",
            Self::Withdrawal(_) => "withdrawal",
            Self::Topup(_) => "topup",
            Self::Adjustment(_) => "adjustment",
            Self::Unknown { kind, .. } => kind.as_str(),
        }
    }

    /// The number of the thing.
    #[must_use]
    pub const fn id(self) -> i64 {
        match self {
            Self::MusicRequest(id) => id.get(),
            Self::Withdrawal(id) => id.get(),
            Self::Topup(id) => id.get(),
            Self::Adjustment(id) => id.get(),
            Self::Unknown { id, .. } => id,
        }
    }

    /// The reference of this type's name, known or not, and number; `None` for what no version writes.
    #[must_use]
    pub fn stored(kind: &str, id: i64) -> Option<Self> {
        match kind {
            "music_request" => RequestId::new(id).map(Self::MusicRequest),
            "withdrawal" => WithdrawalId::new(id).map(Self::Withdrawal),
            "topup" => TopupId::new(id).map(Self::Topup),
            "adjustment" => AdjustmentId::new(id).map(Self::Adjustment),
            _ => UnknownName::stored(kind).map(|kind| Self::Unknown { kind, id }),
        }
    }
}

/// A link of a wallet's chain: the SHA-256 of an entry and of the link before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChainHash(pub [u8; 32]);

impl ChainHash {
    /// What the first entry of every wallet follows.
    pub const START: Self = Self([0; 32]);
}

/// One change of one wallet by one operation; never edited, never deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Whose wallet.
    pub wallet: UserId,
    /// Its number within the wallet, from 1 without a gap.
    pub seq: i64,
    /// The operation that made it.
    pub operation: OperationId,
    /// What it is called.
    pub kind: EntryKind,
    /// What it is about.
    pub reference: Reference,
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
        field(self.reference.kind().as_bytes());
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
    pub const ALL: [Self; 5] = [
        Self::Platform(PlatformAccount::Commission),
        Self::Outside(OutsideAccount::Topups),
        Self::Outside(OutsideAccount::Payouts),
        Self::Outside(OutsideAccount::Adjustments),
        Self::Outside(OutsideAccount::Suspense),
    ];

    /// The name, as stores write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Platform(PlatformAccount::Commission) => "platform_commission",
            Self::Outside(OutsideAccount::Topups) => "outside_topups",
            Self::Outside(OutsideAccount::Payouts) => "outside_payouts",
            Self::Outside(OutsideAccount::Adjustments) => "outside_adjustments",
            Self::Outside(OutsideAccount::Suspense) => "outside_suspense",
            Self::Unknown(name) => name.as_str(),
        }
    }

    /// The account of this name, if this version knows it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|account| account.name() == name)
    }

    /// The account of this name, known or not; `None` for what no version writes.
    #[must_use]
    pub fn stored(name: &str) -> Option<Self> {
        Self::named(name).or_else(|| UnknownName::stored(name).map(Self::Unknown))
    }
}
