//! What a self-check can find, in words for whoever runs the service.

use std::fmt;

use crate::ids::{OperationId, UserId};
use crate::ledger::{EntityRef, EntryKind, PostingAccount};
use crate::money::Money;
use crate::unknown::UnknownName;

/// The first entity that is wrong with the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// A row stands for no value: written by other hands, or half lost.
    Unreadable {
        /// Which row, and what is wrong with it.
        what: String,
    },
    /// An entry belongs to no wallet that was shown.
    OrphanEntry {
        /// The wallet that it names.
        wallet: UserId,
        /// Its number.
        seq: i64,
    },
    /// Entries are missing, doubled or swapped.
    Gap {
        /// In which wallet.
        wallet: UserId,
        /// The number that should have come.
        expected: i64,
        /// The number that came; `None` where the entries end too early.
        found: Option<i64>,
    },
    /// The balances after an entry are not those before it with its change.
    Sum {
        /// In which wallet.
        wallet: UserId,
        /// After which entry.
        seq: i64,
    },
    /// An entry's fields do not make its hash, or it does not follow the one before.
    Chain {
        /// In which wallet.
        wallet: UserId,
        /// Which entry.
        seq: i64,
    },
    /// An entry is older than the one before it.
    Time {
        /// In which wallet.
        wallet: UserId,
        /// Which entry.
        seq: i64,
    },
    /// A wallet's balance, time or head is not that of its newest entry.
    Balance {
        /// Which wallet.
        wallet: UserId,
    },
    /// What is written about a request, a withdrawal, a top-up or an adjustment is not what its state demands.
    Entity {
        /// What it is about.
        reference: EntityRef,
        /// What is wrong with it.
        flaw: Flaw,
    },
    /// An entry is about something that does not exist.
    StrayEntry {
        /// In which wallet.
        wallet: UserId,
        /// Which entry.
        seq: i64,
        /// What it is about.
        reference: EntityRef,
    },
    /// A posting belongs to no operation that has entries.
    StrayPosting {
        /// The operation that it names.
        operation: OperationId,
        /// To which account.
        account: PostingAccount,
    },
    /// Entries or postings belong to nothing, and nobody said which.
    Strays {
        /// How many entries.
        entries: u64,
        /// How many postings.
        postings: u64,
    },
    /// A newer version wrote something that this one does not know, and cannot check.
    Unknown {
        /// What it is: an entity's status, an entry's kind or reference, a posting's account, an operation's rules.
        what: UnknownValue,
        /// What that version calls it.
        name: UnknownName,
    },
    /// All wallets together hold something else than open requests and withdrawals do.
    Held {
        /// What the wallets hold, in minor units.
        wallets: Money,
        /// What is open, in minor units.
        open: Money,
    },
    /// All accounts together are not zero.
    Total {
        /// What they are, in minor units.
        sum: Money,
    },
}

/// What a newer version wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnknownValue {
    /// The status of a request, a withdrawal or a top-up.
    Status(EntityRef),
    /// The kind of an entry, or the type of what it is about.
    Entry {
        /// In which wallet.
        wallet: UserId,
        /// Which entry.
        seq: i64,
    },
    /// The account of a posting.
    Posting(OperationId),
    /// The rules by which an operation was posted.
    Rules(OperationId),
}

/// What is wrong with what is written about an entity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// Its sums contradict each other.
    Terms,
    /// An entry is missing: it was not held, not settled, or not paid to everybody.
    Lacks(EntryKind),
    /// An entry is one too many: it was settled again, or by nobody's decision.
    Extra {
        /// In which wallet.
        wallet: UserId,
        /// Which entry.
        seq: i64,
    },
    /// An entry is not what the rules make of the entity.
    Entry {
        /// In which wallet.
        wallet: UserId,
        /// Which entry.
        seq: i64,
    },
    /// The postings of an operation are not what the rules make of the entity.
    Postings(OperationId),
    /// The record of an operation that has entries is missing.
    NoRecord(OperationId),
    /// The entity is not as an operation recorded it.
    Record(OperationId),
    /// The approvals of a withdrawal are not those that its operations recorded.
    Approvals,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { what } => write!(f, "{what}"),
            Self::OrphanEntry { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet} belongs to no wallet")
            }
            Self::Gap { wallet, expected, found: Some(found) } => {
                write!(f, "wallet {wallet} has entry {found} where entry {expected} should be")
            }
            Self::Gap { wallet, expected, found: None } => {
                write!(f, "entry {expected} of wallet {wallet} is missing")
            }
            Self::Sum { wallet, seq } => write!(
                f,
                "entry {seq} of wallet {wallet}: the balances after it are not those before it plus its change"
            ),
            Self::Chain { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet}: its hash does not fit")
            }
            Self::Time { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet} is older than the one before it")
            }
            Self::Balance { wallet } => {
                write!(f, "wallet {wallet}: its balance, time or head is not that of its newest entry")
            }
            Self::Entity { reference, flaw } => {
                write!(f, "{} {}: {flaw}", reference.title(), reference.id())
            }
            Self::StrayEntry { wallet, seq, reference } => write!(
                f,
                "entry {seq} of wallet {wallet} is about {} {}, which does not exist",
                reference.title(),
                reference.id()
            ),
            Self::StrayPosting { operation, account } => write!(
                f,
                "a posting to {} belongs to operation {operation}, which has no entries",
                account.name()
            ),
            Self::Strays { entries, postings } => {
                write!(f, "{entries} entries and {postings} postings belong to nothing that exists")
            }
            Self::Unknown { what, name } => {
                match what {
                    UnknownValue::Status(reference) => {
                        write!(f, "{} {} has the status", reference.title(), reference.id())?;
                    }
                    UnknownValue::Entry { wallet, seq } => {
                        write!(f, "entry {seq} of wallet {wallet} has the kind or the reference")?;
                    }
                    UnknownValue::Posting(operation) => {
                        write!(f, "a posting of operation {operation} has the account")?;
                    }
                    UnknownValue::Rules(operation) => {
                        write!(f, "operation {operation} was posted by the rules")?;
                    }
                }
                write!(f, " {name:?}, which this version does not know")
            }
            Self::Held { wallets, open } => write!(
                f,
                "all wallets hold {} minor units, but open requests and withdrawals {}",
                wallets.minor(),
                open.minor()
            ),
            Self::Total { sum } => {
                write!(f, "all accounts together are {} minor units instead of 0", sum.minor())
            }
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Terms => write!(f, "its sums contradict each other"),
            Self::Lacks(kind) => write!(f, "its {} entry is missing", kind.name()),
            Self::Extra { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet} is one more than its state allows")
            }
            Self::Entry { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet} is not what its state and its sum demand")
            }
            Self::Postings(operation) => {
                write!(f, "the postings of operation {operation} are not what its state and its sum demand")
            }
            Self::NoRecord(operation) => write!(f, "the record of operation {operation} is missing"),
            Self::Record(operation) => write!(f, "it is not as operation {operation} recorded it"),
            Self::Approvals => write!(f, "its approvals are not those that its operations recorded"),
        }
    }
}
