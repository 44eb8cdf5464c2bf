//! Views of the security log for clients.

use cuepoint_domain::security_log;

use crate::view;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// An event of the security log.
    pub struct SecurityEventView as SecurityEvent of (number: i64, event: &security_log::SecurityEvent) {
        /// Number of the event. Later events have higher numbers, with gaps.
        #[id(example = 17)]
        id: i64 = number,
        /// Kind of the event.
        #[schema(value_type = names::SecurityEventKind)]
        kind: &'static str = event.kind.name(),
        /// Id of the affected user; null if unknown.
        #[id(example = 8)]
        user_id: Option<i64> = event.user.map(|user| user.get()),
        /// Id of the user who acted; null without authentication, and for an operator in the export of another user.
        #[id(example = 7)]
        actor_id: Option<i64> = event.actor.map(|actor| actor.get()),
        /// Id of the session; null if unknown.
        #[id(example = 3)]
        session_id: Option<i64> = event.session.map(|session| session.get()),
        /// IP address; null if unknown.
        #[schema(example = "203.0.113.7")]
        ip_address: Option<String> = event.client.address.map(|address| address.to_string()),
        /// User agent of the client; null if unknown.
        #[schema(example = "curl/8.5.0")]
        user_agent: Option<String> = event.client.agent.as_ref().map(|agent| agent.as_str().to_owned()),
        /// Details; null if there are none.
        #[schema(example = "suspend: Fraud.")]
        detail: Option<String> = event.detail.as_ref().map(|detail| detail.as_str().to_owned()),
        /// Time of the event.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(event.at),
    }
}
