//! The operations in the order of their commits.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Position, PositionedOperation};
use cuepoint_domain::ports::{OperationLog, OperationPage, Unavailable};

use crate::operation_notes::position;
use crate::{MemoryStore, State};

impl State {
    /// The operation at a position.
    fn operation_at(&self, position: Position) -> Option<PositionedOperation> {
        let place = usize::try_from(position.get()).ok()?.checked_sub(1)?;
        let id = self.lists.positions.get(place)?;
        let noted = self.lists.operations.get(id)?;
        Some(PositionedOperation {
            position,
            kind: Some(noted.kind),
            at: noted.at,
            receipt: self.book.operations.get(id)?.clone(),
        })
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
        let newest = position(state.lists.positions.len());
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let positions: Vec<Position> = match concerning {
            None => (after.next().get()..=newest.get()).take(limit).filter_map(Position::new).collect(),
            Some(user) => {
                let all = state.lists.concerning.get(&user).map_or(&[][..], Vec::as_slice);
                let seen = all.partition_point(|position| *position <= after);
                all.iter().skip(seen).take(limit).copied().collect()
            }
        };
        let operations = positions.into_iter().filter_map(|position| state.operation_at(position)).collect();
        // Nothing outlives this process, so that no commit is ever lost.
        Ok(OperationPage { operations, newest, gap: None })
    }

    async fn announced_after(&self, seen: u64) -> u64 {
        // The sender lives as long as the store.
        self.applied.subscribe().wait_for(|applied| *applied > seen).await.map_or(seen, |applied| *applied)
    }

    async fn assign_positions(&self, _: u32) -> Result<u32, Unavailable> {
        Ok(0)
    }
}
