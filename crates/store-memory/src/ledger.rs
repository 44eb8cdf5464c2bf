//! The ledger: the reference semantics on the whole state.

use async_trait::async_trait;
use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::music_request::QueueSize;
use cuepoint_domain::operation::{
    Changes, CountedQueue, EndedSessions, Entity, KeyRecord, KeyScope, Plan, Verdict, apply,
};
use cuepoint_domain::ports::{Applied, ApplyError, Ledger, Unavailable};

use crate::{MemoryStore, State};

impl State {
    /// Stores the changes of an applied plan that the book does not contain.
    fn absorb(&mut self, changes: Changes) {
        self.gigs.add(&changes);
        for record in changes.operations() {
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
    fn queue_size(&self, CountedQueue { gig, at }: CountedQueue) -> QueueSize {
        let open = self.request_lists.open_in_gig(gig).filter(|(_, deadline)| *deadline > at);
        let mut size = QueueSize { made: self.gigs.made_in(gig), ..QueueSize::default() };
        for (id, _) in open {
            let counts_as_guest = self.book.get(id).is_some_and(|request| request.counts_as_guest);
            size.open = size.open.saturating_add(1);
            size.open_of_guests = size.open_of_guests.saturating_add(u64::from(counts_as_guest));
        }
        size
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
