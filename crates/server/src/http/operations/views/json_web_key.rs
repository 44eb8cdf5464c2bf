//! Public keys in the format of RFC 7517 and 7518.

use serde::Serialize;
use utoipa::ToSchema;

use crate::adapters::security::keys::PublicKey;
use crate::http::wire::names;

/// The public keys of access tokens.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = JsonWebKeySet)]
pub struct JsonWebKeySetView {
    /// The keys, newest first.
    keys: Vec<JsonWebKeyView>,
}

/// A public key of access tokens.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = JsonWebKey)]
pub struct JsonWebKeyView {
    /// Type of the key.
    #[schema(value_type = names::JwkKeyType)]
    kty: &'static str,
    /// Curve.
    #[schema(value_type = names::JwkCurve)]
    crv: &'static str,
    /// First coordinate of the point: 32 bytes in base64url.
    #[schema(min_length = 43, max_length = 43, example = "gkAvTidVxFVBypfVnSDP1LUhdtowSLtJz-u4VTzh2t8")]
    x: String,
    /// Second coordinate of the point: 32 bytes in base64url.
    #[schema(min_length = 43, max_length = 43, example = "jAA6HhzZ97MEQeqZCtSj_3qpkQffi1TkiOQHAxOIV2A")]
    y: String,
    /// Id of the key, as in the header of a token.
    #[schema(min_length = 1, max_length = 64, example = "2026-01-31-5e7a90c3")]
    kid: String,
    /// Algorithm.
    #[schema(value_type = names::JwkAlgorithm)]
    alg: &'static str,
    /// Use of the key.
    #[serde(rename = "use")]
    #[schema(value_type = names::JwkUse)]
    purpose: &'static str,
}

impl JsonWebKeySetView {
    /// The set of these keys.
    #[must_use]
    pub fn new(keys: Vec<PublicKey>) -> Self {
        let [kty, crv, alg, purpose] = ["EC", "P-256", "ES256", "sig"];
        let shown = keys.into_iter().map(|PublicKey { id, x, y }| JsonWebKeyView {
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
