//! Security events.

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::security_log::{SecurityEvent, SecurityEventKind};
use cuepoint_domain::text::Line;

use super::{Corrupt, client, columns_of, known};
use crate::schema::StoredSecurityEvent;
use crate::table::Numbered;

impl StoredSecurityEvent {
    /// Converts an event to its row.
    #[must_use]
    pub fn of(event: &SecurityEvent) -> Self {
        let (address, agent) = columns_of(&event.client);
        Self {
            kind: event.kind.name().to_owned(),
            user_id: event.user.map(UserId::get),
            actor_id: event.actor.map(UserId::get),
            session_id: event.session.map(SessionId::get),
            address,
            agent,
            detail: event.detail.as_ref().map(|detail| detail.as_str().to_owned()),
            at: event.at,
        }
    }
}

impl StoredSecurityEvent {
    /// Converts the row to its event.
    pub fn event(self) -> Result<SecurityEvent, Corrupt> {
        let person = |column, id: Option<i64>| id.map(|id| known(column, UserId::new(id))).transpose();
        let session = self.session_id.map(|id| known("security_events.session_id", SessionId::new(id)));
        Ok(SecurityEvent {
            kind: known("security_events.kind", SecurityEventKind::stored(&self.kind))?,
            user: person("security_events.user_id", self.user_id)?,
            actor: person("security_events.actor_id", self.actor_id)?,
            session: session.transpose()?,
            client: client(self.address.as_deref(), self.agent)?,
            detail: self.detail.map(Line::from_stored),
            at: self.at,
        })
    }
}

impl Numbered<StoredSecurityEvent> {
    /// Converts the row to its number and its event.
    pub fn event(self) -> Result<(i64, SecurityEvent), Corrupt> {
        Ok((self.id, self.row.event()?))
    }
}
