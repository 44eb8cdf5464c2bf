//! The ledger: money moves only as [`Plan`]s, each applied whole or not at all by the pure function [`apply`].
//!
//! A wallet has three balances: *available* (can be spent), *held* (waits for a request or withdrawal to end) and
//! *owed* (a receivable: what a refund advanced for a DJ or a charge-back took from the house, paid back from later
//! income first). Over all accounts
//! Σ available + held − owed + platform + outside = 0, always.

mod account;
mod apply;
mod audit;
mod book;
mod entry;
mod key;
mod plan;
mod posting;
mod receipt;

pub use account::{Account, Balance, OutsideAccount, PlatformAccount, Transfer, TransferKind, Wallet};
pub use apply::{Rejection, Row, Verdict, apply};
pub use audit::{Auditor, Finding, Flaw, Progress, Summary, Thing, Trace, Unknown};
pub use book::{Book, Changes, EndedSessions, OperationRecord};
pub use entry::{ChainHash, Entry, EntryKind, Posting, PostingAccount, Reference};
pub use key::{Fingerprint, IdempotencyKey, KeyRecord, KeyScope};
pub use plan::{Actor, Guard, Names, Origin, Plan, Step, Subject};
pub use posting::PostingRules;
pub use receipt::{Outcome, Receipt, StoredReceipt};
