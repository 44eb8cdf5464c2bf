//! Views of the security log for clients.

use cuepoint_domain::security_log;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;

/// An event of the security log.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = SecurityEvent)]
pub struct SecurityEventView {
    /// Number of the event, ascending in recording order, with gaps.
    #[schema(minimum = 1, example = 17)]
    id: i64,
    /// Kind of the event.
    #[schema(value_type = names::EventKind)]
    kind: &'static str,
    /// Id of the affected account; null where unknown.
    #[schema(minimum = 1, example = 8)]
    user_id: Option<i64>,
    /// Id of the actor; null without authentication, and for an operator in the export of another account.
    #[schema(minimum = 1, example = 7)]
    actor_id: Option<i64>,
    /// Id of the session; null if unknown.
    #[schema(minimum = 1, example = 3)]
    session_id: Option<i64>,
    /// IP address; null if unknown.
    #[schema(example = "203.0.113.7")]
    ip_address: Option<String>,
    /// User agent of the client; null if unknown.
    #[schema(example = "curl/8.5.0")]
    user_agent: Option<String>,
    /// Details; null if there are none.
    #[schema(example = "suspend: Fraud.")]
    detail: Option<String>,
    /// Time of the event.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
}

impl SecurityEventView {
    /// The event with its number.
    #[must_use]
    pub fn new(number: i64, event: &security_log::SecurityEvent) -> Self {
        Self {
            id: number,
            kind: event.kind.name(),
            user_id: event.user.map(|user| user.get()),
            actor_id: event.actor.map(|actor| actor.get()),
            session_id: event.session.map(|session| session.get()),
            ip_address: event.client.address.map(|address| address.to_string()),
            user_agent: event.client.agent.as_ref().map(|agent| agent.as_str().to_owned()),
            detail: event.detail.as_ref().map(|detail| detail.as_str().to_owned()),
            created_at: WireTimestamp(event.at),
        }
    }
}
