//! Operations: every change of money or of an entity is a [`Plan`], applied atomically by the pure function
//! [`apply`].
//!
//! - [`plans`] makes each [`Plan`] by the rules of its subject; [`Step`], [`Tally`] and [`Guard`] are its parts;
//! - [`Entity`]: the object of a plan, generated from [`crate::entities`];
//! - [`OperationMetadata`]: the id, actor, time and reason of an operation, with the client's [`IdempotencyKey`];
//! - [`LockSet`]: the rows that a plan locks; [`Book`]: those rows while plans are applied to them, each entity on
//!   its shelf;
//! - [`apply`] with `expectations`, `judge`, `displace`, `guard_check`, and `posting`, which posts a plan's transfers to wallets;
//!   [`Verdict`], [`Rejection`]: the result;
//! - [`Receipt`], [`KeyRecord`]: the answer to a command, and its key, which repeats the answer;
//! - [`Position`]: the order of operations;
//! - [`feature_level`]: the values that may be written while an upgrade is not finalized;
//! - `security_event`: the event of the security log that an operator's plan records.

mod apply;
mod book;
mod displace;
mod entity;
mod expectations;
pub mod feature_level;
mod guard_check;
mod judge;
mod key;
mod key_record;
mod lock_set;
mod metadata;
mod plan;
pub mod plans;
mod position;
pub(crate) mod posting;
mod receipt;
mod security_event;
mod shelves;
mod verdict;

pub use apply::apply;
pub use book::{Book, Changes, EndedSessions, OperationRecord};
pub use entity::Entity;
pub use key::{Fingerprint, IdempotencyKey, KeyScope};
pub use key_record::{KeyRecord, KeyReused};
pub use lock_set::{CountedQueue, LockSet, LockedRows};
pub use metadata::{Actor, OperationMetadata};
pub use plan::{Addition, Displacement, Guard, Plan, PlanKind, Step, Tally, UserChange, WithdrawalJudgement};
pub use position::{Position, PositionGap, PositionedOperation};
pub use receipt::{Outcome, Receipt, StoredReceipt};
pub use shelves::{Shelves, Stored, StoredId};
pub use verdict::{Rejection, Verdict};
