//! Streams of events: what a feed shows, as it happens.

use std::collections::BTreeSet;
use std::future::ready;
use std::sync::Arc;

use actix_web::web::Bytes;
use cuepoint_domain::application::CommandError;
use cuepoint_domain::application::queries::{EventPageRequest, FeedRefusal};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::event::{Event, EventType, Feed};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Position;
use futures_util::stream::{self, StreamExt as _};
use thiserror::Error;

use crate::call::ApiCall;
use crate::declaration::{event_stream, operations};
use crate::endpoint::authenticated;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use crate::wire::server_sent_events::{self, retry_after};
use cuepoint_adapters::event_hub::{Authority, Full};
use cuepoint_adapters::event_stream::{EventStream, Received};
use cuepoint_views::event::{EventView, FeedEventView, OperatorEventView};

/// The `Retry-After` of a refused stream, in seconds.
const FULL_FOR_SECONDS: u32 = 5;

operations! {
    /// Stream the caller's events
    ///
    /// The events of `listEvents` as they happen, as server-sent events: `id` is the position, `event` the type,
    /// and `data` the event on one line. The access token is sent in the header `Authorization`. Browsers have to
    /// use `fetch`, because `EventSource` cannot send this header.
    ///
    /// The stream continues after the header `Last-Event-ID`, or after the parameter `after`, or begins with the
    /// next event. It starts with an `id` without an event, its beginning, and with `retry`, the delay before a
    /// reconnection: 2 to 4 seconds. After 15 seconds without an event for the client, the stream sends a comment
    /// with the newest `id`. Store it. A client that receives nothing for longer should reconnect. A client that
    /// resumes after the last `id` gets every event exactly once, also from another server.
    ///
    /// A stream ends:
    ///
    /// - 30 seconds after its access token expires, or with a personal access token after at most the lifetime of an
    ///   access token;
    /// - within two seconds after the session ends, the user is suspended, or the required role is withdrawn;
    /// - when the client falls 256 events behind, which are still sent;
    /// - within four seconds after the client closes its connection or its sending side, or sends more than 64 KiB;
    /// - when the server stops, or cannot read events for ten seconds;
    /// - when a failover lost events that the stream has sent. A reconnection then returns 410 `events_lost`.
    ///
    /// A malformed `Last-Event-ID` returns 400 `bad_request`. A lost or expired position returns 410 as in
    /// `listEvents`, and so does a position beyond the newest one. A seventh stream of a user at a server returns
    /// 429 `too_many_streams`. Beyond `events.max_streams` streams, a server returns 503 `unavailable`. It does so for a
    /// guest account, too, beyond 1500 streams of guest accounts and boards at its client address. All these answers
    /// have `Retry-After`.
    GET "/api/v1/events/stream" "streamEvents" {
        tag: Events,
        run: authenticated(Action::ReadEvents, own),
        answers: event_stream::<EventView<'_>>("Server-sent events, each with an `Event` as `data`."),
        filters: StreamFilters::DECLARED,
        fails: &[
            Code::ValidationFailed, Code::EventsExpired, Code::EventsLost, Code::TooManyStreams,
        ],
    }

    /// Stream all events
    ///
    /// For operators and auditors. As `streamEvents`, with the events of `listOperatorEvents`.
    GET "/api/v1/operator/events/stream" "streamOperatorEvents" {
        tag: OperatorAudit,
        run: authenticated(Action::ReadAllEvents, all),
        answers: event_stream::<OperatorEventView<'_>>("Server-sent events, each with an `OperatorEvent` as `data`."),
        filters: StreamFilters::DECLARED,
        fails: &[
            Code::ValidationFailed, Code::EventsExpired, Code::EventsLost, Code::TooManyStreams,
        ],
    }
}

filters! {
    /// The part of a stream.
    struct StreamFilters {
        /// Only events after this position. The header `Last-Event-ID` takes precedence.
        after: Position = filters::POSITION,
        /// Only events of these types, separated by commas.
        types: BTreeSet<EventType> = filters::EVENT_TYPES,
    }
}

async fn own(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    open(call, principal, Feed::Own).await
}

async fn all(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    open(call, principal, Feed::All).await
}

/// Opens a stream and reads its first page, so that a failure is still an answer.
async fn open(call: ApiCall, principal: Principal, feed: Feed) -> Result<ApiResponse, ApiError> {
    let StreamFilters { after, types } = call.filters()?;
    let after = call.last_event_id()?.or(after);
    let authority = Authority {
        principal,
        feed,
        epoch: call.api.service.authentication.revocations.epoch(),
        expires: call.authorized_until()?,
    };
    if call.is_head() {
        return describe(&call, &principal, feed, after).await;
    }
    let (hub, network) = (&call.api.service.event_hub, call.client().network());
    let subscription = hub.open(authority, network, call.connection()).map_err(refusal)?;
    let after = match after {
        Some(after) => after,
        None => call.use_cases().events.newest().await?,
    };
    let begin = server_sent_events::begin(after.get(), retry_after(subscription.number()));
    let service = Arc::clone(&call.api.service);
    let mut stream = EventStream::new(service, principal, feed, types, after, subscription);
    let api = call.api;
    let first = show(feed, &stream.read().await?, api.currency()).map_err(ApiError::internal)?;
    // An empty chunk would end the body.
    let begin = stream::iter([begin, first]).filter(|chunk| ready(!chunk.is_empty())).map(Ok);
    let rest = stream::unfold(Some(stream), move |stream| {
        let api = Arc::clone(&api);
        async move {
            let mut stream = stream?;
            match next(&mut stream, api.currency()).await {
                Ok(chunk) => chunk.map(|chunk| (Ok(chunk), Some(stream))),
                Err(error) => {
                    tracing::warn!(%error, "an event stream was interrupted");
                    Some((Err(error.into()), None))
                }
            }
        }
    });
    Ok(ApiResponse::event_stream(begin.chain(rest).boxed_local()))
}

/// The answer to HEAD: the same checks as for a stream, and none is opened.
async fn describe(
    call: &ApiCall,
    principal: &Principal,
    feed: Feed,
    after: Option<Position>,
) -> Result<ApiResponse, ApiError> {
    call.api.service.event_hub.ensure_room(principal, call.client().network()).map_err(refusal)?;
    if after.is_some() {
        let asked = EventPageRequest { after, limit: 1, types: None };
        call.use_cases().events.page(principal, feed, &asked).await?;
    }
    Ok(ApiResponse::event_stream(stream::empty().boxed_local()))
}

fn refusal(full: Full) -> ApiError {
    match full {
        Full::User => ApiError::after(Code::TooManyStreams, FULL_FOR_SECONDS),
        Full::Address => ApiError::not_now(
            "This client address has too many streams of boards and guests.",
            FULL_FOR_SECONDS,
        ),
        Full::Server => ApiError::not_now("This server cannot open more event streams.", FULL_FOR_SECONDS),
    }
}

/// Why a stream breaks off.
#[derive(Debug, Error)]
enum StreamError {
    /// Its next page cannot be read.
    #[error(transparent)]
    Read(#[from] CommandError<FeedRefusal>),
    /// An event cannot be serialized.
    #[error(transparent)]
    Serialize(#[from] serde_json::Error),
}

/// The next chunk of a stream, which is never empty; `None` at its end.
async fn next(stream: &mut EventStream, currency: &Currency) -> Result<Option<Bytes>, StreamError> {
    loop {
        let chunk = match stream.next().await? {
            None => return Ok(None),
            Some(Received::CompleteTo(position)) => server_sent_events::comment(position.get()),
            Some(Received::Events(events)) => show(stream.feed(), &events, currency)?,
        };
        if !chunk.is_empty() {
            return Ok(Some(chunk));
        }
    }
}

/// The chunk with these events as the readers of the feed see them.
fn show(feed: Feed, events: &[Arc<Event>], currency: &Currency) -> serde_json::Result<Bytes> {
    let mut chunk = Vec::new();
    for event in events {
        if let Some(view) = FeedEventView::new(feed, event, currency) {
            server_sent_events::append(&mut chunk, event.position.get(), event.event_type.name(), &view)?;
        }
    }
    Ok(chunk.into())
}
