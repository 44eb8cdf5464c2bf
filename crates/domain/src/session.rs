//! Sessions: one login each. Their refresh tokens are used once, and a used one presented again ends the session.

use core::net::IpAddr;

use time::Duration;

use crate::ids::{SessionId, UserId};
use crate::text::Line;
use crate::timestamp::Timestamp;

/// The SHA-256 of a refresh token or of a code: what is stored in place of it. It prints as nothing, because a code of
/// six digits can be found again from its hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl core::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("TokenHash([hidden])")
    }
}

/// From where somebody calls, as far as that is known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Visitor {
    /// Their address on the network.
    pub address: Option<IpAddr>,
    /// What their program calls itself.
    pub agent: Option<Line>,
}

/// A session: all refresh tokens that descend from one login.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// Which.
    pub id: SessionId,
    /// Whose.
    pub user: UserId,
    /// From where it was begun.
    pub visitor: Visitor,
    /// When it was begun.
    pub began_at: Timestamp,
    /// When its newest token was issued.
    pub used_at: Timestamp,
    /// When its newest token ends.
    pub expires_at: Timestamp,
}

impl Session {
    /// How long a session is kept after its end, so that its access tokens are still known to be worth nothing.
    pub const KEPT: Duration = Duration::days(2);

    /// A session that begins now, with a token that is valid for this long.
    #[must_use]
    pub fn begin(id: SessionId, user: UserId, visitor: Visitor, now: Timestamp, valid_for: Duration) -> Self {
        Self { id, user, visitor, began_at: now, used_at: now, expires_at: now.plus(valid_for) }
    }

    /// Whether it is alive at this moment, when it was ended then, if it was.
    #[must_use]
    pub fn is_alive(&self, ended_at: Option<Timestamp>, now: Timestamp) -> bool {
        ended_at.is_none() && now < self.expires_at
    }

    /// Its first token, as it is kept.
    #[must_use]
    pub const fn first_token(&self, hash: TokenHash) -> RefreshToken {
        RefreshToken {
            hash,
            session: self.id,
            user: self.user,
            issued_at: self.began_at,
            expires_at: self.expires_at,
            used_at: None,
        }
    }
}

/// A refresh token as it is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefreshToken {
    /// What the token hashes to.
    pub hash: TokenHash,
    /// Which login it descends from.
    pub session: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
    /// When it was exchanged for the next one, if it was.
    pub used_at: Option<Timestamp>,
}

/// What presenting a token that is kept, in a session that was not ended, comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presented {
    /// It is exchanged for the next one.
    Exchange,
    /// It was used before: somebody else has it, so its session ends.
    EndSession,
    /// It is too old.
    Refuse,
}

impl RefreshToken {
    /// What presenting the token at this moment comes to.
    #[must_use]
    pub fn presented(&self, now: Timestamp) -> Presented {
        if self.used_at.is_some() {
            Presented::EndSession
        } else if now >= self.expires_at {
            Presented::Refuse
        } else {
            Presented::Exchange
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_exchanged_once_before_its_end() {
        let (id, user) = (SessionId::new(1).unwrap(), UserId::new(1).unwrap());
        let session = Session::begin(id, user, Visitor::default(), Timestamp::EPOCH, Duration::days(30));
        let end = session.expires_at;
        let mut token = session.first_token(TokenHash([0; 32]));
        assert_eq!(token.presented(end.minus(Duration::MICROSECOND)), Presented::Exchange);
        assert_eq!(token.presented(end), Presented::Refuse);
        token.used_at = Some(Timestamp::EPOCH);
        assert_eq!(token.presented(Timestamp::EPOCH), Presented::EndSession);
        assert_eq!(token.presented(end), Presented::EndSession);
    }
}
