//! Stored credentials as servers find them by their secret, and the principals that they are valid for.

use super::{Principal, UserStatus};
use crate::timestamp::Timestamp;
use crate::user::Role;
use crate::user::cookie_session::CookieSession;
use crate::user::personal_token::PersonalToken;
use crate::user::session::Session;

/// A session whose secret alone authenticates requests.
pub trait Credential: Send + Sync {
    /// The session.
    fn session(&self) -> &Session;

    /// The time from which it is refused if its owner has this role.
    fn expires_at(&self, role: Role) -> Timestamp;
}

impl Credential for PersonalToken {
    fn session(&self) -> &Session {
        &self.session
    }

    fn expires_at(&self, _: Role) -> Timestamp {
        self.session.expires_at
    }
}

impl Credential for CookieSession {
    fn session(&self) -> &Session {
        &self.0
    }

    fn expires_at(&self, role: Role) -> Timestamp {
        self.expires_at(role)
    }
}

/// A stored credential, as a server finds it by its secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundCredential<C> {
    /// The credential.
    pub credential: C,
    /// The time at which it was ended, if it was.
    pub ended_at: Option<Timestamp>,
    /// The current status of its owner.
    pub owner: UserStatus,
}

/// A stored personal access token.
pub type FoundToken = FoundCredential<PersonalToken>;

/// A stored session with a cookie.
pub type FoundCookie = FoundCredential<CookieSession>;

/// Why a stored credential is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CredentialEnd {
    /// Its owner is suspended.
    Suspended,
    /// It was ended.
    Ended,
    /// It has expired.
    Expired,
}

impl<C: Credential> FoundCredential<C> {
    /// The time from which the credential is refused.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.credential.expires_at(self.owner.role)
    }

    /// The principal of the credential at `now`. A suspension takes precedence, as for access tokens.
    ///
    /// # Errors
    /// [`CredentialEnd`].
    pub fn principal(&self, now: Timestamp) -> Result<Principal, CredentialEnd> {
        let Session { id, user, .. } = *self.credential.session();
        if self.owner.suspended {
            return Err(CredentialEnd::Suspended);
        }
        if self.ended_at.is_some() {
            return Err(CredentialEnd::Ended);
        }
        if now >= self.expires_at() {
            return Err(CredentialEnd::Expired);
        }
        Ok(Principal { user, role: self.owner.role, is_dj: self.owner.is_dj, session: id })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use time::Duration;

    use super::*;
    use crate::authorization::Action;
    use crate::ids::{SessionId, UserId};
    use crate::text::Line;
    use crate::user::personal_token::{TokenDays, TokenScope};
    use crate::user::session::ClientInfo;

    fn found() -> FoundToken {
        let (id, user) = (SessionId::new(3).unwrap(), UserId::new(7).unwrap());
        let lifetime = TokenDays::default().duration();
        let session = Session::begin(id, user, ClientInfo::default(), Timestamp::EPOCH, lifetime);
        let token = PersonalToken {
            session,
            name: Line::new("Display").unwrap(),
            scopes: BTreeSet::from([TokenScope::GigsRead]),
        };
        let owner = UserStatus { role: Role::Operator, is_dj: true, suspended: false };
        FoundToken { credential: token, ended_at: None, owner }
    }

    #[test]
    fn a_token_permits_the_actions_of_its_scopes_and_no_others() {
        let one = |scope| BTreeSet::from([scope]);
        let all: BTreeSet<_> = TokenScope::all().collect();
        for action in Action::ALL {
            let permitted = (
                action.is_permitted_by(&one(TokenScope::EventsRead)),
                action.is_permitted_by(&one(TokenScope::GigsRead)),
                action.is_permitted_by(&all),
                action.is_permitted_by(&BTreeSet::new()),
            );
            let expected = match action {
                Action::ReadEvents => (true, false, true, false),
                Action::ReadGig => (false, true, true, false),
                _ => (false, false, false, false),
            };
            assert_eq!(permitted, expected, "{action:?}");
        }
    }

    #[test]
    fn a_token_is_valid_until_it_expires_or_ends_or_its_owner_is_suspended() {
        let token = found();
        let end = token.credential.session.expires_at;
        let principal = token.principal(end.minus(Duration::MICROSECOND)).unwrap();
        assert_eq!((principal.user.get(), principal.session.get()), (7, 3));
        assert_eq!((principal.role, principal.is_dj), (Role::Operator, true));
        assert_eq!(token.principal(end), Err(CredentialEnd::Expired));
        let ended = FoundToken { ended_at: Some(Timestamp::EPOCH), ..token.clone() };
        assert_eq!(ended.principal(Timestamp::EPOCH), Err(CredentialEnd::Ended));
        let owner = UserStatus { suspended: true, ..token.owner };
        assert_eq!(FoundToken { owner, ..ended }.principal(end), Err(CredentialEnd::Suspended));
    }

    #[test]
    fn the_cookie_of_a_user_who_became_an_operator_is_refused_twelve_hours_after_the_login() {
        let (id, user) = (SessionId::new(3).unwrap(), UserId::new(7).unwrap());
        let session = Session::begin(id, user, ClientInfo::default(), Timestamp::EPOCH, Duration::days(90));
        let owner = UserStatus { role: Role::Member, is_dj: false, suspended: false };
        let cookie = FoundCookie { credential: CookieSession(session), ended_at: None, owner };
        let end = Timestamp::EPOCH.plus(CookieSession::STAFF_LIFETIME);
        assert!(cookie.principal(end).is_ok());
        let operator = FoundCookie { owner: UserStatus { role: Role::Operator, ..owner }, ..cookie };
        assert!(operator.principal(end.minus(Duration::MICROSECOND)).is_ok());
        assert_eq!(operator.principal(end), Err(CredentialEnd::Expired));
    }
}
