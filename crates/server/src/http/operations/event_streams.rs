//! Streams of events: what a feed shows, as it happens.

use std::collections::BTreeSet;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Bytes;
use cuepoint_domain::application::CommandError;
use cuepoint_domain::application::queries::{EventPageRequest, FeedRefusal};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::event::Feed;
use cuepoint_domain::event::{Event, EventType};
use cuepoint_domain::operation::Position;
use futures_util::stream::{self, StreamExt as _};
use thiserror::Error;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout_at};

use crate::adapters::event_hub::{Authority, Full, Subscription};
use crate::app::App;
use crate::http::call::ApiCall;
use crate::http::declaration::{event_stream, operations};
use crate::http::endpoint::authenticated;
use crate::http::operations::views::event::{EventView, OperatorEventView};
use crate::http::wire::envelope::ApiResponse;
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::filters::{self, QueryFilters as _, filters};
use crate::http::wire::server_sent_events;

/// The time after which a silent stream sends a comment, so that proxies keep it open.
const COMMENT_EVERY: Duration = Duration::from_secs(15);
/// The minimum of the time after which clients reconnect, and the range above it, in milliseconds.
const RETRY_AT_LEAST: u64 = 2_000;
const RETRY_SPREAD: u64 = 2_001;
/// The distance between the times of two successive streams; it has no factor in common with the range.
const SPREAD_STEP: u64 = 617;
/// The time after which a page is read again that did not lead further.
const READ_AGAIN_AFTER: Duration = Duration::from_millis(10);
/// The maximum number of events in one chunk.
const CHUNK: usize = 64;
/// The number of events that are read at once before the stream is live.
const PAGE: u32 = 250;
/// The `Retry-After` of a refused stream, in seconds.
const FULL_FOR_SECONDS: u32 = 5;

operations! {
    /// Stream the events about the caller
    ///
    /// The events of `listEvents` as server-sent events: `id` is the position, `event` the type, and `data` the
    /// event as JSON. The stream continues after the header `Last-Event-ID`, which browsers send when they
    /// reconnect, or after the parameter `after`; without either it begins with the next event.
    ///
    /// A stream ends when the access token is no longer accepted, when the server stops, and when the client is
    /// 256 events behind. A client that resumes after the last `id` misses nothing. An account has at
    /// most 6 streams.
    GET "/api/v1/events/stream" "streamEvents" {
        tag: Events,
        run: authenticated(Action::ReadEvents, own),
        answers: event_stream("Server-sent events, each with an `Event` as `data`."),
        filters: StreamFilters::DECLARED,
        fails: &[
            Code::ValidationFailed, Code::EventsExpired, Code::EventsLost, Code::TooManyStreams,
        ],
    }

    /// Stream all events
    ///
    /// As `streamEvents`, with the events of `listAllEvents`.
    GET "/api/v1/operator/events/stream" "streamAllEvents" {
        tag: Operators,
        run: authenticated(Action::ReadAllEvents, all),
        answers: event_stream("Server-sent events, each with an `OperatorEvent` as `data`."),
        filters: StreamFilters::DECLARED,
        fails: &[
            Code::ValidationFailed, Code::EventsExpired, Code::EventsLost, Code::TooManyStreams,
        ],
    }
}

filters! {
    /// The part of a stream.
    struct StreamFilters {
        /// Only events after this position; the header `Last-Event-ID` takes precedence.
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
        epoch: call.app.authentication.revocations.epoch(),
        expires: call.token_expiry()?,
    };
    if call.is_head() {
        return describe(&call, &principal, feed, after).await;
    }
    let subscription = call.app.event_hub.open(authority, call.connection()).map_err(refusal)?;
    let after = match after {
        Some(after) => after,
        None => call.app.services.events.newest().await?,
    };
    let begin = server_sent_events::begin(after.get(), retry(subscription.number()));
    let mut stream =
        EventStream { app: call.app, principal, feed, types, after, live_after: None, subscription };
    let first = stream.read().await?;
    // An empty chunk would end the body.
    let begin = stream::iter([begin, first]).filter(|chunk| ready(!chunk.is_empty())).map(Ok);
    let rest = stream::unfold(Some(stream), |stream| async {
        let mut stream = stream?;
        match stream.next().await {
            Ok(chunk) => chunk.map(|chunk| (Ok(chunk), Some(stream))),
            Err(error) => {
                tracing::warn!(%error, "a stream of events broke off");
                Some((Err(error.into()), None))
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
    call.app.event_hub.ensure_room(principal.user).map_err(refusal)?;
    if after.is_some() {
        let asked = EventPageRequest { after, limit: 1, types: None };
        call.app.services.events.page(principal, feed, &asked).await?;
    }
    Ok(ApiResponse::event_stream(stream::empty().boxed_local()))
}

/// The reconnection time of the stream with this number: spread, so that clients do not all come back at once
/// after a restart.
fn retry(number: u64) -> Duration {
    let spread = number.wrapping_mul(SPREAD_STEP).checked_rem(RETRY_SPREAD).unwrap_or_default();
    Duration::from_millis(RETRY_AT_LEAST.saturating_add(spread))
}

fn refusal(full: Full) -> ApiError {
    match full {
        Full::Account => ApiError::after(Code::TooManyStreams, FULL_FOR_SECONDS),
        Full::Server => {
            ApiError::not_now("This server can open no further stream of events.", FULL_FOR_SECONDS)
        }
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

impl From<StreamError> for ApiError {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Read(error) => error.into(),
            StreamError::Serialize(error) => Self::internal(error),
        }
    }
}

/// A stream as its client has received it so far.
struct EventStream {
    app: Arc<App>,
    principal: Principal,
    feed: Feed,
    types: Option<BTreeSet<EventType>>,
    /// The position up to which it is complete.
    after: Position,
    /// The position after which the hub delivers events; `None` before it does.
    live_after: Option<Position>,
    subscription: Subscription,
}

impl EventStream {
    /// The next chunk; `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>, StreamError> {
        let comment_at = Instant::now().checked_add(COMMENT_EVERY).unwrap_or_else(Instant::now);
        while self.live_after.is_none_or(|live| self.after < live) {
            // A store can answer without waiting, and other calls of this thread have to proceed.
            yield_now().await;
            if self.subscription.is_revoked() {
                return Ok(None);
            }
            let before = self.after;
            let chunk = self.read().await?;
            if !chunk.is_empty() {
                return Ok(Some(chunk));
            }
            if self.after == before {
                sleep(READ_AGAIN_AFTER).await;
            }
        }
        loop {
            let mut events = Vec::new();
            match timeout_at(comment_at, self.subscription.receive(&mut events, CHUNK)).await {
                Ok(0) => return Ok(None),
                Ok(_) => {
                    let chunk = self.show(events.iter().map(AsRef::as_ref))?;
                    if !chunk.is_empty() {
                        return Ok(Some(chunk));
                    }
                }
                Err(_) => {
                    self.after = self.after.max(self.subscription.complete_to().unwrap_or_default());
                    return Ok(Some(server_sent_events::comment(self.after.get())));
                }
            }
        }
    }

    /// The next page of the feed. After the last one, the hub delivers what follows.
    async fn read(&mut self) -> Result<Bytes, StreamError> {
        let asked = EventPageRequest { after: Some(self.after), limit: PAGE, types: None };
        let page = self.app.services.events.page(&self.principal, self.feed, &asked).await?;
        let chunk = self.show(page.events.iter())?;
        self.after = page.next;
        if page.next >= page.head && self.live_after.is_none() {
            self.live_after = Some(self.subscription.follow(page.next));
        }
        Ok(chunk)
    }

    /// The events that the client has not received yet, of the types that it wants. The stream is complete up to
    /// them, so that no later comment states an earlier position.
    fn show<'e>(&mut self, events: impl Iterator<Item = &'e Event>) -> serde_json::Result<Bytes> {
        let mut chunk = Vec::new();
        for event in events {
            if event.position <= self.after {
                continue;
            }
            self.after = event.position;
            if event.is_one_of(self.types.as_ref()) {
                self.append(&mut chunk, event)?;
            }
        }
        Ok(chunk.into())
    }

    fn append(&self, chunk: &mut Vec<u8>, event: &Event) -> serde_json::Result<()> {
        let currency = &self.app.settings.currency;
        let (id, name) = (event.position.get(), event.event_type.name());
        match self.feed {
            Feed::Own => {
                let view = EventView::new(event, currency);
                view.map_or(Ok(()), |view| server_sent_events::append(chunk, id, name, &view))
            }
            Feed::All => {
                let view = OperatorEventView::new(event, currency);
                view.map_or(Ok(()), |view| server_sent_events::append(chunk, id, name, &view))
            }
        }
    }
}
