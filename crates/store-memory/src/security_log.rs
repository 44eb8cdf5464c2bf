//! The security log.

use async_trait::async_trait;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{SecurityLog, Unavailable};
use cuepoint_domain::security_log::{EventFilter, SecurityEvent};
use cuepoint_domain::timestamp::Timestamp;

use crate::MemoryStore;
use crate::lists::cut;

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

    /// The events with numbers below this one, the last added first.
    pub(crate) fn before(&self, number: i64) -> impl Iterator<Item = &(i64, SecurityEvent)> {
        let end = self.events.partition_point(|(earlier, _)| *earlier < number);
        self.events.get(..end).unwrap_or_default().iter().rev()
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
        filter: EventFilter,
        page: PageRequest,
    ) -> Result<Rows<(i64, SecurityEvent)>, Unavailable> {
        let state = self.lock()?;
        let shown = state.events.events.iter().rev().filter(|(_, event)| {
            filter.user.is_none_or(|user| event.user == Some(user))
                && filter.kind.is_none_or(|kind| event.kind == kind)
        });
        let rows = cut(shown, page);
        Ok(Rows { rows: rows.rows.into_iter().cloned().collect(), total: rows.total })
    }
}
