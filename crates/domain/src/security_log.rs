//! The security log: who came in or failed to, and what was changed about whom. It is only ever added to.

use time::Duration;

use crate::access::Caller;
use crate::ids::{SessionId, UserId};
use crate::ledger::{Actor, Plan, Step};
use crate::session::Visitor;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal),+ $(,)?) => {
        /// What happened.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum EventKind {
            $($(#[$doc])* $kind,)+
            /// Something that a newer version noted.
            Unknown(UnknownName),
        }

        impl EventKind {
            /// Every kind that this version knows.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The name, as clients and stores write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                    Self::Unknown(name) => name.as_str(),
                }
            }

            /// The kind of this name, if this version knows it.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }

            /// The kind of this name, known or not; `None` for what no version writes.
            #[must_use]
            pub fn stored(name: &str) -> Option<Self> {
                Self::named(name).or_else(|| UnknownName::stored(name).map(Self::Unknown))
            }
        }
    };
}

kinds! {
    /// Somebody registered.
    Registered = "registered",
    /// Somebody logged in.
    LoggedIn = "logged_in",
    /// A login was refused; whose account it was tried on, if there is one.
    LoginFailed = "login_failed",
    /// A session was ended by its owner.
    SessionEnded = "session_ended",
    /// All sessions, or all others, were ended by their owner.
    SessionsEnded = "sessions_ended",
    /// A used refresh token was presented again, which ended its session.
    RefreshTokenReused = "refresh_token_reused",
    /// The password was changed by who knew it.
    PasswordChanged = "password_changed",
    /// A change of the password was refused, because the present one was wrong.
    PasswordChangeFailed = "password_change_failed",
    /// A message was sent with which to set a new password.
    PasswordResetRequested = "password_reset_requested",
    /// The password was set by who could read mail.
    PasswordReset = "password_reset",
    /// The e-mail address was proven.
    EmailVerified = "email_verified",
    /// The phone number was proven.
    PhoneVerified = "phone_verified",
    /// A code was wrong or too old.
    CodeRefused = "code_refused",
    /// Personal data was taken out.
    DataExported = "data_exported",
    /// Personal data was erased.
    DataErased = "data_erased",
    /// Somebody was refused a route of the staff, whose role they do not have; the detail says which.
    AccessDenied = "access_denied",
    /// An operator did something; the detail says what, and why.
    OperatorAction = "operator_action",
}

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
    pub const fn by(caller: &Caller, kind: EventKind, visitor: Visitor, at: Timestamp) -> Self {
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
        let detail = Line::from_stored(format!("{}: {}", plan.kind(), reason.as_str()));
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
        Step::None(_)
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
