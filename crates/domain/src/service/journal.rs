//! The journal: what the use cases write to the security log beside what they do.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use crate::access::Caller;
use crate::ids::{SessionId, UserId};
use crate::network::Network;
use crate::ports::{Clock, SecurityLog};
use crate::security_log::{EventKind, SecurityEvent};
use crate::service::hourly::{Hourly, MOST, Verdict};
use crate::session::Visitor;
use crate::text::Line;
use crate::timestamp::Timestamp;

/// The security log as use cases write to it: what they did stands, whether it can be noted or not.
#[derive(Clone)]
pub(super) struct Journal {
    pub(super) log: Arc<dyn SecurityLog>,
    pub(super) clock: Arc<dyn Clock>,
    /// From where logins to unknown accounts were tried.
    unknown_logins: Arc<Mutex<Hourly<Option<Network>>>>,
    /// Who was refused what staff does.
    denials: Arc<Mutex<Hourly<(UserId, Line)>>>,
}

/// Whether something that strangers can do without end is to be noted.
fn judge<T: Eq + Hash>(hourly: &Mutex<Hourly<T>>, what: T, at: Timestamp) -> Verdict {
    hourly.lock().unwrap_or_else(PoisonError::into_inner).judge(what, at)
}

impl Journal {
    /// The journal of this log.
    pub(super) fn new(log: Arc<dyn SecurityLog>, clock: Arc<dyn Clock>) -> Self {
        Self { log, clock, unknown_logins: Arc::default(), denials: Arc::default() }
    }

    /// Notes a login that was refused. Where it named an account, each one is noted. Logins to unknown accounts, which
    /// anybody can try without end, are noted once for each network and hour.
    pub(super) async fn login_failed(&self, user: Option<UserId>, visitor: Visitor) {
        let (kind, now) = (EventKind::LoginFailed, self.clock.now());
        if user.is_some() {
            return self.add(SecurityEvent::about(kind, user, visitor, now)).await;
        }
        let (visitor, detail) = match judge(&self.unknown_logins, visitor.network(), now) {
            Verdict::First => (visitor, "unknown account".to_owned()),
            Verdict::TooMany => {
                (Visitor::default(), format!("unknown accounts, from more than {MOST} networks in an hour"))
            }
            Verdict::Again => return,
        };
        let event = SecurityEvent::about(kind, None, visitor, now);
        self.add(SecurityEvent { detail: Some(Line::from_stored(detail)), ..event }).await;
    }

    /// Notes that somebody was refused what only staff does, once for each person, route and hour.
    pub(super) async fn denied(&self, caller: &Caller, what: Line, visitor: Visitor) {
        let now = self.clock.now();
        let detail = match judge(&self.denials, (caller.user, what.clone()), now) {
            Verdict::First => what,
            Verdict::TooMany => Line::from_stored(format!(
                "more than {MOST} times in an hour, by different callers or on different routes"
            )),
            Verdict::Again => return,
        };
        let event = SecurityEvent::by(caller, EventKind::AccessDenied, visitor, now);
        self.add(SecurityEvent { detail: Some(detail), ..event }).await;
    }

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
