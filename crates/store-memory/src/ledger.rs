//! The ledger: the reference semantics on the whole state.

use async_trait::async_trait;
use cuepoint_domain::operation::{EndedSessions, KeyRecord, KeyScope, Plan, Verdict, apply};
use cuepoint_domain::ports::{Applied, ApplyError, Ledger, Unavailable};

use crate::{MemoryStore, State};

#[async_trait]
impl Ledger for MemoryStore {
    async fn apply(&self, plan: Plan) -> Result<Applied, ApplyError> {
        let State { book, lists, events, sessions, .. } = &mut *self.lock()?;
        match apply(book, &plan).map_err(ApplyError::Rejected)? {
            Verdict::Replayed(receipt) => Ok(Applied::Replayed(receipt)),
            Verdict::Fresh(receipt, changes) => {
                lists.absorb(plan.step(), &changes);
                if let Some(EndedSessions { user, at }) = changes.ended_sessions {
                    sessions.end_all(user, None, at);
                }
                if let Some(event) = changes.event {
                    events.add(event);
                }
                self.applied.send_modify(|applied| *applied = applied.saturating_add(1));
                Ok(Applied::Fresh(receipt))
            }
        }
    }

    async fn find_key(&self, scope: &KeyScope) -> Result<Option<KeyRecord>, Unavailable> {
        Ok(self.lock()?.book.keys.get(scope).cloned())
    }
}
