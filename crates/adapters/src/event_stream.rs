//! A stream of events for one reader: first the events of the feed after a position, then live events of the hub.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use cuepoint_domain::application::CommandError;
use cuepoint_domain::application::queries::{EventPageRequest, FeedRefusal};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::event::{Event, EventType, Feed};
use cuepoint_domain::operation::Position;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout_at};

use crate::event_hub::Subscription;
use crate::service::Service;

/// The interval of position messages on a stream without events, so that proxies keep its connection open.
const SILENT_FOR: Duration = Duration::from_secs(15);
/// Delay before re-reading a page without progress.
const READ_AGAIN_AFTER: Duration = Duration::from_millis(10);
/// The maximum number of live events in one batch.
const BATCH: usize = 64;
/// The number of events in one page, before the stream is live.
const PAGE: u32 = 250;

/// The state of a stream on its reader's side.
pub struct EventStream {
    service: Arc<Service>,
    principal: Principal,
    feed: Feed,
    types: Option<BTreeSet<EventType>>,
    /// The last position that the reader has received.
    after: Position,
    /// The start of the hub's delivery; `None` before the stream is live.
    live_after: Option<Position>,
    subscription: Subscription,
}

/// The next item of a stream.
#[derive(Debug)]
pub enum Received {
    /// At least one event, in their order.
    Events(Vec<Arc<Event>>),
    /// No events for a while: the stream is complete up to this position.
    CompleteTo(Position),
}

impl EventStream {
    /// The stream of a reader after this position, with events of these types only, or of all types.
    #[must_use]
    pub const fn new(
        service: Arc<Service>,
        principal: Principal,
        feed: Feed,
        types: Option<BTreeSet<EventType>>,
        after: Position,
        subscription: Subscription,
    ) -> Self {
        Self { service, principal, feed, types, after, live_after: None, subscription }
    }

    /// The feed of the reader.
    #[must_use]
    pub const fn feed(&self) -> Feed {
        self.feed
    }

    /// Waits for the next item; `None` at the end of the stream.
    ///
    /// # Errors
    /// When a page of the feed cannot be read.
    pub async fn next(&mut self) -> Result<Option<Received>, CommandError<FeedRefusal>> {
        let silent_until = Instant::now().checked_add(SILENT_FOR).unwrap_or_else(Instant::now);
        while self.live_after.is_none_or(|live| self.after < live) {
            // A store can answer without waiting, and other calls of this thread have to proceed.
            yield_now().await;
            if self.subscription.is_revoked() {
                return Ok(None);
            }
            let before = self.after;
            let events = self.read().await?;
            if !events.is_empty() {
                return Ok(Some(Received::Events(events)));
            }
            if self.after == before {
                sleep(READ_AGAIN_AFTER).await;
            }
        }
        loop {
            let mut events = Vec::new();
            match timeout_at(silent_until, self.subscription.receive(&mut events, BATCH)).await {
                Ok(0) => return Ok(None),
                Ok(_) => {
                    events.retain(|event| self.is_wanted(event));
                    if !events.is_empty() {
                        return Ok(Some(Received::Events(events)));
                    }
                }
                Err(_) => {
                    self.after = self.after.max(self.subscription.complete_to().unwrap_or_default());
                    return Ok(Some(Received::CompleteTo(self.after)));
                }
            }
        }
    }

    /// Reads the next page of the feed. After the last page, the hub delivers the later events.
    ///
    /// # Errors
    /// When the page cannot be read.
    pub async fn read(&mut self) -> Result<Vec<Arc<Event>>, CommandError<FeedRefusal>> {
        let asked = EventPageRequest { after: Some(self.after), limit: PAGE, types: None };
        let page = self.service.use_cases.events.page(&self.principal, self.feed, &asked).await?;
        let events = page.events.into_iter().filter(|event| self.is_wanted(event)).map(Arc::new).collect();
        self.after = page.next;
        if page.next >= page.head && self.live_after.is_none() {
            self.live_after = Some(self.subscription.follow(page.next));
        }
        Ok(events)
    }

    /// Whether an event is new to the reader and of the requested types. The stream then has the position of the event,
    /// so that it never sends an earlier position.
    fn is_wanted(&mut self, event: &Event) -> bool {
        let is_new = event.position > self.after;
        self.after = self.after.max(event.position);
        is_new && event.is_one_of(self.types.as_ref())
    }
}
