//! Events of the security log.

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::security_log::{EventKind, SecurityEvent};
use cuepoint_domain::text::Line;
use diesel::prelude::*;
use time::OffsetDateTime;

use super::{Corrupt, column_time, columns_of, known, timestamp, visitor};
use crate::schema::security_events;

/// An event that is still to be written.
#[derive(Clone, Debug)]
pub(crate) struct NewEventRow {
    pub(crate) kind: String,
    pub(crate) user_id: Option<i64>,
    pub(crate) actor_id: Option<i64>,
    pub(crate) session_id: Option<i64>,
    pub(crate) address: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) detail: Option<String>,
    pub(crate) at: OffsetDateTime,
}

impl NewEventRow {
    pub(crate) fn of(event: &SecurityEvent) -> Self {
        let (address, agent) = columns_of(&event.visitor);
        Self {
            kind: event.kind.name().to_owned(),
            user_id: event.user.map(UserId::get),
            actor_id: event.actor.map(UserId::get),
            session_id: event.session.map(SessionId::get),
            address,
            agent,
            detail: event.detail.as_ref().map(|detail| detail.as_str().to_owned()),
            at: column_time(event.at),
        }
    }
}

/// An event with its number.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = security_events, check_for_backend(diesel::pg::Pg))]
pub(crate) struct EventRow {
    id: i64,
    kind: String,
    user_id: Option<i64>,
    actor_id: Option<i64>,
    session_id: Option<i64>,
    address: Option<String>,
    agent: Option<String>,
    detail: Option<String>,
    at: OffsetDateTime,
}

impl EventRow {
    pub(crate) fn event(self) -> Result<(i64, SecurityEvent), Corrupt> {
        let person = |column, id: Option<i64>| id.map(|id| known(column, UserId::new(id))).transpose();
        let session = self.session_id.map(|id| known("security_events.session_id", SessionId::new(id)));
        let event = SecurityEvent {
            kind: known("security_events.kind", EventKind::stored(&self.kind))?,
            user: person("security_events.user_id", self.user_id)?,
            actor: person("security_events.actor_id", self.actor_id)?,
            session: session.transpose()?,
            visitor: visitor(self.address.as_deref(), self.agent)?,
            detail: self.detail.map(Line::from_stored),
            at: timestamp(self.at),
        };
        Ok((self.id, event))
    }
}
