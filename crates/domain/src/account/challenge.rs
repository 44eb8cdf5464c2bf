//! Challenges: a secret is sent to an address, and who can repeat it has shown that the address is theirs.

use strum::{EnumIter, EnumString, IntoStaticStr};
use time::Duration;

use crate::account::User;
use crate::account::code_quotas::{CodeQuota, TooMany};
use crate::account::session::TokenHash;
use crate::ids::UserId;
use crate::names::named_enum;
use crate::timestamp::Timestamp;

/// What a challenge is answered for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum Purpose {
    /// To prove an e-mail address, by a code of six digits.
    Email,
    /// To prove a phone number, by a code of six digits.
    Phone,
    /// To set a new password, by a token that nobody can guess.
    Password,
}

named_enum!(Purpose);

impl Purpose {
    /// How long a challenge can be answered.
    #[must_use]
    pub const fn valid_for(self) -> Duration {
        match self {
            Self::Email | Self::Phone => Duration::minutes(10),
            Self::Password => Duration::minutes(30),
        }
    }

    /// The address of this person that it proves, in the form by which two are the same; `None` where there is none.
    #[must_use]
    pub fn target(self, user: &User) -> Option<String> {
        match self {
            Self::Email | Self::Password => Some(user.email.folded()),
            Self::Phone => user.phone.as_ref().map(|phone| phone.as_str().to_owned()),
        }
    }
}

/// How many wrong answers end a challenge: with six digits, a guess succeeds once in 200 000 challenges.
pub const MOST_ATTEMPTS: i16 = 5;
/// The most challenges of one purpose for one person, and to one address, within [`ISSUE_WINDOW`].
pub const MOST_ISSUED: usize = 5;
/// See [`MOST_ISSUED`].
pub const ISSUE_WINDOW: Duration = Duration::hours(1);

/// A challenge as it is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Challenge {
    /// Who has to answer it.
    pub user: UserId,
    /// What for.
    pub purpose: Purpose,
    /// The address that it was sent to, by [`Purpose::target`].
    pub target: String,
    /// What the secret hashes to.
    pub hash: TokenHash,
    /// When it was sent.
    pub issued_at: Timestamp,
    /// Wrong answers so far.
    pub attempts: i16,
    /// When it was answered, or replaced by another, if it was.
    pub ended_at: Option<Timestamp>,
}

/// What an answer to a challenge comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judged {
    /// It is right: the address is theirs, and the challenge ends.
    Right,
    /// It is wrong, and counts.
    Wrong,
    /// The challenge cannot be answered any more, rightly or wrongly.
    Over,
}

impl Challenge {
    /// How long a challenge is kept, so that those after it are counted.
    pub const KEPT: Duration = Duration::days(1);

    /// A challenge that is sent now; `None` where the person has no such address.
    #[must_use]
    pub fn issue(user: &User, purpose: Purpose, hash: TokenHash, now: Timestamp) -> Option<Self> {
        let target = purpose.target(user)?;
        Some(Self { user: user.id, purpose, target, hash, issued_at: now, attempts: 0, ended_at: None })
    }

    /// When it can no longer be answered.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.issued_at.plus(self.purpose.valid_for())
    }

    /// The verdict on an answer from this person, as they are now, at this moment. `presented` holds every hash under
    /// which the secret may be stored.
    #[must_use]
    pub fn judge(&self, user: &User, presented: &[TokenHash], now: Timestamp) -> Judged {
        let open = self.ended_at.is_none()
            && now < self.expires_at()
            && self.attempts < MOST_ATTEMPTS
            && self.purpose.target(user).as_deref() == Some(self.target.as_str());
        match (open, presented.contains(&self.hash)) {
            (false, _) => Judged::Over,
            (true, true) => Judged::Right,
            (true, false) => Judged::Wrong,
        }
    }

    /// The person with what a right answer proved.
    #[must_use]
    pub fn proven(&self, user: &User) -> User {
        let mut proven = user.clone();
        match self.purpose {
            Purpose::Email | Purpose::Password => proven.email_verified = true,
            Purpose::Phone => proven.phone_verified = true,
        }
        proven
    }
}

/// Whether one more challenge may be sent, after those of its purpose that were sent to this person or to this address.
///
/// # Errors
/// [`TooMany`].
pub fn may_issue(earlier: &[Timestamp], now: Timestamp) -> Result<(), TooMany> {
    let since = now.minus(ISSUE_WINDOW);
    let mut recent: Vec<Timestamp> = earlier.iter().copied().filter(|at| *at > since).collect();
    recent.sort_unstable();
    match recent.len().checked_sub(MOST_ISSUED) {
        None => Ok(()),
        Some(index) => {
            let until = recent.get(index).copied().unwrap_or(now).plus(ISSUE_WINDOW);
            let most = u32::try_from(MOST_ISSUED).unwrap_or(u32::MAX);
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
    fn a_challenge_is_answered_in_time_and_before_too_many_guesses() {
        let fresh = challenge(Purpose::Email);
        assert_eq!(fresh.judge(&user(), &RIGHT, at(9)), Judged::Right);
        assert_eq!(fresh.judge(&user(), &WRONG, at(9)), Judged::Wrong);
        assert_eq!(fresh.judge(&user(), &RIGHT, at(10)), Judged::Over);
        let guessed = Challenge { attempts: MOST_ATTEMPTS, ..fresh.clone() };
        assert_eq!(guessed.judge(&user(), &RIGHT, at(1)), Judged::Over);
        let ended = Challenge { ended_at: Some(at(1)), ..fresh };
        assert_eq!(ended.judge(&user(), &RIGHT, at(2)), Judged::Over);
    }

    #[test]
    fn an_answer_proves_the_address_that_it_was_sent_to() {
        let moved = User { phone: Some(Line::new("+1 555 0199").unwrap()), ..user() };
        assert_eq!(challenge(Purpose::Phone).judge(&moved, &RIGHT, at(1)), Judged::Over);
        let nowhere = User { phone: None, ..user() };
        assert_eq!(Challenge::issue(&nowhere, Purpose::Phone, TokenHash([1; 32]), at(0)), None);
        assert!(challenge(Purpose::Phone).proven(&user()).phone_verified);
        assert!(!challenge(Purpose::Phone).proven(&user()).email_verified);
        assert!(challenge(Purpose::Password).proven(&user()).email_verified);
    }

    #[test]
    fn no_more_than_a_few_are_sent_within_an_hour() {
        let sent = [at(0), at(10), at(20), at(30), at(40)];
        assert_eq!(may_issue(&sent[..4], at(50)), Ok(()));
        let full = TooMany { quota: CodeQuota::Hour, most: 5, until: at(60) };
        assert_eq!(may_issue(&sent, at(50)), Err(full));
        assert_eq!(may_issue(&sent, at(60)), Ok(()));
    }
}
