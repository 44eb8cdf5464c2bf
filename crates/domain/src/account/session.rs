//! Sessions: one login each. Their refresh tokens are used once. A used one presented again ends the session, unless the
//! call repeats an exchange with an answer that may have been lost.

use core::net::IpAddr;

use time::Duration;

use crate::ids::{SessionId, UserId};
use crate::network::ClientNetwork;
use crate::text::Line;
use crate::timestamp::Timestamp;

/// What is stored in place of a secret: the SHA-256 of a token that nobody can guess, or the HMAC-SHA256, under a key of this
/// service, of what can be guessed. It prints as nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl core::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("TokenHash([hidden])")
    }
}

/// The period after an exchange or a registration in which a repeated call gets the same token. It covers the
/// timeout of a client that lost the answer, commonly 30 seconds, and one or two retries; a longer period
/// would only help the thief of an old token.
pub const REPEATABLE_FOR: Duration = Duration::seconds(60);

/// Whether a call at this moment may repeat one that was carried out at `first`. Clocks of servers differ, so the second
/// call may seem earlier; a clock that is further off than the period repeats nothing.
pub(crate) fn repeats(first: Timestamp, now: Timestamp) -> bool {
    first.minus(REPEATABLE_FOR) < now && now < first.plus(REPEATABLE_FOR)
}

/// A derived token under each key that it may have been derived with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidates<T> {
    /// The token under the key that signs now: the one to issue.
    pub current: T,
    /// The tokens under the other keys that are still valid, in no particular order.
    pub others: Vec<T>,
}

impl<T> Candidates<T> {
    /// All candidates, the one to issue first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        core::iter::once(&self.current).chain(&self.others)
    }

    /// The same candidates in another form, such as the hashes of tokens.
    #[must_use]
    pub fn map<U>(&self, form: impl Fn(&T) -> U) -> Candidates<U> {
        Candidates { current: form(&self.current), others: self.others.iter().map(&form).collect() }
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

impl Visitor {
    /// The network that they call from.
    #[must_use]
    pub fn network(&self) -> Option<ClientNetwork> {
        self.address.map(ClientNetwork::of)
    }
}

/// A session: all refresh tokens that descend from one login.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// Which.
    pub id: SessionId,
    /// Ownership.
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

    /// The most live sessions of one person, so that ending all of them, as a suspension does, is a small change.
    pub const MOST_ALIVE: usize = 100;

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

    /// Whether a registration that is repeated at this moment gets this live session: the session began with the account,
    /// and its first token is unused.
    #[must_use]
    pub fn answers_registration(&self, registered_at: Timestamp, now: Timestamp) -> bool {
        self.began_at == registered_at && self.used_at == self.began_at && repeats(registered_at, now)
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
    /// Its user.
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
pub enum PresentedToken {
    /// It is exchanged for the next one.
    Exchange,
    /// It was exchanged a moment ago for the token with this hash, which is unused: the same token is issued again.
    Repeat(TokenHash),
    /// It was used before: another party has it, so its session ends.
    EndSession,
    /// It is too old.
    Refuse,
}

impl RefreshToken {
    /// What presenting the token at this moment comes to; `successor` is the stored token that has one of the hashes of the
    /// tokens derived from this one, if there is one.
    #[must_use]
    pub fn presented(&self, successor: Option<&Self>, now: Timestamp) -> PresentedToken {
        match self.used_at {
            Some(used_at) => match successor {
                Some(successor) if successor.follows(self, now) && repeats(used_at, now) => {
                    PresentedToken::Repeat(successor.hash)
                }
                _ => PresentedToken::EndSession,
            },
            None if now >= self.expires_at => PresentedToken::Refuse,
            None => PresentedToken::Exchange,
        }
    }

    /// Whether it is an unused token of the same session as `before`, and valid at this moment.
    fn follows(&self, before: &Self, now: Timestamp) -> bool {
        self.session == before.session && self.used_at.is_none() && now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        let (id, user) = (SessionId::new(1).unwrap(), UserId::new(1).unwrap());
        Session::begin(id, user, Visitor::default(), Timestamp::EPOCH, Duration::days(30))
    }

    fn after(duration: Duration) -> Timestamp {
        Timestamp::EPOCH.plus(duration)
    }

    /// A token that was exchanged at the epoch, and its successor.
    fn exchanged() -> (RefreshToken, RefreshToken) {
        let token = session().first_token(TokenHash([0; 32]));
        let successor = RefreshToken { hash: TokenHash([1; 32]), ..token.clone() };
        (RefreshToken { used_at: Some(Timestamp::EPOCH), ..token }, successor)
    }

    #[test]
    fn a_token_is_exchanged_once_before_its_end() {
        let end = session().expires_at;
        let mut token = session().first_token(TokenHash([0; 32]));
        assert_eq!(token.presented(None, end.minus(Duration::MICROSECOND)), PresentedToken::Exchange);
        assert_eq!(token.presented(None, end), PresentedToken::Refuse);
        token.used_at = Some(Timestamp::EPOCH);
        assert_eq!(token.presented(None, Timestamp::EPOCH), PresentedToken::EndSession);
        assert_eq!(token.presented(None, end), PresentedToken::EndSession);
    }

    #[test]
    fn an_exchange_is_repeated_for_a_minute() {
        let (minute, tick) = (Duration::seconds(60), Duration::MICROSECOND);
        let (token, successor) = exchanged();
        let repeated = PresentedToken::Repeat(successor.hash);
        for (passed, expected) in [
            (Duration::ZERO, repeated),
            (minute - tick, repeated),
            (minute, PresentedToken::EndSession),
            (minute + tick, PresentedToken::EndSession),
            (Duration::days(365), PresentedToken::EndSession),
            // Another server's clock.
            (tick - minute, repeated),
            (-minute, PresentedToken::EndSession),
            (Duration::days(-365), PresentedToken::EndSession),
        ] {
            assert_eq!(token.presented(Some(&successor), after(passed)), expected, "{passed}");
        }
    }

    #[test]
    fn only_an_unused_and_valid_successor_of_the_same_session_is_issued_again() {
        let (token, successor) = exchanged();
        let now = after(Duration::SECOND);
        let presented = |successor: &RefreshToken| token.presented(Some(successor), now);
        let used = RefreshToken { used_at: Some(now), ..successor.clone() };
        let foreign = RefreshToken { session: SessionId::new(2).unwrap(), ..successor.clone() };
        let old = RefreshToken { expires_at: now, ..successor.clone() };
        for ended in [used, foreign, old] {
            assert_eq!(presented(&ended), PresentedToken::EndSession, "{ended:?}");
        }
        let young = RefreshToken { expires_at: now.plus(Duration::MICROSECOND), ..successor.clone() };
        assert_eq!(presented(&young), PresentedToken::Repeat(successor.hash));
        // The successor decides nothing while the token itself is unused.
        let unused = RefreshToken { used_at: None, ..token.clone() };
        assert_eq!(unused.presented(Some(&successor), now), PresentedToken::Exchange);
    }

    #[test]
    fn a_token_that_ended_after_its_exchange_is_still_repeated() {
        let (token, successor) = exchanged();
        let token = RefreshToken { expires_at: after(Duration::MICROSECOND), ..token };
        let now = after(Duration::SECOND);
        assert_eq!(token.presented(Some(&successor), now), PresentedToken::Repeat(successor.hash));
    }

    #[test]
    fn a_registration_is_answered_again_for_a_minute_while_its_token_is_unused() {
        let (minute, tick) = (Duration::seconds(60), Duration::MICROSECOND);
        let first = session();
        for (passed, expected) in [
            (Duration::ZERO, true),
            (minute - tick, true),
            (minute, false),
            (tick - minute, true),
            (-minute, false),
        ] {
            assert_eq!(first.answers_registration(Timestamp::EPOCH, after(passed)), expected, "{passed}");
        }
        let used = Session { used_at: after(tick), ..first.clone() };
        assert!(!used.answers_registration(Timestamp::EPOCH, after(tick)));
        // A login, in the same minute.
        assert!(!first.answers_registration(after(tick), after(tick)));
    }
}
