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
    /// List the caller's events
    ///
    /// What happened to the requests that the caller made or received, and to their top-ups, withdrawals and
    /// adjustments. The oldest event comes first. All events are in one order. A client that asks for the events
    /// after the last `next` misses none, no matter how many servers share the deployment.
    ///
    /// - A top-up that is confirmed immediately has only `topup.created`.
    /// - A withdrawal that is approved immediately has no `withdrawal.approved`.
    /// - A withdrawal has one `withdrawal.processing`, no matter how often it is sent.
    ///
    /// **Lost and expired events.** A restore from a backup loses the newest events, and so can a failover of the
    /// database. Their positions are never assigned again: the next position is the time in microseconds since
    /// 1970. A lost position, or one greater than `head`, returns 410 `events_lost`, and `continue_after` is the
    /// newest position before the loss. If `events.shown_for_days` is set, an `after` before the oldest shown event
    /// returns 410 `events_expired`, and `oldest` is the position of that event.
    ///
    /// One rule is enough for clients: after 410, or if `head` is lower than your position, reload your state and
    /// continue at `head`.
    GET "/api/v1/events" "listEvents" {
        tag: Events,
        run: authenticated(Action::ReadEvents, own),
        answers: ok::<EventPageView<'_>>("A page of events, oldest first."),
        filters: EventFilters::DECLARED,
        fails: &[Code::ValidationFailed, Code::EventsExpired, Code::EventsLost],
    }

    /// List all events
    ///
    /// For operators and auditors. As `listEvents`, with the events of all users, and with top-ups and withdrawals
    /// as staff see them. If a user is erased, their pending top-ups fail within minutes. Only this list, its
    /// stream and webhook endpoints for all events show these `topup.failed`.
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
        /// Only events after this position. 0 is before the first event. By default, the page begins with the oldest
        /// event that is shown.
        after: Position = filters::POSITION,
        /// Maximum number of events; 100 by default.
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
