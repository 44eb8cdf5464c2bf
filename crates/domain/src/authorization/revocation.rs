//! The revocation list: sessions that ended, and users with a changed status, before their access tokens expire.
//!
//! A server reads it every few seconds instead of querying a database on each request. It stays small,
//! because a change that is older than the validity of a token affects no valid token.

use std::collections::{HashMap, HashSet};

use super::Principal;
use crate::ids::{SessionId, UserId};
use crate::timestamp::Timestamp;
use crate::user::{Role, User};

/// The epoch of the data that an access token belongs to. A restore from a backup starts a new one, so that
/// no valid token contains an id that is assigned a second time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Epoch(pub i64);

/// The current role, capacity as a DJ and suspension of a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserStatus {
    pub role: Role,
    /// Whether the user is a DJ.
    pub is_dj: bool,
    /// Whether the user is suspended.
    pub suspended: bool,
}

impl UserStatus {
    /// The status of this user.
    #[must_use]
    pub const fn of(user: &User) -> Self {
        Self { role: user.role, is_dj: user.is_dj(), suspended: user.suspended_at.is_some() }
    }
}

/// The changes within the validity of an access token.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RevocationList {
    /// Sessions that ended.
    pub sessions: HashSet<SessionId>,
    /// The current status of users with a changed role or suspension, and of new DJs.
    pub statuses: HashMap<UserId, UserStatus>,
    /// The epoch of the data; tokens of another epoch are invalid.
    pub epoch: Epoch,
    /// The time by the storage's clock, for comparison with the server's; `None` if the storage has no clock.
    pub storage_time: Option<Timestamp>,
}

/// Why a principal with a valid token is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Revocation {
    #[error("the session has ended")]
    SessionEnded,
    /// The user is suspended.
    #[error("the user is suspended")]
    Suspended,
}

impl RevocationList {
    /// The principal of a valid token, with their current capacities.
    ///
    /// # Errors
    /// [`Revocation`]; a suspension takes precedence over an ended session.
    pub fn check(&self, principal: Principal) -> Result<Principal, Revocation> {
        let status = self.statuses.get(&principal.user);
        if status.is_some_and(|status| status.suspended) {
            return Err(Revocation::Suspended);
        }
        if self.sessions.contains(&principal.session) {
            return Err(Revocation::SessionEnded);
        }
        Ok(match status {
            Some(status) => Principal { role: status.role, is_dj: status.is_dj, ..principal },
            None => principal,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(user: i64, session: i64) -> Principal {
        let (user, session) = (UserId::new(user).unwrap(), SessionId::new(session).unwrap());
        Principal { user, role: Role::Operator, is_dj: false, session }
    }

    #[test]
    fn the_revocation_list_overrides_the_access_token() {
        let status = |role, suspended| UserStatus { role, is_dj: true, suspended };
        let user = |number| UserId::new(number).unwrap();
        let revoked = RevocationList {
            sessions: HashSet::from([SessionId::new(3).unwrap()]),
            statuses: HashMap::from([
                (user(1), status(Role::Member, false)),
                (user(2), status(Role::Operator, true)),
            ]),
            ..RevocationList::default()
        };
        let member = revoked.check(caller(1, 1)).unwrap();
        assert_eq!((member.role, member.is_dj), (Role::Member, true));
        assert_eq!(revoked.check(caller(2, 1)), Err(Revocation::Suspended));
        assert_eq!(revoked.check(caller(2, 3)), Err(Revocation::Suspended));
        assert_eq!(revoked.check(caller(9, 3)), Err(Revocation::SessionEnded));
        assert_eq!(revoked.check(caller(9, 4)), Ok(caller(9, 4)));
    }
}
