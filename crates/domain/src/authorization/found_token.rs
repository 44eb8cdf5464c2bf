//! Personal access tokens as servers find them, and the principals that they are valid for.

use super::{Principal, UserStatus};
use crate::timestamp::Timestamp;
use crate::user::personal_token::PersonalToken;
use crate::user::session::Session;

/// A stored token, as a server finds it by its secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundToken {
    /// The token.
    pub token: PersonalToken,
    /// The time at which it was ended, if it was.
    pub ended_at: Option<Timestamp>,
    /// The current status of its owner.
    pub owner: UserStatus,
}

/// Why a stored token is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenEnd {
    /// Its owner is suspended.
    Suspended,
    /// It was ended.
    Ended,
    /// It has expired.
    Expired,
}

impl FoundToken {
    /// The principal of the token at `now`. A suspension takes precedence, as for access tokens.
    ///
    /// # Errors
    /// [`TokenEnd`].
    pub fn principal(&self, now: Timestamp) -> Result<Principal, TokenEnd> {
        let Session { id, user, expires_at, .. } = self.token.session;
        if self.owner.suspended {
            return Err(TokenEnd::Suspended);
        }
        if self.ended_at.is_some() {
            return Err(TokenEnd::Ended);
        }
        if now >= expires_at {
            return Err(TokenEnd::Expired);
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
    use crate::user::Role;
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
        FoundToken { token, ended_at: None, owner }
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
        let end = token.token.session.expires_at;
        let principal = token.principal(end.minus(Duration::MICROSECOND)).unwrap();
        assert_eq!((principal.user.get(), principal.session.get()), (7, 3));
        assert_eq!((principal.role, principal.is_dj), (Role::Operator, true));
        assert_eq!(token.principal(end), Err(TokenEnd::Expired));
        let ended = FoundToken { ended_at: Some(Timestamp::EPOCH), ..token.clone() };
        assert_eq!(ended.principal(Timestamp::EPOCH), Err(TokenEnd::Ended));
        let owner = UserStatus { suspended: true, ..token.owner };
        assert_eq!(FoundToken { owner, ..ended }.principal(end), Err(TokenEnd::Suspended));
    }
}
