//! Public keys in the format of RFC 7517 and 7518.

use crate::adapters::security::keys::PublicKey;
use crate::http::wire::names;
use crate::http::wire::view::view;

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
