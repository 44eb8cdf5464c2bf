//! The registration of a stream of events.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuepoint_domain::event::Event;
use cuepoint_domain::operation::Position;
use tokio::sync::mpsc;

use super::{Hub, StreamKey};

/// The registration of a stream at the hub, until it is dropped.
pub struct Subscription {
    pub(super) hub: Arc<Hub>,
    pub(super) key: StreamKey,
    pub(super) events: mpsc::Receiver<Arc<Event>>,
    pub(super) revoked: Arc<AtomicBool>,
}

impl Subscription {
    /// Makes the stream live, and returns its start: it receives all later events. The stream reads earlier
    /// events from the feed, and skips duplicates.
    pub fn follow(&self, after: Position) -> Position {
        let mut streams = self.hub.lock();
        if let Some(stream) = streams.open.get_mut(&self.key)
            && !mem::replace(&mut stream.follows, true)
            && streams.begin_to_follow(after)
        {
            self.hub.followed.notify_one();
        }
        streams.position
    }

    /// The number of the stream on this server.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.key.0
    }

    /// Waits for the next events, at most `limit`; none if the stream has ended.
    pub async fn receive(&mut self, into: &mut Vec<Arc<Event>>, limit: usize) -> usize {
        let received = self.events.recv_many(into, limit).await;
        if self.is_revoked() { 0 } else { received }
    }

    /// The position that the stream has reached; `None` while events are buffered for it.
    #[must_use]
    pub fn complete_to(&self) -> Option<Position> {
        let streams = self.hub.lock();
        // Delivered events and the position change together, under the lock.
        (self.events.is_empty() && !self.events.is_closed()).then_some(streams.position)
    }

    /// Whether the stream has ended and must not deliver more events.
    #[must_use]
    pub fn is_revoked(&self) -> bool {
        self.revoked.load(Ordering::Acquire)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut streams = self.hub.lock();
        drop((streams.remove(self.key), streams.ended.remove(&self.key)));
    }
}
