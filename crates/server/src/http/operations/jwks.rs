//! The public keys of access tokens, for third parties who verify them.

use std::sync::Arc;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use cuepoint_domain::ports::Clock;

use crate::app::App;
use crate::http::operations::views::JsonWebKeySet;
use crate::http::wire::error::ApiError;

/// Verifiers learn of a new key before it signs, 60 seconds after a rotation: servers read it within 5, and the clocks
/// of two may be 30 apart.
const CACHED: &str = "public, max-age=20";

/// Shows the public keys that access tokens are verified with.
///
/// A key is listed before it signs and until its last token has ended. The list is empty where tokens are signed with a
/// secret (HS256).
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    operation_id = "jwks",
    tag = "Service",
    responses((
        status = 200,
        description = "The public keys, as RFC 7517 has them.",
        body = JsonWebKeySet,
        headers(("Cache-Control" = String, description = "How long they may be kept: not as long as a new key waits.")),
    )),
)]
pub async fn show(app: Arc<App>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let keys = JsonWebKeySet::new(app.tokens.public_keys(app.clock.now()));
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, CACHED));
    Ok(response.json(keys))
}
