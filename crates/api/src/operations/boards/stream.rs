//! Streams of boards.

use std::sync::Arc;

use actix_web::web::Bytes;
use cuepoint_adapters::board_stream::BoardStream;
use cuepoint_adapters::event_hub::Full;
use cuepoint_domain::gig::BoardVersion;
use cuepoint_views::board::BoardChangeView;
use futures_util::stream::{self, StreamExt as _};

use crate::call::ApiCall;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::ApiError;
use crate::wire::server_sent_events;

/// The `Retry-After` of a refused stream, in seconds.
const FULL_FOR_SECONDS: u32 = 5;

/// Opens the stream of the board of the code in the path.
pub(super) async fn open(call: ApiCall) -> Result<ApiResponse, ApiError> {
    let board = super::board(&call).await?;
    if call.is_head() {
        return Ok(ApiResponse::event_stream(stream::empty().boxed_local()));
    }
    let newest = call.use_cases().events.newest().await?;
    let network = call.client().network();
    let hub = &call.api.service.event_hub;
    let watch = hub.watch(board.dj.id, network, call.connection(), newest).map_err(refusal)?;
    let version = board.version();
    let retry = server_sent_events::retry(server_sent_events::retry_after(watch.number()));
    let first = [retry, message(version)?].map(Ok);
    let reader = BoardStream::new(Arc::clone(&call.api.service), board.code, watch, version);
    let rest = stream::unfold(reader, |mut reader| async move {
        let version = reader.next().await?;
        // A version can always be written.
        let chunk = message(version).unwrap_or_default();
        Some((Ok(chunk), reader))
    });
    Ok(ApiResponse::event_stream(stream::iter(first).chain(rest).boxed_local()))
}

/// The event with a version.
fn message(version: BoardVersion) -> Result<Bytes, ApiError> {
    let event = server_sent_events::without_id(server_sent_events::CHANGED, &BoardChangeView::new(version));
    event.map_err(ApiError::internal)
}

fn refusal(full: Full) -> ApiError {
    let sentence = match full {
        Full::Address => "This client address has too many streams of boards and guests.",
        Full::User | Full::Server => "This server cannot open more event streams.",
    };
    ApiError::not_now(sentence, FULL_FOR_SECONDS)
}
