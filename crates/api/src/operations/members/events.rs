//! Feeds of events.

use std::collections::BTreeSet;

use cuepoint_domain::application::queries::{EventPageRequest, EventQueries};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::event::EventType;
use cuepoint_domain::event::Feed;
use cuepoint_domain::operation::Position;

use crate::call::ApiCall;
use crate::declaration::{ok, operations};
use crate::endpoint::authenticated;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use cuepoint_views::event::{EventPageView, OperatorEventPageView};

operations! {
    /// List the events about the caller
    ///
    /// Oldest first: what happened to the requests that the caller made or received, and to their top-ups,
    /// withdrawals and adjustments. `next` is the `after` of the following call. A page can have fewer events
    /// than `limit`, or none, while more follow: the feed is read completely once `has_more` is false.
    ///
    /// Each event is listed once, in one order for all callers. `data` shows the object as it was right after
    /// the event. Clients have to ignore types that they do not know.
    GET "/api/v1/events" "listEvents" {
        tag: Events,
        run: authenticated(Action::ReadEvents, own),
        answers: ok::<EventPageView<'_>>("A page of events, oldest first."),
        filters: EventFilters::DECLARED,
        fails: &[Code::ValidationFailed, Code::EventsExpired, Code::EventsLost],
    }

    /// List all events
    ///
    /// As `listEvents`, with the events about all users. `data` shows top-ups and withdrawals as staff see
    /// them.
    GET "/api/v1/operator/events" "listOperatorEvents" {
        tag: OperatorAudit,
        run: authenticated(Action::ReadAllEvents, all),
        answers: ok::<OperatorEventPageView<'_>>("A page of events, oldest first."),
        filters: EventFilters::DECLARED,
        fails: &[Code::ValidationFailed, Code::EventsExpired, Code::EventsLost],
    }
}

filters! {
    /// The part of a feed.
    struct EventFilters {
        /// Only events after this position; 0 is before the first one. By default, the page begins with the
        /// oldest event that is shown.
        after: Position = filters::POSITION,
        /// The maximum number of events; 100 by default.
        limit: u32 = filters::EVENT_LIMIT,
        /// Only events of these types, separated by commas.
        types: BTreeSet<EventType> = filters::EVENT_TYPES,
    }
}

/// The page that a call asks for.
fn asked(call: &ApiCall) -> Result<EventPageRequest, ApiError> {
    let EventFilters { after, limit, types } = call.filters()?;
    Ok(EventPageRequest { after, limit: limit.unwrap_or(EventQueries::PAGE_DEFAULT), types })
}

async fn own(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let page = call.use_cases().events.page(&principal, Feed::Own, &asked(&call)?).await?;
    ApiResponse::new("Events.", EventPageView::new(&page, call.currency()))
}

async fn all(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let page = call.use_cases().events.page(&principal, Feed::All, &asked(&call)?).await?;
    ApiResponse::new("Events.", OperatorEventPageView::new(&page, call.currency()))
}
