//! The ledger: the reference semantics on the whole state.

use async_trait::async_trait;
use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::operation::{
    Changes, CountedQueue, EndedSessions, Entity, KeyRecord, KeyScope, Plan, QueueSize, Verdict, apply,
};
use cuepoint_domain::ports::{Applied, ApplyError, Ledger, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;

use crate::{MemoryStore, State};

impl State {
    /// Stores the changes of an applied plan that the book does not contain.
    fn absorb(&mut self, changes: Changes) {
        self.gigs.add(&changes);
        if let Some(record) = &changes.operation {
            self.add_operation(record);
        }
        if let Some(Entity::MusicRequest(request)) = &changes.opened {
            self.request_lists.add(request);
        }
        if let Some(Entity::MusicRequest(request)) = &changes.moved {
            self.request_lists.update(request);
        }
        for entry in changes.entries {
            self.entries.entry(entry.wallet).or_default().push(entry);
        }
        self.postings.extend(changes.postings);
        if let Some(EndedSessions { user, at }) = changes.ended_sessions {
            self.sessions.end_all(user, None, at);
        }
        if let Some(event) = changes.event {
            self.events.add(event);
        }
    }

    /// The size of the queue of a gig.
    fn queue_size(&self, CountedQueue { gig, with_guest_accounts, at }: CountedQueue) -> QueueSize {
        let open = || self.request_lists.open_in_gig(gig).filter(|(_, deadline)| *deadline > at);
        let is_of_guest_account = |(id, _): &(RequestId, Timestamp)| {
            let requester = self.book.get(*id).and_then(|request| self.book.get(request.requester));
            requester.is_some_and(User::is_guest_account)
        };
        let of_guest_accounts =
            if with_guest_accounts { open().filter(is_of_guest_account).count() } else { 0 };
        let [open, of_guest_accounts] =
            [open().count(), of_guest_accounts].map(|count| u64::try_from(count).unwrap_or(u64::MAX));
        QueueSize { open, of_guest_accounts }
    }
}

#[async_trait]
impl Ledger for MemoryStore {
    async fn apply(&self, plan: Plan) -> Result<Applied, ApplyError> {
        let mut state = self.lock()?;
        if let Some(queue) = plan.counted_queue() {
            let size = state.queue_size(queue);
            state.book.put_queue_size(queue.gig, size);
        }
        match apply(&mut state.book, &plan).map_err(ApplyError::Rejected)? {
            Verdict::Replayed(receipt) => Ok(Applied::Replayed(receipt)),
            Verdict::Fresh(receipt, changes) => {
                state.absorb(*changes);
                self.applied.send_modify(|applied| *applied = applied.saturating_add(1));
                Ok(Applied::Fresh(receipt))
            }
        }
    }

    async fn find_key(&self, scope: &KeyScope) -> Result<Option<KeyRecord>, Unavailable> {
        Ok(self.lock()?.book.keys.get(scope).cloned())
    }

    async fn entity(&self, reference: EntityRef) -> Result<Option<Entity>, Unavailable> {
        Ok(self.lock()?.book.entity(reference))
    }
}
