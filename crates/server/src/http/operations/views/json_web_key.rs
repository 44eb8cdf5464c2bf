//! Public keys as RFC 7517 and 7518 have them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::adapters::security::keys::PublicKey;
use crate::http::wire::names;

/// The public keys that access tokens are verified with.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct JsonWebKeySet {
    /// The keys, the newest first.
    keys: Vec<JsonWebKey>,
}

/// A public key of access tokens.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct JsonWebKey {
    /// What kind of key it is.
    #[schema(value_type = names::JwkKeyType)]
    kty: &'static str,
    /// The curve that it is a point of.
    #[schema(value_type = names::JwkCurve)]
    crv: &'static str,
    /// The point's first coordinate, 32 bytes in base64url.
    #[schema(min_length = 43, max_length = 43, example = "gkAvTidVxFVBypfVnSDP1LUhdtowSLtJz-u4VTzh2t8")]
    x: String,
    /// The point's second coordinate.
    #[schema(min_length = 43, max_length = 43, example = "jAA6HhzZ97MEQeqZCtSj_3qpkQffi1TkiOQHAxOIV2A")]
    y: String,
    /// The key's id, as the header of a token names it.
    #[schema(min_length = 1, max_length = 64, example = "2026-01-31-5e7a90c3")]
    kid: String,
    /// The one algorithm that it is used with.
    #[schema(value_type = names::JwkAlgorithm)]
    alg: &'static str,
    /// What it is for.
    #[serde(rename = "use")]
    #[schema(value_type = names::JwkUse)]
    purpose: &'static str,
}

impl JsonWebKeySet {
    /// These keys.
    #[must_use]
    pub fn new(keys: Vec<PublicKey>) -> Self {
        let [kty, crv, alg, purpose] = ["EC", "P-256", "ES256", "sig"];
        let shown = keys.into_iter().map(|PublicKey { id, x, y }| JsonWebKey {
            kty,
            crv,
            x,
            y,
            kid: id,
            alg,
            purpose,
        });
        Self { keys: shown.collect() }
    }
}
