//! The operations in the order of their commits.

use async_trait::async_trait;
use cuepoint_domain::event::Audience;
use cuepoint_domain::ids::{OperationId, UserId};
use cuepoint_domain::operation::{Actor, OperationRecord, PlanKind, Position, PositionedOperation};
use cuepoint_domain::ports::{OperationLog, OperationPage, Unavailable};
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;

use crate::lists::length;
use crate::{MemoryStore, State};

/// An operation without its receipt, which is in the book.
#[derive(Clone, Debug)]
pub(crate) struct LoggedOperation {
    pub(crate) id: OperationId,
    pub(crate) kind: PlanKind,
    pub(crate) actor: Actor,
    pub(crate) reason: Option<Line>,
    pub(crate) at: Timestamp,
    audience: Audience,
}

impl LoggedOperation {
    fn of(record: &OperationRecord) -> Self {
        let OperationRecord { id, kind, actor, at, ref reason, .. } = *record;
        Self { id, kind, actor, reason: reason.clone(), at, audience: Audience::of_record(record) }
    }

    fn concerns(&self, user: UserId) -> bool {
        [self.audience.owner, self.audience.dj].contains(&Some(user))
    }
}

impl State {
    /// Adds an operation after the newest one.
    pub(crate) fn add_operation(&mut self, record: &OperationRecord) {
        let logged = LoggedOperation::of(record);
        let Audience { owner, dj } = logged.audience;
        self.log.push(logged);
        let newest = self.newest_position();
        self.newest_about.extend(owner.into_iter().chain(dj).map(|user| (user, newest)));
    }

    /// The newest position of all operations, or of those with an event that concerns one user; 0 if there is none.
    pub(crate) fn newest_of(&self, concerning: Option<UserId>) -> Position {
        match concerning {
            Some(user) => self.newest_about.get(&user).copied().unwrap_or_default(),
            None => self.newest_position(),
        }
    }

    /// The newest position.
    pub(crate) fn newest_position(&self) -> Position {
        i64::try_from(self.log.len()).ok().and_then(Position::new).unwrap_or_default()
    }

    /// The operations after a position: all of them, or those with an event that concerns one user.
    pub(crate) fn operations_after(
        &self,
        after: Position,
        concerning: Option<UserId>,
    ) -> impl Iterator<Item = (&LoggedOperation, Position)> {
        let seen = usize::try_from(after.get()).unwrap_or(usize::MAX);
        // A step beyond the last number would overflow, so the operations come first.
        let later = self.log.iter().skip(seen).zip((after.next().get()..).filter_map(Position::new));
        later.filter(move |(logged, _)| concerning.is_none_or(|user| logged.concerns(user)))
    }
}

#[async_trait]
impl OperationLog for MemoryStore {
    async fn operations(
        &self,
        concerning: Option<UserId>,
        after: Position,
        limit: u32,
    ) -> Result<OperationPage, Unavailable> {
        let state = self.lock()?;
        let operation = |(logged, position): (&LoggedOperation, Position)| {
            let receipt = state.book.operations.get(&logged.id)?.clone();
            Some(PositionedOperation { position, kind: Some(logged.kind), at: logged.at, receipt })
        };
        let later = state.operations_after(after, concerning).take(length(limit));
        // Nothing outlives this process, so that no commit is ever lost.
        Ok(OperationPage {
            operations: later.filter_map(operation).collect(),
            newest: state.newest_position(),
            gap: None,
        })
    }

    async fn announced_after(&self, seen: u64) -> u64 {
        // The sender lives as long as the store.
        self.applied.subscribe().wait_for(|applied| *applied > seen).await.map_or(seen, |applied| *applied)
    }

    async fn assign_positions(&self, _: u32) -> Result<u32, Unavailable> {
        Ok(0)
    }
}
