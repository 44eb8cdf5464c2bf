//! The ledger: money moves only as [`Plan`]s, each applied atomically by the pure function [`apply`].
//!
//! A wallet has three balances: *available* (can be spent), *held* (until a request or withdrawal ends) and
//! *owed* (a receivable: the advance of a DJ's refund or the platform's loss from a charge-back, repaid first
//! from later income). The invariant over all accounts: Σ available + held − owed + platform + outside = 0.

mod account;
pub mod adjustment;
mod apply;
mod audit;
mod book;
mod chain_hash;
mod entity;
mod entry;
mod entry_kind;
pub mod feature_level;
mod key;
mod key_record;
mod lock_set;
mod operation_metadata;
mod plan;
pub mod plans;
mod position;
mod posting;
mod posting_rules;
mod receipt;
mod verdict;

pub use account::{Account, Balance, OutsideAccount, PlatformAccount, Transfer, TransferKind, Wallet};
pub use apply::apply;
pub use audit::{Auditor, Finding, Flaw, Progress, Summary, Trace, UnknownValue};
pub use book::{Book, Changes, EndedSessions, OperationRecord};
pub use chain_hash::ChainHash;
pub use entity::{Entity, EntityKind, EntityRef};
pub use entry::{Entry, Posting, PostingAccount};
pub use entry_kind::EntryKind;
pub use key::{Fingerprint, IdempotencyKey, KeyScope};
pub use key_record::{KeyRecord, KeyReused};
pub use lock_set::LockSet;
pub use operation_metadata::{Actor, OperationMetadata};
pub use plan::{Guard, Plan, PlanKind, Step};
pub use position::{Position, PositionGap, PositionedOperation};
pub use posting_rules::PostingRules;
pub use receipt::{Outcome, Receipt, StoredReceipt};
pub use verdict::{Rejection, Verdict};
