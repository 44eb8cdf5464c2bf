//! Sessions: one per login, each with refresh tokens or with a cookie. Refresh tokens are single-use; presenting a used
//! one again ends the session, unless the request repeats an exchange with a possibly lost response.

use core::net::IpAddr;

use time::Duration;

use crate::ids::{SessionId, UserId};
use crate::network::ClientNetwork;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::user::Role;

/// The stored hash of a secret: the SHA-256 of an unguessable token, or, for guessable secrets, an
/// HMAC-SHA256 under a key of this service. Redacted in `Debug` output.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl core::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("TokenHash([hidden])")
    }
}

/// The kind of secret with which a session is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecretKind {
    /// A refresh token, which is exchanged for access tokens.
    RefreshToken,
    /// A cookie, which a browser presents with each request.
    Cookie,
}

/// The stored secret of a session. A session has refresh tokens or one cookie, never both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionSecret {
    /// A refresh token.
    RefreshToken(TokenHash),
    /// A cookie.
    Cookie(TokenHash),
}

impl SessionSecret {
    /// A secret of this kind with this hash.
    #[must_use]
    pub const fn new(kind: SecretKind, hash: TokenHash) -> Self {
        match kind {
            SecretKind::RefreshToken => Self::RefreshToken(hash),
            SecretKind::Cookie => Self::Cookie(hash),
        }
    }

    /// The hash of the cookie, if it is one.
    #[must_use]
    pub const fn cookie(self) -> Option<TokenHash> {
        match self {
            Self::RefreshToken(_) => None,
            Self::Cookie(hash) => Some(hash),
        }
    }
}

/// The period after an exchange or a registration in which a repeated request gets the same token. It covers
/// the timeout of a client that lost the response, commonly 30 seconds, and one or two retries; a longer
/// period would only help the thief of an old token.
pub const REPEATABLE_FOR: Duration = Duration::seconds(60);

/// Whether a request at `now` may repeat the one executed at `first`. Server clocks differ, so the repeat may
/// appear earlier; a clock skew longer than the period allows no repeat.
pub(crate) fn repeats(first: Timestamp, now: Timestamp) -> bool {
    first.minus(REPEATABLE_FOR) < now && now < first.plus(REPEATABLE_FOR)
}

/// A derived token under each key that it may have been derived with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidates<T> {
    /// The token under the current signing key: the one to issue.
    pub current: T,
    /// The tokens under the other valid keys, in no particular order.
    pub others: Vec<T>,
}

impl<T> Candidates<T> {
    /// All candidates, the one to issue first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        core::iter::once(&self.current).chain(&self.others)
    }

    /// Maps the candidates, for example to the hashes of tokens.
    #[must_use]
    pub fn map<U>(&self, form: impl Fn(&T) -> U) -> Candidates<U> {
        Candidates { current: form(&self.current), others: self.others.iter().map(&form).collect() }
    }
}

/// Client info, as far as known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClientInfo {
    /// The client's IP address.
    pub address: Option<IpAddr>,
    /// The client's user agent.
    pub agent: Option<Line>,
}

impl ClientInfo {
    /// The client's network.
    #[must_use]
    pub fn network(&self) -> Option<ClientNetwork> {
        self.address.map(ClientNetwork::of)
    }
}

/// A session: all refresh tokens that descend from one login, or one cookie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// The session's id.
    pub id: SessionId,
    /// The owner.
    pub user: UserId,
    /// The client info at login.
    pub client: ClientInfo,
    /// The time of login.
    pub began_at: Timestamp,
    /// The time at which the newest token was issued, or the recorded last use of the cookie.
    pub used_at: Timestamp,
    /// The time at which the newest token or the cookie expires.
    pub expires_at: Timestamp,
}

impl Session {
    /// The retention of a session after its end, so that its access tokens remain on the revocation list.
    pub const RETENTION: Duration = Duration::days(2);

    /// The maximum number of live sessions per user, so that ending all of them, as a suspension does, is a
    /// small change.
    pub const MAX_LIVE: usize = 100;

    /// The lifetime of a session of a guest account after its last use. It is the longest time for which browsers keep a
    /// cookie, because no login leads back to the money.
    pub const GUEST_LIFETIME: Duration = Duration::days(400);

    /// The lifetime of a session after its last use, for an owner with this role. A member's session is valid for
    /// `valid_for`.
    #[must_use]
    pub fn lifetime(role: Role, valid_for: Duration) -> Duration {
        if role == Role::Guest { valid_for.max(Self::GUEST_LIFETIME) } else { valid_for }
    }

    /// A session that begins now, with a token of this lifetime.
    #[must_use]
    pub fn begin(
        id: SessionId,
        user: UserId,
        client: ClientInfo,
        now: Timestamp,
        valid_for: Duration,
    ) -> Self {
        Self { id, user, client, began_at: now, used_at: now, expires_at: now.plus(valid_for) }
    }

    /// Whether it is alive at `now`, given the time at which it was ended, if it was.
    #[must_use]
    pub fn is_alive(&self, ended_at: Option<Timestamp>, now: Timestamp) -> bool {
        ended_at.is_none() && now < self.expires_at
    }

    /// Whether a registration repeated at `now` gets this live session: the session began with the registration,
    /// and its first token is unused; the use of a cookie is recorded only after that time.
    #[must_use]
    pub fn answers_registration(&self, registered_at: Timestamp, now: Timestamp) -> bool {
        self.began_at == registered_at && self.used_at == self.began_at && repeats(registered_at, now)
    }

    /// Whether a repetition at `now` of the form that began this session gets its unused cookie again.
    #[must_use]
    pub fn answers_repetition(&self, now: Timestamp) -> bool {
        self.answers_registration(self.began_at, now)
    }

    /// Whether a claim of its account, repeated at `now`, gets the token of the claim: that token is unused.
    #[must_use]
    pub fn answers_claim(&self, claimed_at: Timestamp, now: Timestamp) -> bool {
        self.used_at == claimed_at && repeats(claimed_at, now)
    }

    /// The record of the token that it gets when its account is claimed.
    #[must_use]
    pub const fn claimed_token(
        &self,
        hash: TokenHash,
        claimed_at: Timestamp,
        expires_at: Timestamp,
    ) -> RefreshToken {
        let first = self.first_token(hash);
        RefreshToken { issued_at: claimed_at, expires_at, ..first }
    }

    /// The record of its first token.
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

/// A stored refresh token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RefreshToken {
    pub hash: TokenHash,
    /// The session of the login that it descends from.
    pub session: SessionId,
    /// The owner.
    pub user: UserId,
    /// The time of issue.
    pub issued_at: Timestamp,
    /// The time from which it is refused.
    pub expires_at: Timestamp,
    /// The time at which it was exchanged for the next one, if it was.
    pub used_at: Option<Timestamp>,
}

/// The result of presenting a stored token of a session that was not ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PresentedToken {
    /// The token is exchanged for the next one.
    Exchange,
    /// The token was just exchanged for the unused token with this hash, which is issued again.
    Repeat(TokenHash),
    /// The token was used before: another party has it, so the session ends.
    EndSession,
    /// The token has expired.
    Refuse,
}

impl RefreshToken {
    /// Decides on a token presented at `now`; `successor` is the stored token whose hash matches a token
    /// derived from this one, if any.
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

    /// Whether it is an unused token of the same session as `before`, and valid at `now`.
    fn follows(&self, before: &Self, now: Timestamp) -> bool {
        self.session == before.session && self.used_at.is_none() && now < self.expires_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Session {
        let (id, user) = (SessionId::new(1).unwrap(), UserId::new(1).unwrap());
        Session::begin(id, user, ClientInfo::default(), Timestamp::EPOCH, Duration::days(30))
    }

    fn after(duration: Duration) -> Timestamp {
        Timestamp::EPOCH.plus(duration)
    }

    /// A token exchanged at the epoch, and its successor.
    fn exchanged() -> (RefreshToken, RefreshToken) {
        let token = session().first_token(TokenHash([0; 32]));
        let successor = RefreshToken { hash: TokenHash([1; 32]), ..token.clone() };
        (RefreshToken { used_at: Some(Timestamp::EPOCH), ..token }, successor)
    }

    #[test]
    fn a_token_can_be_exchanged_only_once_and_only_before_it_expires() {
        let end = session().expires_at;
        let mut token = session().first_token(TokenHash([0; 32]));
        assert_eq!(token.presented(None, end.minus(Duration::MICROSECOND)), PresentedToken::Exchange);
        assert_eq!(token.presented(None, end), PresentedToken::Refuse);
        token.used_at = Some(Timestamp::EPOCH);
        assert_eq!(token.presented(None, Timestamp::EPOCH), PresentedToken::EndSession);
        assert_eq!(token.presented(None, end), PresentedToken::EndSession);
    }

    #[test]
    fn an_exchange_can_be_repeated_for_a_minute() {
        let (minute, tick) = (Duration::seconds(60), Duration::MICROSECOND);
        let (token, successor) = exchanged();
        let repeated = PresentedToken::Repeat(successor.hash);
        for (passed, expected) in [
            (Duration::ZERO, repeated),
            (minute - tick, repeated),
            (minute, PresentedToken::EndSession),
            (minute + tick, PresentedToken::EndSession),
            (Duration::days(365), PresentedToken::EndSession),
            // Clock skew between servers.
            (tick - minute, repeated),
            (-minute, PresentedToken::EndSession),
            (Duration::days(-365), PresentedToken::EndSession),
        ] {
            assert_eq!(token.presented(Some(&successor), after(passed)), expected, "{passed}");
        }
    }

    #[test]
    fn only_an_unused_unexpired_successor_in_the_same_session_is_reissued() {
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
        // While the token itself is unused, the successor is irrelevant.
        let unused = RefreshToken { used_at: None, ..token.clone() };
        assert_eq!(unused.presented(Some(&successor), now), PresentedToken::Exchange);
    }

    #[test]
    fn an_exchange_can_be_repeated_after_the_token_has_expired() {
        let (token, successor) = exchanged();
        let token = RefreshToken { expires_at: after(Duration::MICROSECOND), ..token };
        let now = after(Duration::SECOND);
        assert_eq!(token.presented(Some(&successor), now), PresentedToken::Repeat(successor.hash));
    }

    #[test]
    fn a_registration_is_repeatable_for_a_minute_while_its_session_is_unused() {
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
        assert!(first.answers_claim(Timestamp::EPOCH, after(minute - tick)));
        assert!(!first.answers_claim(Timestamp::EPOCH, after(minute)));
        let used = Session { used_at: after(tick), ..first.clone() };
        assert!(!used.answers_claim(Timestamp::EPOCH, after(tick)));
        assert!(!used.answers_registration(Timestamp::EPOCH, after(tick)));
        // A login in the same minute.
        assert!(!first.answers_registration(after(tick), after(tick)));
    }
}
