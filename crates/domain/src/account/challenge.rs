//! Challenges: secrets sent to an address, which verify its owner when repeated.

use strum::{EnumIter, EnumString, IntoStaticStr};
use time::Duration;

use crate::account::User;
use crate::account::code_quotas::{CodeQuota, TooMany};
use crate::account::session::TokenHash;
use crate::ids::UserId;
use crate::names::named_enum;
use crate::timestamp::Timestamp;

/// The purpose of a challenge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum Purpose {
    /// Verify an e-mail address with a six-digit code.
    Email,
    /// Verify a phone number with a six-digit code.
    Phone,
    /// Reset a password with an unguessable token.
    Password,
}

named_enum!(Purpose);

impl Purpose {
    /// The lifetime of a challenge.
    #[must_use]
    pub const fn valid_for(self) -> Duration {
        match self {
            Self::Email | Self::Phone => Duration::minutes(10),
            Self::Password => Duration::minutes(30),
        }
    }

    /// The user's address that it verifies, in normalized form; `None` if the user has none.
    #[must_use]
    pub fn target(self, user: &User) -> Option<String> {
        match self {
            Self::Email | Self::Password => Some(user.email.folded()),
            Self::Phone => user.phone.as_ref().map(|phone| phone.as_str().to_owned()),
        }
    }
}

/// The wrong answers that end a challenge: with six digits, a guess succeeds once in 200 000 challenges.
pub const MAX_ATTEMPTS: i16 = 5;
/// The maximum number of challenges of one purpose per user, and per address, within [`ISSUE_WINDOW`].
pub const MAX_ISSUED: usize = 5;
/// See [`MAX_ISSUED`].
pub const ISSUE_WINDOW: Duration = Duration::hours(1);

/// A stored challenge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Challenge {
    /// The user who must answer it.
    pub user: UserId,
    /// The purpose.
    pub purpose: Purpose,
    /// The target address, as returned by [`Purpose::target`].
    pub target: String,
    /// The hash of the secret.
    pub hash: TokenHash,
    /// The time of issue.
    pub issued_at: Timestamp,
    /// The number of wrong answers so far.
    pub attempts: i16,
    /// The time at which it was answered or replaced, if it was.
    pub ended_at: Option<Timestamp>,
}

/// The result of checking an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerOutcome {
    /// Correct: the address is verified and the challenge ends.
    Right,
    /// Wrong: the attempt counts.
    Wrong,
    /// The challenge can no longer be answered.
    Over,
}

impl Challenge {
    /// The retention of a challenge, so that later ones can be counted against it.
    pub const RETENTION: Duration = Duration::days(1);

    /// Issues a challenge now; `None` if the user has no such address.
    #[must_use]
    pub fn issue(user: &User, purpose: Purpose, hash: TokenHash, now: Timestamp) -> Option<Self> {
        let target = purpose.target(user)?;
        Some(Self { user: user.id, purpose, target, hash, issued_at: now, attempts: 0, ended_at: None })
    }

    /// The time at which it expires.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.issued_at.plus(self.purpose.valid_for())
    }

    /// Checks an answer by this user, in their current state, at `now`. `presented` holds every hash under
    /// which the secret may be stored.
    #[must_use]
    pub fn judge(&self, user: &User, presented: &[TokenHash], now: Timestamp) -> AnswerOutcome {
        let open = self.ended_at.is_none()
            && now < self.expires_at()
            && self.attempts < MAX_ATTEMPTS
            && self.purpose.target(user).as_deref() == Some(self.target.as_str());
        match (open, presented.contains(&self.hash)) {
            (false, _) => AnswerOutcome::Over,
            (true, true) => AnswerOutcome::Right,
            (true, false) => AnswerOutcome::Wrong,
        }
    }

    /// Returns the user after the right answer at `now`: the address is verified, and the answer for a password
    /// counts as its reset.
    #[must_use]
    pub fn proven(&self, user: &User, now: Timestamp) -> User {
        let mut proven = user.clone();
        match self.purpose {
            Purpose::Email => proven.email_verified = true,
            Purpose::Password => {
                proven.email_verified = true;
                proven.note_login_change(now);
            }
            Purpose::Phone => proven.phone_verified = true,
        }
        proven
    }
}

/// Checks whether another challenge may be issued, given the earlier ones of its purpose to this user or
/// address.
///
/// # Errors
/// [`TooMany`].
pub fn may_issue(earlier: &[Timestamp], now: Timestamp) -> Result<(), TooMany> {
    let since = now.minus(ISSUE_WINDOW);
    let mut recent: Vec<Timestamp> = earlier.iter().copied().filter(|at| *at > since).collect();
    recent.sort_unstable();
    match recent.len().checked_sub(MAX_ISSUED) {
        None => Ok(()),
        Some(index) => {
            let until = recent.get(index).copied().unwrap_or(now).plus(ISSUE_WINDOW);
            let most = u32::try_from(MAX_ISSUED).unwrap_or(u32::MAX);
            Err(TooMany { quota: CodeQuota::Hour, most, until })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Email, Line};

    fn at(minute: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::minutes(minute))
    }

    fn user() -> User {
        let name = Line::new("Ada").unwrap();
        let email = Email::new("Ada@example.com").unwrap();
        let phone = Some(Line::new("+1 555 0100").unwrap());
        User::registered(UserId::new(1).unwrap(), name, email, phone, false, at(0))
    }

    fn challenge(purpose: Purpose) -> Challenge {
        Challenge::issue(&user(), purpose, TokenHash([1; 32]), at(0)).unwrap()
    }

    const RIGHT: [TokenHash; 2] = [TokenHash([9; 32]), TokenHash([1; 32])];
    const WRONG: [TokenHash; 1] = [TokenHash([2; 32])];

    #[test]
    fn a_challenge_is_bounded_in_time_and_attempts() {
        let fresh = challenge(Purpose::Email);
        assert_eq!(fresh.judge(&user(), &RIGHT, at(9)), AnswerOutcome::Right);
        assert_eq!(fresh.judge(&user(), &WRONG, at(9)), AnswerOutcome::Wrong);
        assert_eq!(fresh.judge(&user(), &RIGHT, at(10)), AnswerOutcome::Over);
        let guessed = Challenge { attempts: MAX_ATTEMPTS, ..fresh.clone() };
        assert_eq!(guessed.judge(&user(), &RIGHT, at(1)), AnswerOutcome::Over);
        let ended = Challenge { ended_at: Some(at(1)), ..fresh };
        assert_eq!(ended.judge(&user(), &RIGHT, at(2)), AnswerOutcome::Over);
    }

    #[test]
    fn an_answer_verifies_the_address_it_was_sent_to() {
        let moved = User { phone: Some(Line::new("+1 555 0199").unwrap()), ..user() };
        assert_eq!(challenge(Purpose::Phone).judge(&moved, &RIGHT, at(1)), AnswerOutcome::Over);
        let nowhere = User { phone: None, ..user() };
        assert_eq!(Challenge::issue(&nowhere, Purpose::Phone, TokenHash([1; 32]), at(0)), None);
        for (purpose, email, phone, login) in [
            (Purpose::Email, true, false, None),
            (Purpose::Phone, false, true, None),
            (Purpose::Password, true, false, Some(at(1))),
        ] {
            let proven = challenge(purpose).proven(&user(), at(1));
            let changed = (proven.email_verified, proven.phone_verified, proven.login_changed_at);
            assert_eq!(changed, (email, phone, login), "{purpose:?}");
        }
    }

    #[test]
    fn challenges_within_an_hour_are_limited() {
        let sent = [at(0), at(10), at(20), at(30), at(40)];
        assert_eq!(may_issue(&sent[..4], at(50)), Ok(()));
        let full = TooMany { quota: CodeQuota::Hour, most: 5, until: at(60) };
        assert_eq!(may_issue(&sent, at(50)), Err(full));
        assert_eq!(may_issue(&sent, at(60)), Ok(()));
    }
}
