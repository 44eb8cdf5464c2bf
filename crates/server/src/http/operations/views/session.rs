//! Views of sessions for clients.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::user::session;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::operations::views::UserView;
use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;

/// A session with its tokens.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = Session)]
pub struct SessionView {
    /// The profile.
    pub user: UserView,
    /// Token for the Authorization header.
    pub access_token: String,
    /// Scheme of the Authorization header.
    #[schema(value_type = names::TokenType)]
    pub token_type: &'static str,
    /// Seconds until the access token expires.
    #[schema(example = 900)]
    pub expires_in: i64,
    /// Refresh token, valid for one exchange.
    pub refresh_token: String,
}

/// An active session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ActiveSession)]
pub struct ActiveSessionView {
    /// Id of the session.
    #[schema(minimum = 1, example = 12)]
    pub id: i64,
    /// Whether this session made the request.
    pub current: bool,
    /// User agent of the login; null where unknown.
    #[schema(example = "Mozilla/5.0")]
    pub user_agent: Option<String>,
    /// IP address of the login; null where unknown.
    #[schema(example = "203.0.113.7")]
    pub ip_address: Option<String>,
    /// Time of the login.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    pub created_at: WireTimestamp,
    /// Time of the last exchange of the refresh token.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    pub last_used_at: WireTimestamp,
    /// Expiry of the session unless its refresh token is exchanged.
    #[schema(value_type = String, format = DateTime, example = "2026-03-02T20:15:00.000000Z")]
    pub expires_at: WireTimestamp,
}

impl ActiveSessionView {
    /// The session, as shown within the session `current`.
    #[must_use]
    pub fn new(session: &session::Session, current: SessionId) -> Self {
        Self {
            id: session.id.get(),
            current: session.id == current,
            user_agent: session.client.agent.as_ref().map(|agent| agent.as_str().to_owned()),
            ip_address: session.client.address.map(|address| address.to_string()),
            created_at: WireTimestamp(session.began_at),
            last_used_at: WireTimestamp(session.used_at),
            expires_at: WireTimestamp(session.expires_at),
        }
    }
}

/// A network of logins.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = LoginNetwork)]
pub struct LoginNetworkView {
    /// An IPv4 address with `/32`, or an IPv6 network with `/64`.
    #[schema(example = "203.0.113.7/32")]
    pub network: String,
    /// Time of the last login or refresh from the network.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    pub last_used_at: WireTimestamp,
}

impl LoginNetworkView {
    /// The network.
    #[must_use]
    pub fn new(known: &KnownNetwork) -> Self {
        Self { network: known.network.to_string(), last_used_at: WireTimestamp(known.seen_at) }
    }
}

/// An empty object.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Nothing)]
pub struct Empty {}
