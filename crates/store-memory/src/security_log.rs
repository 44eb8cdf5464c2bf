//! The security log.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{SecurityLog, Unavailable};
use cuepoint_domain::security_log::{SecurityEvent, SecurityEventFilter};
use cuepoint_domain::timestamp::Timestamp;

use crate::MemoryStore;
use crate::lists::page_of;

/// Events with their numbers, in order of addition.
#[derive(Debug, Default)]
pub(crate) struct Events {
    events: Vec<(i64, SecurityEvent)>,
    last: i64,
}

impl Events {
    /// Adds an event.
    pub(crate) fn add(&mut self, event: SecurityEvent) {
        self.last = self.last.saturating_add(1);
        self.events.push((self.last, event));
    }

    /// The events that match a filter, the last added first.
    pub(crate) fn shown(&self, filter: SecurityEventFilter) -> impl Iterator<Item = &(i64, SecurityEvent)> {
        self.events.iter().rev().filter(move |(_, event)| {
            filter.user.is_none_or(|user| event.user == Some(user))
                && filter.kind.is_none_or(|kind| event.kind == kind)
        })
    }

    /// Whether an event names this user.
    pub(crate) fn names(&self, user: UserId) -> bool {
        self.events.iter().any(|(_, event)| event.user == Some(user) || event.actor == Some(user))
    }

    /// Deletes the events past their retention.
    pub(crate) fn purge_expired(&mut self, now: Timestamp) {
        let since = now.minus(SecurityEvent::RETENTION);
        self.events.retain(|(_, event)| event.at > since);
    }
}

#[async_trait]
impl SecurityLog for MemoryStore {
    async fn append(&self, event: &SecurityEvent) -> Result<(), Unavailable> {
        self.lock()?.events.add(event.clone());
        Ok(())
    }

    async fn events(
        &self,
        filter: SecurityEventFilter,
        page: PageRequest,
    ) -> Result<Rows<(i64, SecurityEvent)>, Unavailable> {
        let state = self.lock()?;
        let shown: Vec<_> = state.events.shown(filter).collect();
        Ok(page_of(shown, page))
    }
}
