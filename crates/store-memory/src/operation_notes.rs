//! The operation metadata shown in exports, and the positions of operations.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Actor, OperationRecord, PlanKind, Position, StoredReceipt};
use cuepoint_domain::privacy::personal_data::OperationNote;
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;

/// The stored metadata of an operation.
#[derive(Clone, Debug)]
pub(crate) struct NotedOperation {
    pub(crate) kind: PlanKind,
    pub(crate) actor: Actor,
    pub(crate) reason: Option<Line>,
    pub(crate) at: Timestamp,
}

impl NotedOperation {
    /// The metadata of this operation.
    pub(crate) fn of(record: &OperationRecord) -> Self {
        Self { kind: record.kind, actor: record.actor, reason: record.reason.clone(), at: record.at }
    }
}

/// The user whom an operation is about, if it is shown to them.
pub(crate) fn person(record: &OperationRecord) -> Option<UserId> {
    OperationNote::person(&StoredReceipt::Whole(record.receipt.clone()), record.reason.as_ref())
}

/// The position of the last of this many operations.
pub(crate) fn position(operations: usize) -> Position {
    i64::try_from(operations).ok().and_then(Position::new).unwrap_or_default()
}
