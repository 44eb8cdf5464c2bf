//! Findings of the ledger audit, worded for operators of the service.

use std::fmt;

use crate::entity_ref::EntityRef;
use crate::ids::{GigId, OperationId, RequestId, UserId};
use crate::ledger::{EntryKind, PostingAccount};
use crate::money::Money;
use crate::operation::Position;
use crate::unknown::UnknownName;

/// The first inconsistency of the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// A row cannot be decoded: modified from outside the service, or damaged.
    Unreadable {
        /// The row, and what is wrong with it.
        what: String,
    },
    /// An entry belongs to no known wallet.
    OrphanEntry {
        /// The wallet that it refers to.
        wallet: UserId,
        /// The entry's number.
        seq: i64,
    },
    /// Entries are missing, duplicated or swapped.
    Gap {
        wallet: UserId,
        /// The expected number.
        expected: i64,
        /// The number found; `None` if the entries end too early.
        found: Option<i64>,
    },
    /// The balances after an entry are not the previous balances plus its change.
    Sum {
        wallet: UserId,
        /// The entry's number.
        seq: i64,
    },
    /// An entry's fields do not match its hash, or it does not follow the previous entry.
    Chain {
        wallet: UserId,
        /// The entry's number.
        seq: i64,
    },
    /// An entry is older than the previous one.
    Time {
        wallet: UserId,
        /// The entry's number.
        seq: i64,
    },
    /// A wallet's balance, time or head differs from its newest entry.
    Balance { wallet: UserId },
    /// The records of a request, a withdrawal, a top-up, a tip or an adjustment do not match its state.
    Entity {
        reference: EntityRef,
        /// The mismatch.
        flaw: Flaw,
    },
    /// An entry refers to an entity that does not exist.
    StrayEntry {
        wallet: UserId,
        /// The entry's number.
        seq: i64,
        /// The missing entity.
        reference: EntityRef,
    },
    /// A posting belongs to no operation with entries.
    StrayPosting {
        /// The operation that it refers to.
        operation: OperationId,
        account: PostingAccount,
    },
    /// Entries or postings belong to no entity, and none of them was identified.
    Strays {
        /// The number of entries.
        entries: u64,
        /// The number of postings.
        postings: u64,
    },
    /// A request is open although its gig was settled, so that no job releases its fee before its deadline.
    OpenInSettledGig { request: RequestId, gig: GigId },
    /// The positions of operations have a gap.
    Position { expected: Position, found: Position },
    /// A gap between positions does not begin at the position of an operation.
    PositionGap {
        /// The position before the gap.
        last: Position,
        /// The position after the gap.
        next: Position,
    },
    /// An operation has no position, although it is not from before the introduction of positions.
    WithoutPosition { operation: OperationId },
    /// A newer version wrote a value that this version does not know and cannot check.
    Unknown {
        /// The kind of value: an entity's status, an entry's kind or reference, a posting's account, an
        /// operation's rules.
        what: UnknownValue,
        /// The value's name in that version.
        name: UnknownName,
    },
    /// The money held in all wallets differs from the amounts of open requests and withdrawals.
    Held {
        /// The sum held in wallets, in minor units.
        wallets: Money,
        /// The sum of open amounts, in minor units.
        open: Money,
    },
    /// The sum of all accounts is not zero.
    Total {
        /// The sum, in minor units.
        sum: Money,
    },
}

/// A value that a newer version wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnknownValue {
    /// The status of a request, a withdrawal or a top-up.
    Status(EntityRef),
    /// The kind of an entry, or the kind of the entity that it refers to.
    Entry {
        wallet: UserId,
        /// The entry's number.
        seq: i64,
    },
    /// The account of a posting.
    Posting(OperationId),
    /// The posting rules of an operation.
    Rules(OperationId),
}

/// A mismatch between an entity and its records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// Its amounts contradict each other.
    Terms,
    /// An entry is missing: a hold, a settlement or a payee's share was not recorded.
    Lacks(EntryKind),
    /// An entry is superfluous: the entity was settled again, or without a decision.
    Extra {
        wallet: UserId,
        /// The entry's number.
        seq: i64,
    },
    /// An entry differs from the one that the rules derive from the entity.
    Entry {
        wallet: UserId,
        /// The entry's number.
        seq: i64,
    },
    /// The postings of an operation differ from those that the rules derive from the entity.
    Postings(OperationId),
    /// The record of an operation with entries is missing.
    NoRecord(OperationId),
    /// The entity differs from the record of an operation.
    Record(OperationId),
    /// The approvals of a withdrawal differ from those that its operations recorded.
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
                "entry {seq} of wallet {wallet}: the balances after it are not the previous balances plus its change"
            ),
            Self::Chain { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet}: its hash is wrong")
            }
            Self::Time { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet} is older than the previous entry")
            }
            Self::Balance { wallet } => {
                write!(f, "wallet {wallet}: its balance, time or head differs from its newest entry")
            }
            Self::Entity { reference, flaw } => {
                write!(f, "{} {}: {flaw}", reference.title(), reference.id())
            }
            Self::StrayEntry { wallet, seq, reference } => write!(
                f,
                "entry {seq} of wallet {wallet} refers to {} {}, which does not exist",
                reference.title(),
                reference.id()
            ),
            Self::OpenInSettledGig { request, gig } => {
                write!(f, "music request {request} is open, but its gig {gig} was settled")
            }
            Self::StrayPosting { operation, account } => write!(
                f,
                "a posting to {} belongs to operation {operation}, which has no entries",
                account.name()
            ),
            Self::Strays { entries, postings } => {
                write!(f, "{entries} entries and {postings} postings belong to no existing entity")
            }
            Self::Position { expected, found } => {
                write!(f, "an operation has position {found} where position {expected} should be")
            }
            Self::PositionGap { last, next } => {
                write!(f, "no operation has position {last}, before the gap up to position {next}")
            }
            Self::WithoutPosition { operation } => write!(f, "operation {operation} has no position"),
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
            Self::Terms => write!(f, "its amounts contradict each other"),
            Self::Lacks(kind) => write!(f, "its {} entry is missing", kind.name()),
            Self::Extra { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet} is superfluous in its state")
            }
            Self::Entry { wallet, seq } => {
                write!(f, "entry {seq} of wallet {wallet} does not match its state and amount")
            }
            Self::Postings(operation) => {
                write!(f, "the postings of operation {operation} do not match its state and amount")
            }
            Self::NoRecord(operation) => write!(f, "the record of operation {operation} is missing"),
            Self::Record(operation) => write!(f, "it differs from the record of operation {operation}"),
            Self::Approvals => write!(f, "its approvals differ from those that its operations recorded"),
        }
    }
}
