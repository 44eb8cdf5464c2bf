//! Views of sessions for clients.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::user::session;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::operations::views::UserView;
use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;
use crate::http::wire::view::view;

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

view! {
    /// An active session.
    pub struct ActiveSessionView as ActiveSession of (session: &session::Session, current: SessionId) {
        /// Id of the session.
        #[id(example = 12)]
        id: i64 = session.id.get(),
        /// Whether this session made the request.
        current: bool = session.id == current,
        /// User agent of the login; null where unknown.
        #[schema(example = "Mozilla/5.0")]
        user_agent: Option<String> = session.client.agent.as_ref().map(|agent| agent.as_str().to_owned()),
        /// IP address of the login; null where unknown.
        #[schema(example = "203.0.113.7")]
        ip_address: Option<String> = session.client.address.map(|address| address.to_string()),
        /// Time of the login.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(session.began_at),
        /// Time of the last exchange of the refresh token.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        last_used_at: WireTimestamp = WireTimestamp(session.used_at),
        /// Expiry of the session unless its refresh token is exchanged.
        #[timestamp(example = "2026-03-02T20:15:00.000000Z")]
        expires_at: WireTimestamp = WireTimestamp(session.expires_at),
    }
}

view! {
    /// A network of logins.
    pub struct LoginNetworkView as LoginNetwork of (known: &KnownNetwork) {
        /// An IPv4 address with `/32`, or an IPv6 network with `/64`.
        #[schema(example = "203.0.113.7/32")]
        network: String = known.network.to_string(),
        /// Time of the last login or refresh from the network.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        last_used_at: WireTimestamp = WireTimestamp(known.seen_at),
    }
}

/// An empty object.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[schema(as = Nothing)]
pub struct Empty {}
