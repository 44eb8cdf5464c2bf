//! The security log: who came in or failed to, and what was changed about whom. It is only ever added to.

use strum::{EnumIter, EnumString, IntoStaticStr};
use time::Duration;

use crate::account::session::Visitor;
use crate::authorization::Principal;
use crate::ids::{SessionId, UserId};
use crate::ledger::{Actor, Plan, Step};
use crate::names::named_enum;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// Somebody registered.
    Registered,
    /// Somebody logged in.
    LoggedIn,
    /// A login was refused; whose account it was tried on, if there is one.
    LoginFailed,
    /// A session was ended by its owner.
    SessionEnded,
    /// All sessions, or all others, were ended by their owner.
    SessionsEnded,
    /// A used refresh token was presented again, which ended its session.
    RefreshTokenReused,
    /// The password was changed by who knew it.
    PasswordChanged,
    /// A change of the password was refused, because the present one was wrong.
    PasswordChangeFailed,
    /// A message was sent with which to set a new password.
    PasswordResetRequested,
    /// The password was set by who could read mail.
    PasswordReset,
    /// The e-mail address was proven.
    EmailVerified,
    /// The phone number was proven.
    PhoneVerified,
    /// A code was wrong or too old.
    CodeRefused,
    /// Personal data was taken out.
    DataExported,
    /// Personal data was erased.
    DataErased,
    /// Somebody was refused a route of the staff, whose role they do not have; the detail says which.
    AccessDenied,
    /// An operator did something; the detail says what, and why.
    OperatorAction,
    /// Something that a newer version noted.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(EventKind, Unknown);

/// An event as it is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecurityEvent {
    /// What happened.
    pub kind: EventKind,
    /// Whom it is about, if that is known.
    pub user: Option<UserId>,
    /// Who did it, where that is somebody who proved who they are.
    pub actor: Option<UserId>,
    /// In which session.
    pub session: Option<SessionId>,
    /// From where.
    pub visitor: Visitor,
    /// What else there is to say.
    pub detail: Option<Line>,
    /// When.
    pub at: Timestamp,
}

impl SecurityEvent {
    /// How long an event is kept.
    pub const KEPT: Duration = Duration::days(365);

    /// What somebody did in their own affairs, or what was done about them without their proving who they are.
    #[must_use]
    pub const fn about(kind: EventKind, user: Option<UserId>, visitor: Visitor, at: Timestamp) -> Self {
        Self { kind, user, actor: None, session: None, visitor, detail: None, at }
    }

    /// What a caller did in their own affairs, in the session that they call in.
    #[must_use]
    pub const fn by(caller: &Principal, kind: EventKind, visitor: Visitor, at: Timestamp) -> Self {
        let (user, session) = (Some(caller.user), Some(caller.session));
        Self { kind, user, actor: user, session, visitor, detail: None, at }
    }

    /// The event as the person may see it whom it is about: who else did it, an operator, in which session and from where, is
    /// not theirs to know.
    #[must_use]
    pub fn shown_to(self, user: UserId) -> Self {
        match self.actor {
            Some(actor) if actor != user => {
                Self { actor: None, session: None, visitor: Visitor::default(), ..self }
            }
            _ => self,
        }
    }

    /// The event that a plan leaves: every change that somebody had to give a reason for is an operator's.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Option<Self> {
        let origin = plan.origin();
        let (Actor::User(actor), Some(reason)) = (origin.actor, origin.reason.as_ref()) else { return None };
        let detail = Line::from_stored(format!("{}: {}", plan.kind().name(), reason.as_str()));
        Some(Self {
            kind: EventKind::OperatorAction,
            user: subject(plan.step()),
            actor: Some(actor),
            session: origin.session,
            visitor: origin.visitor.clone(),
            detail: Some(detail),
            at: origin.at,
        })
    }
}

/// Whom an operator's change is about.
const fn subject(step: &Step) -> Option<UserId> {
    match step {
        Step::MoveWithdrawal { before, .. } | Step::ApproveWithdrawal { before, .. } => Some(before.user),
        Step::MoveTopup { before, .. } | Step::SuspendTopup { before, .. } => Some(before.user),
        Step::MoveRequest { before, .. } => Some(before.requester),
        Step::Adjust(adjustment) => Some(adjustment.user),
        Step::Standing { user, .. } => Some(*user),
        Step::Unchanged(_)
        | Step::OpenRequest(_)
        | Step::OpenWithdrawal(_)
        | Step::OpenTopup(_)
        | Step::OrderTopup { .. }
        | Step::Profile { .. }
        | Step::ResolveMessage { .. } => None,
    }
}

/// Which events a list shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventFilter {
    /// Only those about this person.
    pub user: Option<UserId>,
    /// Only those of this kind.
    pub kind: Option<EventKind>,
}
