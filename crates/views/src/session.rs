//! Views of sessions for clients.

use cuepoint_domain::ids::SessionId;
use cuepoint_domain::user::session;

use crate::view;
use crate::wire::time::WireTimestamp;

view! {
    /// A session that has not ended.
    pub struct ActiveSessionView as ActiveSession of (session: &session::Session, current: SessionId) {
        /// Id of the session.
        #[id(example = 12)]
        id: i64 = session.id.get(),
        /// Whether this session made the request.
        current: bool = session.id == current,
        /// User agent of the login; null if unknown.
        #[schema(example = "Mozilla/5.0")]
        user_agent: Option<String> = session.client.agent.as_ref().map(|agent| agent.as_str().to_owned()),
        /// IP address of the login; null if unknown.
        #[schema(example = "203.0.113.7")]
        ip_address: Option<String> = session.client.address.map(|address| address.to_string()),
        /// Time of the login.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(session.began_at),
        /// Time of the last refresh.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        last_used_at: WireTimestamp = WireTimestamp(session.used_at),
        /// End of the session, unless it is refreshed before.
        #[timestamp(example = "2026-03-02T20:15:00.000000Z")]
        expires_at: WireTimestamp = WireTimestamp(session.expires_at),
    }
}
