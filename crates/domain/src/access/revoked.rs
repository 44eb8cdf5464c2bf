//! What overrules a signed token before its end: sessions that ended, and people whose standing changed.
//!
//! A server reads this every few seconds instead of asking a database at each request. It stays small, because
//! whatever happened longer ago than a token lives is in no token any more.

use std::collections::{HashMap, HashSet};

use super::Caller;
use crate::ids::{SessionId, UserId};
use crate::people::Role;
use crate::timestamp::Timestamp;

/// The epoch of the data that an access token belongs to. A restore from a backup starts a new one, so that
/// no valid token contains an id that is assigned a second time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Epoch(pub i64);

/// How a person stands now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Their role.
    pub role: Role,
    /// Whether they are shut out.
    pub suspended: bool,
}

/// What happened within the life of a token.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Revoked {
    /// Sessions that ended.
    pub sessions: HashSet<SessionId>,
    /// People whose role or suspension changed, as they stand now.
    pub standings: HashMap<UserId, Standing>,
    /// The epoch of the data; tokens of another one are worth nothing.
    pub epoch: Epoch,
    /// The time by the storage's clock, for comparison with the server's; `None` if the storage has no clock.
    pub storage_time: Option<Timestamp>,
}

/// Why a caller with a valid token is turned away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turned {
    /// Their session ended.
    SessionEnded,
    /// They are suspended.
    Suspended,
}

impl Revoked {
    /// The caller that a valid token names, as they stand now.
    ///
    /// # Errors
    /// [`Turned`]; a suspension is told even where the session ended.
    pub fn judge(&self, caller: Caller) -> Result<Caller, Turned> {
        let standing = self.standings.get(&caller.user);
        if standing.is_some_and(|standing| standing.suspended) {
            return Err(Turned::Suspended);
        }
        if self.sessions.contains(&caller.session) {
            return Err(Turned::SessionEnded);
        }
        Ok(Caller { role: standing.map_or(caller.role, |standing| standing.role), ..caller })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(user: i64, session: i64) -> Caller {
        let (user, session) = (UserId::new(user).unwrap(), SessionId::new(session).unwrap());
        Caller { user, role: Role::Operator, is_dj: false, session }
    }

    #[test]
    fn what_happened_since_overrules_the_token() {
        let standing = |role, suspended| Standing { role, suspended };
        let user = |number| UserId::new(number).unwrap();
        let revoked = Revoked {
            sessions: HashSet::from([SessionId::new(3).unwrap()]),
            standings: HashMap::from([
                (user(1), standing(Role::Member, false)),
                (user(2), standing(Role::Operator, true)),
            ]),
            ..Revoked::default()
        };
        assert_eq!(revoked.judge(caller(1, 1)).unwrap().role, Role::Member);
        assert_eq!(revoked.judge(caller(2, 1)), Err(Turned::Suspended));
        assert_eq!(revoked.judge(caller(2, 3)), Err(Turned::Suspended));
        assert_eq!(revoked.judge(caller(9, 3)), Err(Turned::SessionEnded));
        assert_eq!(revoked.judge(caller(9, 4)), Ok(caller(9, 4)));
    }
}
