//! The public keys of access tokens, for verification by third parties.

use std::sync::Arc;

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use cuepoint_domain::ports::Clock;

use crate::declaration::{JSON, of_type, operations};
use crate::endpoint::plain;
use crate::state::ApiState;
use crate::wire::error::ApiError;
use cuepoint_adapters::security::keys::PublicKey;
use cuepoint_views::view;
use cuepoint_views::wire::names;
use cuepoint_views::wire::schema::Described;

operations! {
    /// List the public keys of access tokens
    ///
    /// A JSON Web Key Set (RFC 7517) of the keys that sign with ES256. A key is listed before it signs and until
    /// its last token has expired. With HS256, the list is empty.
    ///
    /// An access token is a JWT. Its header has `alg`, `typ` (`JWT`) and `kid`. Its claims `exp`, `iat`, `nbf`,
    /// `iss`, `aud`, `sub`, `jti` and `sid` are required. `epoch` is 0 if it is missing. A restore from a backup
    /// starts a new epoch, and the service refuses the tokens of every other one. It accepts a token from 30
    /// seconds before `nbf` to 30 seconds after `exp`, because clocks differ.
    GET "/.well-known/jwks.json" "getPublicKeys" {
        tag: Service,
        run: plain(show),
        answers: of_type(JSON, Described::named::<JsonWebKeySetView>(), "The public keys.")
            .with_header("Cache-Control", "How long the keys may be cached: less than a new key waits before it signs."),
    }
}

view! {
    /// The public keys of access tokens.
    pub struct JsonWebKeySetView as JsonWebKeySet of (keys: Vec<PublicKey>) {
        /// The keys, newest first.
        keys: Vec<JsonWebKeyView> = keys.into_iter().map(JsonWebKeyView::new).collect(),
    }
}

view! {
    /// A public key of access tokens.
    pub struct JsonWebKeyView as JsonWebKey of (key: PublicKey) {
        /// Type of the key.
        #[schema(value_type = names::JwkKeyType)]
        kty: &'static str = "EC",
        /// Curve.
        #[schema(value_type = names::JwkCurve)]
        crv: &'static str = "P-256",
        /// First coordinate of the point: 32 bytes in base64url.
        #[schema(min_length = 43, max_length = 43, example = "gkAvTidVxFVBypfVnSDP1LUhdtowSLtJz-u4VTzh2t8")]
        x: String = key.x,
        /// Second coordinate of the point: 32 bytes in base64url.
        #[schema(min_length = 43, max_length = 43, example = "jAA6HhzZ97MEQeqZCtSj_3qpkQffi1TkiOQHAxOIV2A")]
        y: String = key.y,
        /// Id of the key, as in the header of a token.
        #[schema(min_length = 1, max_length = 64, example = "2026-01-31-5e7a90c3")]
        kid: String = key.id,
        /// Algorithm.
        #[schema(value_type = names::JwkAlgorithm)]
        alg: &'static str = "ES256",
        /// Use of the key.
        #[serde(rename = "use")]
        #[schema(value_type = names::JwkUse)]
        purpose: &'static str = "sig",
    }
}

/// Verifiers must learn of a new key before it signs, 60 seconds after a rotation: servers read it within 5
/// seconds, and two clocks may differ by 30.
const CACHED: &str = "public, max-age=20";

async fn show(api: Arc<ApiState>, _request: HttpRequest) -> Result<HttpResponse, ApiError> {
    let authentication = &api.service.authentication;
    let keys = JsonWebKeySetView::new(authentication.tokens.public_keys(authentication.clock.now()));
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, CACHED));
    Ok(response.json(keys))
}
