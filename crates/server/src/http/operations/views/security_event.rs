//! The security log as clients see it.

use cuepoint_domain::security_log;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::names;
use crate::http::wire::time::Moment;

/// An event of the security log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SecurityEvent {
    /// Its number, in the order in which they were noted, with gaps.
    #[schema(minimum = 1, example = 17)]
    id: i64,
    /// What happened.
    #[schema(value_type = names::EventKind)]
    kind: &'static str,
    /// Whom it is about; null where that is nobody known.
    #[schema(minimum = 1, example = 8)]
    user_id: Option<i64>,
    /// Who did it; null where nobody proved who they are, and for an operator in the export of another person.
    #[schema(minimum = 1, example = 7)]
    actor_id: Option<i64>,
    /// In which session, where that is known.
    #[schema(minimum = 1, example = 3)]
    session_id: Option<i64>,
    /// From where, where that is known.
    #[schema(example = "203.0.113.7")]
    ip_address: Option<String>,
    /// What the caller's program called itself.
    #[schema(example = "curl/8.5.0")]
    user_agent: Option<String>,
    /// What else there is to say.
    #[schema(example = "suspend: Fraud.")]
    detail: Option<String>,
    /// When.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: Moment,
}

impl SecurityEvent {
    /// The event with its number.
    #[must_use]
    pub fn new(number: i64, event: &security_log::SecurityEvent) -> Self {
        Self {
            id: number,
            kind: event.kind.name(),
            user_id: event.user.map(|user| user.get()),
            actor_id: event.actor.map(|actor| actor.get()),
            session_id: event.session.map(|session| session.get()),
            ip_address: event.visitor.address.map(|address| address.to_string()),
            user_agent: event.visitor.agent.as_ref().map(|agent| agent.as_str().to_owned()),
            detail: event.detail.as_ref().map(|detail| detail.as_str().to_owned()),
            created_at: Moment(event.at),
        }
    }
}
