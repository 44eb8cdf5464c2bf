//! Sessions of browsers. Their secret is a cookie, which does not change while the session lives.

use time::Duration;

use crate::timestamp::Timestamp;
use crate::user::Role;
use crate::user::session::Session;

/// The length of a cookie: the base64 form of 32 bytes.
const SECRET_LENGTH: usize = 43;

/// A session with a cookie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CookieSession(pub Session);

impl CookieSession {
    /// The lifetime of a session of staff, after the login.
    pub const STAFF_LIFETIME: Duration = Duration::hours(12);

    /// The minimum time between two records of the use of a session, so that most requests write nothing.
    pub const RECORDED_EVERY: Duration = Duration::HOUR;

    /// Whether this text can be a cookie.
    #[must_use]
    pub fn is_well_formed(secret: &str) -> bool {
        secret.len() == SECRET_LENGTH
            && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    }

    /// The lifetime of a new session. A session of staff ends [`CookieSession::STAFF_LIFETIME`] after the login, however
    /// it is used. Any other session has its [lifetime](Session::lifetime) after its last use.
    #[must_use]
    pub fn lifetime(role: Role, valid_for: Duration) -> Duration {
        if role.is_staff() { valid_for.min(Self::STAFF_LIFETIME) } else { Session::lifetime(role, valid_for) }
    }

    /// The time from which the session is refused if its owner has this role, whichever role its owner had at the login.
    #[must_use]
    pub fn expires_at(&self, role: Role) -> Timestamp {
        Self::limited(role, self.0.began_at, self.0.expires_at)
    }

    fn limited(role: Role, began_at: Timestamp, end: Timestamp) -> Timestamp {
        if role.is_staff() { end.min(began_at.plus(Self::STAFF_LIFETIME)) } else { end }
    }

    /// The session after a use at `now` by an owner with this role; `None` if the use need not be recorded.
    #[must_use]
    pub fn used(&self, role: Role, valid_for: Duration, now: Timestamp) -> Option<Self> {
        let Session { began_at, used_at, .. } = self.0;
        (now >= used_at.plus(Self::RECORDED_EVERY)).then(|| {
            let end = now.plus(Session::lifetime(role, valid_for));
            let expires_at = Self::limited(role, began_at, end);
            Self(Session { used_at: now, expires_at, ..self.0.clone() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{SessionId, UserId};
    use crate::user::session::ClientInfo;

    const VALID_FOR: Duration = Duration::days(90);

    fn after(duration: Duration) -> Timestamp {
        Timestamp::EPOCH.plus(duration)
    }

    /// A session of a login at the epoch by a user with this role.
    fn begun(role: Role) -> CookieSession {
        let (id, user) = (SessionId::new(3).unwrap(), UserId::new(7).unwrap());
        let lifetime = CookieSession::lifetime(role, VALID_FOR);
        CookieSession(Session::begin(id, user, ClientInfo::default(), Timestamp::EPOCH, lifetime))
    }

    #[test]
    fn a_session_of_users_lives_from_its_last_use_and_one_of_staff_from_its_login() {
        let use_at = Duration::hours(10);
        for (role, at_login, after_use) in [
            (Role::Guest, Session::GUEST_LIFETIME, Session::GUEST_LIFETIME + use_at),
            (Role::Member, VALID_FOR, VALID_FOR + use_at),
            (Role::Operator, Duration::hours(12), Duration::hours(12)),
            (Role::Auditor, Duration::hours(12), Duration::hours(12)),
        ] {
            let session = begun(role);
            assert_eq!(session.0.expires_at, after(at_login), "{role:?}");
            let used = session.used(role, VALID_FOR, after(use_at)).unwrap();
            assert_eq!((used.0.used_at, used.0.expires_at), (after(use_at), after(after_use)), "{role:?}");
        }
    }

    #[test]
    fn a_use_is_recorded_at_most_once_an_hour() {
        let (session, hour) = (begun(Role::Member), Duration::HOUR);
        for (passed, recorded) in [
            (-hour, false),
            (Duration::ZERO, false),
            (hour - Duration::MICROSECOND, false),
            (hour, true),
            (Duration::days(30), true),
        ] {
            assert_eq!(session.used(Role::Member, VALID_FOR, after(passed)).is_some(), recorded, "{passed}");
        }
    }

    #[test]
    fn a_new_member_of_the_staff_keeps_a_session_for_twelve_hours_after_its_login() {
        let session = begun(Role::Member);
        assert_eq!(session.expires_at(Role::Member), after(VALID_FOR));
        assert_eq!(session.expires_at(Role::Operator), after(Duration::hours(12)));
        let used = session.used(Role::Operator, VALID_FOR, after(Duration::hours(11))).unwrap();
        assert_eq!(used.0.expires_at, after(Duration::hours(12)));
        // A dismissed operator is a member: the session is extended from the next use.
        let former = begun(Role::Operator);
        assert_eq!(former.expires_at(Role::Member), after(Duration::hours(12)));
        let used = former.used(Role::Member, VALID_FOR, after(Duration::hours(11))).unwrap();
        assert_eq!(used.expires_at(Role::Member), after(Duration::hours(11) + VALID_FOR));
    }

    #[test]
    fn a_cookie_is_the_base64_form_of_32_bytes() {
        let valid = "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c";
        assert!(CookieSession::is_well_formed(valid));
        for invalid in ["", "bntE", &valid.replace('_', "+"), &format!("{valid}A")] {
            assert!(!CookieSession::is_well_formed(invalid), "{invalid}");
        }
    }
}
