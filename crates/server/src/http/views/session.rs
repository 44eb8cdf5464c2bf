//! Sessions as clients see them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::openapi::names;
use crate::http::views::User;

/// Somebody who just proved who they are, with their tokens.
#[derive(Clone, Serialize, ToSchema)]
pub struct Session {
    /// Who it is.
    pub user: User,
    /// The token for the Authorization header.
    pub access_token: String,
    /// How it is presented.
    #[schema(value_type = names::TokenType)]
    pub token_type: &'static str,
    /// Seconds until the access token ends.
    #[schema(example = 900)]
    pub expires_in: i64,
    /// The token for the next session, to be used once.
    pub refresh_token: String,
}

/// An object without a key.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Nothing {}
