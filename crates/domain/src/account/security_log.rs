//! The security log: an append-only record of authentication and of changes to accounts.

use strum::{EnumIter, EnumString, IntoStaticStr};
use time::Duration;

use crate::account::session::ClientInfo;
use crate::account::{AccountStatusChange, User};
use crate::authorization::Principal;
use crate::ids::{SessionId, UserId};
use crate::ledger::{Actor, Outcome, Plan, Step};
use crate::names::named_enum;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// The kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// A user registered.
    Registered,
    /// A user logged in.
    LoggedIn,
    /// A login failed; the event names the account, if one exists.
    LoginFailed,
    /// A user ended one of their sessions.
    SessionEnded,
    /// A user ended all of their sessions, or all others.
    SessionsEnded,
    /// A used refresh token was presented again, which ended its session.
    RefreshTokenReused,
    /// A user changed the password with the current one.
    PasswordChanged,
    /// A password change failed because the current password was wrong.
    PasswordChangeFailed,
    /// A password reset message was sent.
    PasswordResetRequested,
    /// The password was reset by e-mail.
    PasswordReset,
    /// The e-mail address was verified.
    EmailVerified,
    /// The phone number was verified.
    PhoneVerified,
    /// A change of the e-mail address was requested with the password.
    EmailChangeRequested,
    /// The e-mail address was changed.
    EmailChanged,
    /// The previous e-mail address was restored, with a new password.
    EmailRestored,
    /// A code was wrong or expired.
    CodeRefused,
    /// Personal data was exported.
    DataExported,
    /// Personal data was erased.
    DataErased,
    /// A webhook endpoint of the account was created, changed, removed or used; the detail names it.
    WebhookEndpointChanged,
    /// Access to a staff route was denied for lack of the role; the detail names the route.
    AccessDenied,
    /// An operator acted; the detail gives the action, the object with its transition, and the reason.
    OperatorAction,
    /// An event kind of a newer version.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(EventKind, Unknown);

/// A stored event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecurityEvent {
    /// The kind.
    pub kind: EventKind,
    /// The affected user, if known.
    pub user: Option<UserId>,
    /// The authenticated actor, if any.
    pub actor: Option<UserId>,
    /// The actor's session.
    pub session: Option<SessionId>,
    /// The client info.
    pub client: ClientInfo,
    /// Further detail.
    pub detail: Option<Line>,
    /// The time of the event.
    pub at: Timestamp,
}

impl SecurityEvent {
    /// The retention of an event.
    pub const RETENTION: Duration = Duration::days(365);

    /// An event of a user's own account, or one about a user without an authenticated actor.
    #[must_use]
    pub const fn about(kind: EventKind, user: Option<UserId>, client: ClientInfo, at: Timestamp) -> Self {
        Self { kind, user, actor: None, session: None, client, detail: None, at }
    }

    /// An event of a principal's own account, in the current session.
    #[must_use]
    pub const fn by(caller: &Principal, kind: EventKind, client: ClientInfo, at: Timestamp) -> Self {
        let (user, session) = (Some(caller.user), Some(caller.session));
        Self { kind, user, actor: user, session, client, detail: None, at }
    }

    /// The event as the affected user may see it: the operator's identity, session and client info are
    /// withheld.
    #[must_use]
    pub fn shown_to(self, user: UserId) -> Self {
        match self.actor {
            Some(actor) if actor != user => {
                Self { actor: None, session: None, client: ClientInfo::default(), ..self }
            }
            _ => self,
        }
    }

    /// The event that a plan with this outcome records: every change that requires a reason is an operator's.
    /// `before` is the user as they were, if the plan changes their role.
    #[must_use]
    pub fn of_plan(plan: &Plan, outcome: &Outcome, before: Option<&User>) -> Option<Self> {
        let metadata = plan.metadata();
        let (Actor::User(actor), Some(reason)) = (metadata.actor, metadata.reason.as_ref()) else {
            return None;
        };
        let (action, change) = (plan.kind().name(), described(plan.step(), outcome, before));
        let detail = Line::from_stored(format!("{action}: {change}: {}", reason.as_str()));
        Some(Self {
            kind: EventKind::OperatorAction,
            user: subject(plan.step()),
            actor: Some(actor),
            session: metadata.session,
            client: metadata.client.clone(),
            detail: Some(detail),
            at: metadata.at,
        })
    }
}

/// The object of an operator's change, and its transition.
fn described(step: &Step, outcome: &Outcome, before: Option<&User>) -> String {
    match step {
        Step::MoveWithdrawal { before, to } => {
            moved("withdrawal", before.id.get(), before.state.status().name(), to.status().name())
        }
        Step::ApproveWithdrawal { before, .. } => {
            let current = before.state.status();
            match outcome {
                Outcome::Withdrawal(after, _) if after.state.status() != current => {
                    moved("withdrawal", before.id.get(), current.name(), after.state.status().name())
                }
                _ => format!("withdrawal {} still {}", before.id, current.name()),
            }
        }
        Step::MoveTopup { before, to } => moved("top-up", before.id.get(), before.status.name(), to.name()),
        Step::SuspendTopup { before, .. } => moved("top-up", before.id.get(), "suspense", "settled"),
        Step::MoveRequest { before, to } => {
            moved("request", before.id.get(), before.state.status().name(), to.status().name())
        }
        Step::Adjust(adjustment) => format!("adjustment {} of user {}", adjustment.id, adjustment.user),
        Step::ChangeAccountStatus { user, change } => match change {
            AccountStatusChange::Suspend => moved("user", user.get(), "active", "suspended"),
            AccountStatusChange::Restore => moved("user", user.get(), "suspended", "active"),
            AccountStatusChange::Role(role) => {
                let before = before.map_or("unknown", |before| before.role.name());
                moved("user", user.get(), before, role.name())
            }
        },
        Step::ResolveMessage { before, .. } => {
            moved("provider message", before.id.get(), "unresolved", "resolved")
        }
        Step::Unchanged(_)
        | Step::OpenRequest(_)
        | Step::OpenWithdrawal { .. }
        | Step::OpenTopup(_)
        | Step::OrderTopup { .. }
        | Step::Profile { .. } => "nothing".to_owned(),
    }
}

fn moved(object: &str, id: i64, from: &str, to: &str) -> String {
    format!("{object} {id} {from} → {to}")
}

/// The user affected by an operator's change.
const fn subject(step: &Step) -> Option<UserId> {
    match step {
        Step::MoveWithdrawal { before, .. } | Step::ApproveWithdrawal { before, .. } => Some(before.user),
        Step::MoveTopup { before, .. } | Step::SuspendTopup { before, .. } => Some(before.user),
        Step::MoveRequest { before, .. } => Some(before.requester),
        Step::Adjust(adjustment) => Some(adjustment.user),
        Step::ChangeAccountStatus { user, .. } => Some(*user),
        Step::Unchanged(_)
        | Step::OpenRequest(_)
        | Step::OpenWithdrawal { .. }
        | Step::OpenTopup(_)
        | Step::OrderTopup { .. }
        | Step::Profile { .. }
        | Step::ResolveMessage { .. } => None,
    }
}

/// The filter of a list of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventFilter {
    /// Only events about this user.
    pub user: Option<UserId>,
    /// Only events of this kind.
    pub kind: Option<EventKind>,
}
