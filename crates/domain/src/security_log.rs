//! The security log: an append-only record of authentication and of changes to users.

use strum::{EnumIter, EnumString, IntoStaticStr};
use time::Duration;

use crate::authorization::Principal;
use crate::ids::{SessionId, UserId};
use crate::names::named_enum;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;
use crate::user::session::ClientInfo;

/// The kind of an event.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum SecurityEventKind {
    /// A user registered.
    Registered,
    /// A user logged in.
    LoggedIn,
    /// A login failed; the event names the user, if one exists.
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
    /// A webhook endpoint of the user was created, changed, removed or used; the detail names it.
    WebhookEndpointChanged,
    /// Access to a staff route was denied for lack of the role; the detail names the route.
    AccessDenied,
    /// An operator acted; the detail gives the action, the object with its transition, and the reason.
    OperatorAction,
    /// An event kind of a newer version.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(SecurityEventKind, Unknown);

/// A stored event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecurityEvent {
    pub kind: SecurityEventKind,
    /// The affected user, if known.
    pub user: Option<UserId>,
    /// The authenticated actor, if any.
    pub actor: Option<UserId>,
    /// The actor's session.
    pub session: Option<SessionId>,
    pub client: ClientInfo,
    /// Further detail.
    pub detail: Option<Line>,
    /// The time of the event.
    pub at: Timestamp,
}

impl SecurityEvent {
    /// The retention of an event.
    pub const RETENTION: Duration = Duration::days(365);

    /// An event about a user without an authenticated actor, such as a login.
    #[must_use]
    pub const fn about(
        kind: SecurityEventKind,
        user: Option<UserId>,
        client: ClientInfo,
        at: Timestamp,
    ) -> Self {
        Self { kind, user, actor: None, session: None, client, detail: None, at }
    }

    /// An event that a principal caused about themselves, in the current session.
    #[must_use]
    pub const fn by(caller: &Principal, kind: SecurityEventKind, client: ClientInfo, at: Timestamp) -> Self {
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
}

/// The filter of a list of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SecurityEventFilter {
    /// Only events about this user.
    pub user: Option<UserId>,
    pub kind: Option<SecurityEventKind>,
}
