//! The body of a request, up to a size and within a time.

use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderMap};
use actix_web::web::{Bytes, BytesMut, Payload};
use futures_util::StreamExt as _;
use thiserror::Error;

use crate::request_gate::wants_web_socket;

/// The largest body, in bytes.
const MAX_BODY: usize = 64 * 1024;

/// Why a body is refused.
#[derive(Debug, Error)]
pub enum BodyRefusal {
    /// It is larger than 64 KiB.
    #[error("the body is too large")]
    TooLarge,
    /// It did not arrive in time.
    #[error("the body took too long to arrive")]
    TooSlow,
    /// The connection failed, or its framing is wrong.
    #[error("the body cannot be read: {0}")]
    Broken(String),
}

/// Reads the complete body within this time. A declared length over the limit is refused before any byte is read.
///
/// # Errors
/// [`BodyRefusal`].
pub async fn receive(
    request: &HttpRequest,
    payload: Payload,
    within: Duration,
) -> Result<Bytes, BodyRefusal> {
    tokio::time::timeout(within, read(request, payload)).await.map_err(|_| BodyRefusal::TooSlow)?
}

async fn read(request: &HttpRequest, mut payload: Payload) -> Result<Bytes, BodyRefusal> {
    let declared = declared_length(request.headers());
    if declared.is_some_and(|length| length > MAX_BODY) {
        return Err(BodyRefusal::TooLarge);
    }
    let ends_at = wants_web_socket(request.headers()).then(|| declared.unwrap_or(0));
    let mut body = BytesMut::new();
    while ends_at.is_none_or(|end| body.len() < end)
        && let Some(chunk) = payload.next().await
    {
        let chunk = chunk.map_err(|error| BodyRefusal::Broken(error.to_string()))?;
        if body.len().saturating_add(chunk.len()) > MAX_BODY {
            return Err(BodyRefusal::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    body.truncate(ends_at.unwrap_or(MAX_BODY));
    Ok(body.freeze())
}

/// The declared length of the body.
fn declared_length(headers: &HeaderMap) -> Option<usize> {
    let length: u64 = headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()?;
    Some(usize::try_from(length).unwrap_or(usize::MAX))
}
