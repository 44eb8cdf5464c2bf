//! The public keys of access tokens, for verification by third parties.

use std::sync::Arc;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use cuepoint_domain::ports::Clock;

use crate::app::App;
use crate::http::declaration::{of_type, operations};
use crate::http::endpoint::plain;
use crate::http::operations::views::JsonWebKeySetView;
use crate::http::wire::error::ApiError;
use crate::http::wire::schema::Described;

operations! {
    /// List the public keys of access tokens
    ///
    /// A JSON Web Key Set (RFC 7517). A key is listed before it signs and until its last token has expired.
    /// The list is empty if tokens are signed with a secret (HS256).
    GET "/.well-known/jwks.json" "jwks" {
        tag: Service,
        run: plain(show),
        answers: of_type("application/json", Described::named::<JsonWebKeySetView>(), "The public keys.")
            .with_header("Cache-Control", "How long the keys may be cached: less than a new key waits before it signs."),
    }
}

/// Verifiers must learn of a new key before it signs, 60 seconds after a rotation: servers read it within 5
/// seconds, and two clocks may differ by 30.
const CACHED: &str = "public, max-age=20";

async fn show(app: Arc<App>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let authentication = &app.authentication;
    let keys = JsonWebKeySetView::new(authentication.tokens.public_keys(authentication.clock.now()));
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, CACHED));
    Ok(response.json(keys))
}
