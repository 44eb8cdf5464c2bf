//! Views of personal access tokens for their owners.

use cuepoint_domain::user::personal_token::{PersonalToken, TokenScope};
use serde::Serialize;
use utoipa::ToSchema;

use crate::view;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// A credential of a program that reads for its owner.
    pub struct PersonalTokenView as PersonalToken of (token: &PersonalToken) {
        /// Id of the token.
        #[id(example = 31)]
        id: i64 = token.id().get(),
        /// Name that the owner gave the token.
        #[schema(example = "Display at the bar")]
        name: String = token.name.as_str().to_owned(),
        /// What the token may read.
        #[schema(value_type = Vec<names::TokenScope>)]
        scopes: Vec<&'static str> = token.scopes.iter().copied().map(TokenScope::name).collect(),
        /// Time of creation.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(token.session.began_at),
        /// Time of the last recorded use; null before the first. A server records one use per lifetime of an access token.
        #[timestamp_or_null(example = json!(null))]
        last_used_at: Option<WireTimestamp> = token.last_used_at().map(WireTimestamp),
        /// Time from which the token is refused.
        #[timestamp(example = "2026-05-01T20:15:00.000000Z")]
        expires_at: WireTimestamp = WireTimestamp(token.session.expires_at),
    }
}

/// The personal access tokens of a user.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PersonalTokensData {
    /// The tokens, newest first.
    pub tokens: Vec<PersonalTokenView>,
}

/// A personal access token with its secret.
#[derive(Clone, Serialize, ToSchema)]
pub struct PersonalTokenSecretData {
    /// The token.
    pub token: PersonalTokenView,
    /// Secret that the program sends as a bearer token. No other operation shows it.
    #[schema(example = "cpt_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw-3fZxQm0bVk")]
    pub secret: String,
}
