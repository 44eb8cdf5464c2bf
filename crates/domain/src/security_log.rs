//! The security log: an append-only record of authentication and of changes to users.

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use time::Duration;

use crate::authorization::Principal;
use crate::ids::{SessionId, UserId};
use crate::names::{explained_enum, named_enum};
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;
use crate::user::session::ClientInfo;

/// The kind of an event.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum SecurityEventKind {
    /// A user registered.
    Registered,
    /// A user logged in.
    LoggedIn,
    /// A login failed. The event names the user, if there is one.
    LoginFailed,
    /// A user ended one session.
    SessionEnded,
    /// A user ended all sessions, or all other sessions.
    SessionsEnded,
    /// A used refresh token was presented again, which ended its session.
    RefreshTokenReused,
    /// A user changed the password with the current one.
    PasswordChanged,
    /// A user gave a wrong current password.
    PasswordChangeFailed,
    /// A message for a password reset was sent.
    PasswordResetRequested,
    /// The password was reset by e-mail.
    PasswordReset,
    /// The e-mail address was verified.
    EmailVerified,
    /// The phone number was verified.
    PhoneVerified,
    /// A user requested a change of the e-mail address with the password.
    EmailChangeRequested,
    /// The e-mail address was changed.
    EmailChanged,
    /// The previous e-mail address was restored, with a new password.
    EmailRestored,
    /// A code was wrong or expired.
    CodeRefused,
    /// A user exported the personal data.
    DataExported,
    /// A user erased the personal data.
    DataErased,
    /// A user created a personal access token. The detail names it.
    PersonalTokenCreated,
    /// A user ended a personal access token. The detail names it.
    PersonalTokenEnded,
    /// A wallet link was used, which ended all other sessions of the guest account.
    WalletLinkUsed,
    /// A webhook endpoint was created, changed, removed or used. The detail names it.
    WebhookEndpointChanged,
    /// A user without the required role, or a personal access token, called an operation for staff. The detail names the
    /// route.
    AccessDenied,
    /// An operator acted. The detail gives the action, the object with its transition, and the reason.
    OperatorAction,
    /// An event kind of a newer version.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(SecurityEventKind, Unknown);
explained_enum!(SecurityEventKind);

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

    /// The event as the affected user may see it: the identity, session and client info of operators, and of the person
    /// at the machine, are withheld.
    #[must_use]
    pub fn shown_to(self, user: UserId) -> Self {
        let is_by_staff =
            self.actor.map_or(self.kind == SecurityEventKind::OperatorAction, |actor| actor != user);
        if is_by_staff {
            return Self { actor: None, session: None, client: ClientInfo::default(), ..self };
        }
        self
    }
}

/// The filter of a list of events.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SecurityEventFilter {
    /// Only events about this user.
    pub user: Option<UserId>,
    pub kind: Option<SecurityEventKind>,
}
