//! The security audit: the events that use cases record in the security log beside their changes.
//!
//! `event_limit` bounds those that clients can repeat without limit.

mod event_limit;

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use crate::application::security_audit::event_limit::{HourlyEvents, MAX, Recording};
use crate::authorization::Principal;
use crate::ids::{SessionId, UserId};
use crate::network::ClientNetwork;
use crate::ports::{Clock, LoginObserver, SecurityLog};
use crate::security_log::{SecurityEvent, SecurityEventKind};
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::user::Role;
use crate::user::session::ClientInfo;

/// Records events in the security log. A change stands even if its event cannot be recorded.
#[derive(Clone)]
pub(super) struct SecurityAudit {
    pub(super) log: Arc<dyn SecurityLog>,
    pub(super) clock: Arc<dyn Clock>,
    failed_logins: Arc<dyn LoginObserver>,
    /// The networks of failed logins with unknown addresses within the hour.
    unknown_logins: Arc<Mutex<HourlyEvents<Option<ClientNetwork>>>>,
    /// The principals that were denied an action of staff within the hour, with the operation.
    denials: Arc<Mutex<HourlyEvents<(UserId, Line)>>>,
}

/// Whether to record an event that clients can repeat without limit.
fn admit<T: Eq + Hash>(events: &Mutex<HourlyEvents<T>>, what: T, at: Timestamp) -> Recording {
    events.lock().unwrap_or_else(PoisonError::into_inner).admit(what, at)
}

impl SecurityAudit {
    /// Creates the audit for this log.
    pub(super) fn new(
        log: Arc<dyn SecurityLog>,
        clock: Arc<dyn Clock>,
        failed_logins: Arc<dyn LoginObserver>,
    ) -> Self {
        Self { log, clock, failed_logins, unknown_logins: Arc::default(), denials: Arc::default() }
    }

    /// Reports and records a failed login. Each failed login of a known user is recorded. Failed logins with unknown
    /// addresses, which clients can repeat without limit, are recorded once for each network and hour.
    pub(super) async fn login_failed(&self, account: Option<(UserId, Role)>, client: ClientInfo) {
        let (kind, now) = (SecurityEventKind::LoginFailed, self.clock.now());
        self.failed_logins.failed(&client, account.is_some_and(|(_, role)| role.is_staff()));
        if let Some((user, _)) = account {
            return self.add(SecurityEvent::about(kind, Some(user), client, now)).await;
        }
        let (client, detail) = match admit(&self.unknown_logins, client.network(), now) {
            Recording::First => (client, "unknown account".to_owned()),
            Recording::TooMany => {
                (ClientInfo::default(), format!("unknown accounts, from more than {MAX} networks in an hour"))
            }
            Recording::Again => return,
        };
        let event = SecurityEvent::about(kind, None, client, now);
        self.add(SecurityEvent { detail: Some(Line::from_stored(detail)), ..event }).await;
    }

    /// Records that a principal was denied an action of staff, once for each principal, operation and hour.
    pub(super) async fn denied(&self, principal: &Principal, operation: Line, client: ClientInfo) {
        let now = self.clock.now();
        let detail = match admit(&self.denials, (principal.user, operation.clone()), now) {
            Recording::First => operation,
            Recording::TooMany => Line::from_stored(format!(
                "more than {MAX} times in an hour, by different callers or on different routes"
            )),
            Recording::Again => return,
        };
        let event = SecurityEvent::by(principal, SecurityEventKind::AccessDenied, client, now);
        self.add(SecurityEvent { detail: Some(detail), ..event }).await;
    }

    /// Records an event about a user who is not authenticated, with its session, if any.
    pub(super) async fn about(
        &self,
        kind: SecurityEventKind,
        user: Option<UserId>,
        session: Option<SessionId>,
        client: ClientInfo,
    ) {
        let event = SecurityEvent::about(kind, user, client, self.clock.now());
        self.add(SecurityEvent { session, ..event }).await;
    }

    /// Records a change that a principal made to themselves.
    pub(super) async fn by(&self, principal: &Principal, kind: SecurityEventKind, client: ClientInfo) {
        self.add(SecurityEvent::by(principal, kind, client, self.clock.now())).await;
    }

    /// Records an event.
    pub(super) async fn add(&self, event: SecurityEvent) {
        // The adapter logs the failure: the change behind the event is already committed.
        drop(self.log.append(&event).await);
    }
}
