//! Refresh tokens: each is used once, and a used one presented again ends its whole family.

use crate::ids::UserId;
use crate::timestamp::Timestamp;

/// The SHA-256 of a refresh token: what is stored in place of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TokenHash(pub [u8; 32]);

/// All refresh tokens that descend from one login.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FamilyId(pub u128);

/// A refresh token as it is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefreshToken {
    /// What the token hashes to.
    pub hash: TokenHash,
    /// Which login it descends from.
    pub family: FamilyId,
    /// Whose it is.
    pub user: UserId,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
    /// When it was exchanged for the next one, if it was.
    pub used_at: Option<Timestamp>,
}

/// What presenting a token that is kept, in a family that was not ended, comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presented {
    /// It is exchanged for the next one.
    Exchange,
    /// It was used before: somebody else has it, so its family ends.
    EndFamily,
    /// It is too old.
    Refuse,
}

impl RefreshToken {
    /// What presenting the token at this moment comes to.
    #[must_use]
    pub fn presented(&self, now: Timestamp) -> Presented {
        if self.used_at.is_some() {
            Presented::EndFamily
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
    use time::Duration;

    #[test]
    fn a_token_is_exchanged_once_before_its_end() {
        let end = Timestamp::EPOCH.plus(Duration::days(30));
        let mut token = RefreshToken {
            hash: TokenHash([0; 32]),
            family: FamilyId(1),
            user: UserId::new(1).unwrap(),
            issued_at: Timestamp::EPOCH,
            expires_at: end,
            used_at: None,
        };
        assert_eq!(token.presented(end.minus(Duration::MICROSECOND)), Presented::Exchange);
        assert_eq!(token.presented(end), Presented::Refuse);
        token.used_at = Some(Timestamp::EPOCH);
        assert_eq!(token.presented(Timestamp::EPOCH), Presented::EndFamily);
        assert_eq!(token.presented(end), Presented::EndFamily);
    }
}
