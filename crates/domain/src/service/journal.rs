//! The journal: what the use cases write to the security log beside what they do.

use std::sync::Arc;

use crate::access::Caller;
use crate::ids::{SessionId, UserId};
use crate::ports::{Clock, SecurityLog};
use crate::security_log::{EventKind, SecurityEvent};
use crate::session::Visitor;

/// The security log as use cases write to it: what they did stands, whether it can be noted or not.
#[derive(Clone)]
pub(super) struct Journal {
    pub(super) log: Arc<dyn SecurityLog>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Journal {
    /// Notes what was done about somebody without their proving who they are, and in which session, if in one.
    pub(super) async fn note(
        &self,
        kind: EventKind,
        user: Option<UserId>,
        session: Option<SessionId>,
        visitor: Visitor,
    ) {
        let event = SecurityEvent::about(kind, user, visitor, self.clock.now());
        self.add(SecurityEvent { session, ..event }).await;
    }

    /// Notes what the caller did in their own affairs.
    pub(super) async fn by(&self, caller: &Caller, kind: EventKind, visitor: Visitor) {
        self.add(SecurityEvent::by(caller, kind, visitor, self.clock.now())).await;
    }

    /// Adds an event as it is.
    pub(super) async fn add(&self, event: SecurityEvent) {
        // Whoever keeps the log says in their own that it failed: what the event tells of has happened by now.
        drop(self.log.append(&event).await);
    }
}
