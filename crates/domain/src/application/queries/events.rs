//! Events, as the users whom they concern and staff see them.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::application::{Authorized, Environment, Failure};
use crate::authorization::{Principal, permission};
use crate::event::{Event, EventType};
use crate::ids::UserId;
use crate::ledger::Position;
use crate::ports::OperationPage;

/// The requested page of a feed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventPageRequest {
    /// The position after which the page begins.
    pub after: Position,
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

/// Reads feeds of events.
#[derive(Clone)]
pub struct EventQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl EventQueries {
    /// The largest number of events in a page.
    pub const PAGE_MAX: u32 = 1_000;
    /// The number of events in a page if the caller names none.
    pub const PAGE_DEFAULT: u32 = 100;

    /// A page of the events that concern the principal.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn own(&self, principal: &Principal, asked: &EventPageRequest) -> Result<EventPage, Failure> {
        let user = Authorized::<_, permission::ReadEvents>::own(principal)?;
        self.page(Some(*user), asked).await
    }

    /// A page of all events.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn all(&self, principal: &Principal, asked: &EventPageRequest) -> Result<EventPage, Failure> {
        Authorized::<(), permission::ReadAllEvents>::all(principal)?;
        self.page(None, asked).await
    }

    async fn page(&self, concerning: Option<UserId>, asked: &EventPageRequest) -> Result<EventPage, Failure> {
        let EventPageRequest { after, limit, types } = asked;
        let OperationPage { operations, newest } =
            self.env.operations.operations(concerning, *after, *limit).await?;
        let is_full = u32::try_from(operations.len()).is_ok_and(|length| length >= *limit);
        let last = operations.last().map(|operation| operation.position);
        let wanted = |event: &Event| types.as_ref().is_none_or(|types| types.contains(&event.event_type));
        Ok(EventPage {
            events: operations.into_iter().filter_map(Event::of).filter(wanted).collect(),
            next: last.filter(|_| is_full).unwrap_or(newest),
            head: newest,
        })
    }
}
