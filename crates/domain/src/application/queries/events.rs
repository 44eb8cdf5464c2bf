//! Events, for the involved users and for staff.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;
use time::Duration;

use crate::application::environment::Environment;
use crate::application::error::CommandError;
use crate::application::executor::Authorized;
use crate::authorization::{Denied, Principal, permission};
use crate::event::{Event, EventType, Feed};
use crate::ids::UserId;
use crate::operation::{Position, PositionedOperation};
use crate::ports::{OperationPage, Unavailable};
use crate::timestamp::Timestamp;

/// The validity of the cached oldest position.
const OLDEST_KNOWN_FOR: Duration = Duration::minutes(1);

/// The user who is involved in the events of a feed; `None` for events about all users.
fn concerning(feed: Feed, principal: &Principal) -> Result<Option<UserId>, Denied> {
    match feed {
        Feed::Own => Ok(Some(*Authorized::<_, permission::ReadEvents>::own(principal)?)),
        Feed::All => Authorized::<(), permission::ReadAllEvents>::all(principal).map(|_| None),
    }
}

/// The requested page of a feed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventPageRequest {
    /// The position after which the page begins; `None` for the oldest event.
    pub after: Option<Position>,
    /// The maximum number of events.
    pub limit: u32,
    /// The types of the events; `None` for all.
    pub types: Option<BTreeSet<EventType>>,
}

/// A page of a feed.
#[derive(Clone, PartialEq, Debug)]
pub struct EventPage {
    /// The events, in their order.
    pub events: Vec<Event>,
    /// The position after which the next page begins; the newest one if the page is the last.
    pub next: Position,
    /// The newest position.
    pub head: Position,
}

/// Why a page of a feed is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum FeedRefusal {
    /// Events after the given position are no longer shown.
    #[error("events before {oldest} are no longer shown")]
    Expired {
        /// The oldest position that is shown.
        oldest: Position,
    },
    /// The given position belongs to a commit that was lost.
    #[error("the events up to the given position were lost, but for those up to {continue_after}")]
    Lost {
        /// The position after which a reader misses no event that is there.
        continue_after: Position,
    },
}

/// The events that follow a position, of all users.
#[derive(Clone, PartialEq, Debug)]
pub struct EventTail {
    /// The events, in their order.
    pub events: Vec<Event>,
    /// The position up to which they are complete.
    pub complete_to: Position,
    pub newest: Position,
    /// Whether the position that the events follow belongs to a commit that was lost.
    pub is_lost: bool,
}

/// The oldest shown position, and when it was determined.
type Oldest = (Position, Timestamp);

/// Reads feeds of events.
#[derive(Clone)]
pub struct EventQueries {
    env: Arc<Environment>,
    oldest: Arc<Mutex<Option<Oldest>>>,
}

impl EventQueries {
    /// The largest number of events in a page.
    pub const PAGE_MAX: u32 = 1_000;
    /// The number of events in a page if the caller names none.
    pub const PAGE_DEFAULT: u32 = 100;

    pub(in crate::application) fn new(env: Arc<Environment>) -> Self {
        Self { env, oldest: Arc::default() }
    }

    /// A page of a feed.
    ///
    /// # Errors
    /// [`FeedRefusal`] and [`Failure`](crate::application::error::Failure).
    pub async fn page(
        &self,
        principal: &Principal,
        feed: Feed,
        asked: &EventPageRequest,
    ) -> Result<EventPage, CommandError<FeedRefusal>> {
        let EventPageRequest { after, limit, types } = asked;
        let concerning = concerning(feed, principal)?;
        let oldest = self.oldest().await?;
        let from = after.unwrap_or(oldest.previous());
        if from.next() < oldest {
            return Err(CommandError::Refused(FeedRefusal::Expired { oldest }));
        }
        let page = self.env.operations.operations(concerning, from, *limit).await?;
        if let Some(continue_after) = after.and_then(|seen| page.lost_after(seen)) {
            return Err(CommandError::Refused(FeedRefusal::Lost { continue_after }));
        }
        let OperationPage { operations, newest, .. } = page;
        let is_full = u32::try_from(operations.len()).is_ok_and(|length| length >= *limit);
        let last = operations.last().map(|operation| operation.position);
        let wanted = |event: &Event| event.is_one_of(types.as_ref());
        Ok(EventPage {
            events: operations.into_iter().filter_map(Event::of).filter(wanted).collect(),
            next: last.filter(|_| is_full).unwrap_or(newest),
            head: newest,
        })
    }

    /// The newest position.
    pub async fn newest(&self) -> Result<Position, Unavailable> {
        Ok(self.env.operations.operations(None, Position::START, 0).await?.newest)
    }

    /// The events after a position, of at most [`EventQueries::PAGE_MAX`] operations, for a reader that
    /// distributes them to the involved users.
    pub async fn tail(&self, after: Position) -> Result<EventTail, Unavailable> {
        let page = self.env.operations.operations(None, after, Self::PAGE_MAX).await?;
        let is_lost = page.lost_after(after).is_some();
        let OperationPage { operations, newest, .. } = page;
        let complete_to = operations.last().map_or(after, |operation| operation.position);
        let events = operations.into_iter().filter_map(Event::of).collect();
        Ok(EventTail { events, complete_to, newest, is_lost })
    }

    /// Waits for a commit that was not announced to this reader before; see
    /// [`OperationLog::announced_after`](crate::ports::OperationLog::announced_after).
    pub async fn announced_after(&self, seen: u64) -> u64 {
        self.env.operations.announced_after(seen).await
    }

    /// The position of the oldest operation within the retention of events.
    async fn oldest(&self) -> Result<Position, Unavailable> {
        let Some(shown_for) = self.env.terms.events_shown_for else { return Ok(Position::START.next()) };
        let now = self.env.now();
        let known = *self.oldest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((oldest, at)) = known
            && now.since(at) < OLDEST_KNOWN_FOR
        {
            return Ok(oldest);
        }
        let before = known.map(|(oldest, _)| oldest);
        if let Some(before) = before {
            // Concurrent calls use the cached position, and so does this one after a failure.
            self.remember((before, now));
        }
        let from = before.unwrap_or(Position::START.next());
        let found = self.first_since(now.minus(shown_for), from).await;
        if let Ok(oldest) = found {
            self.remember((oldest, now));
        }
        found.or_else(|unavailable| before.ok_or(unavailable))
    }

    fn remember(&self, oldest: Oldest) {
        *self.oldest.lock().unwrap_or_else(PoisonError::into_inner) = Some(oldest);
    }

    /// The first position, not before `from`, whose operation is not older than `since`, by bisection: times
    /// of operations ascend with their positions, but for the differences of the servers' clocks.
    async fn first_since(&self, since: Timestamp, from: Position) -> Result<Position, Unavailable> {
        let mut to = self.newest().await?.next();
        // The newest position is an earlier one if commits were lost.
        let mut from = from.min(to);
        while from < to {
            let middle = from.midpoint(to);
            let page = self.env.operations.operations(None, middle.previous(), 1).await?;
            match page.operations.first() {
                Some(PositionedOperation { at, position, .. }) if *at < since => from = position.next(),
                _ => to = middle,
            }
        }
        Ok(from)
    }
}
