//! Challenges: secrets sent to an address, which verify its owner when repeated.

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use time::Duration;

use crate::ids::UserId;
use crate::names::{explained_enum, named_enum};
use crate::text::Email;
use crate::timestamp::Timestamp;
use crate::user::User;
use crate::user::code_quotas::{CodeQuota, TooMany};
use crate::user::session::TokenHash;

/// The purpose of a challenge.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum Purpose {
    /// A six-digit code verifies an e-mail address.
    Email,
    /// A six-digit code verifies a phone number.
    Phone,
    /// A token resets a password.
    Password,
    /// A six-digit code, sent to the new address, changes the e-mail address.
    EmailChange,
    /// A token, sent to the previous address, restores that address.
    EmailRestore,
    /// The token for restoring an address was sent once more.
    EmailRestoreRepeat,
    /// A link of an operator opens the wallet of a guest account whose phone is lost.
    WalletLink,
}

named_enum!(Purpose);
explained_enum!(Purpose);

impl Purpose {
    /// The purposes whose open challenges end when a new password is set: a thief of the previous password may have
    /// requested them.
    pub const ENDED_BY_NEW_PASSWORD: [Self; 2] = [Self::Password, Self::EmailChange];

    /// The lifetime of a challenge.
    #[must_use]
    pub const fn valid_for(self) -> Duration {
        match self {
            Self::Email | Self::Phone | Self::EmailChange | Self::EmailRestoreRepeat => Duration::minutes(10),
            Self::Password => Duration::minutes(30),
            Self::WalletLink => Duration::hours(1),
            Self::EmailRestore => Duration::days(7),
        }
    }

    /// The retention of a challenge: later ones are counted against it, and it can be answered.
    #[must_use]
    pub const fn kept_for(self) -> Duration {
        match self {
            Self::Email
            | Self::Phone
            | Self::Password
            | Self::EmailChange
            | Self::EmailRestoreRepeat
            | Self::WalletLink => Duration::days(1),
            Self::EmailRestore => Self::EmailRestore.valid_for(),
        }
    }

    /// The user's address that it verifies, in normalized form; `None` if the user has none, or if the challenge
    /// names an address of its own.
    #[must_use]
    pub fn target(self, user: &User) -> Option<String> {
        match self {
            Self::Email | Self::Password | Self::EmailRestoreRepeat => Some(user.email.folded()),
            Self::Phone => user.phone.as_ref().map(|phone| phone.as_str().to_owned()),
            Self::WalletLink => user.is_guest_account().then(|| user.email.folded()),
            Self::EmailChange | Self::EmailRestore => None,
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
    pub purpose: Purpose,
    /// The target address, as returned by [`Purpose::target`], or [`Challenge::address`] in normalized form.
    pub target: String,
    /// The e-mail address that the right answer gives to the user, as it was written.
    pub address: Option<Email>,
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
    /// Issues a challenge now; `None` if the user has no such address.
    #[must_use]
    pub fn issue(user: &User, purpose: Purpose, hash: TokenHash, now: Timestamp) -> Option<Self> {
        let target = purpose.target(user)?;
        Some(Self {
            user: user.id,
            purpose,
            target,
            address: None,
            hash,
            issued_at: now,
            attempts: 0,
            ended_at: None,
        })
    }

    /// Issues a challenge whose right answer gives this e-mail address to the user.
    #[must_use]
    pub fn moving(user: UserId, purpose: Purpose, to: Email, hash: TokenHash, now: Timestamp) -> Self {
        Self {
            user,
            purpose,
            target: to.folded(),
            address: Some(to),
            hash,
            issued_at: now,
            attempts: 0,
            ended_at: None,
        }
    }

    /// Whether it is neither answered nor replaced, and has not expired.
    #[must_use]
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.ended_at.is_none() && now < self.expires_at()
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
        let is_theirs =
            self.address.is_some() || self.purpose.target(user).as_deref() == Some(self.target.as_str());
        let open = self.is_open(now) && self.attempts < MAX_ATTEMPTS && is_theirs;
        match (open, presented.contains(&self.hash)) {
            (false, _) => AnswerOutcome::Over,
            (true, true) => AnswerOutcome::Right,
            (true, false) => AnswerOutcome::Wrong,
        }
    }

    /// Returns the user after the right answer at `now`: the address is verified, and their own if it was not. A reset
    /// and another address count as a change of the login.
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
            Purpose::EmailRestoreRepeat | Purpose::WalletLink => {}
            Purpose::EmailChange | Purpose::EmailRestore => {
                if let Some(address) = &self.address {
                    proven.email = address.clone();
                    proven.email_verified = true;
                    proven.note_login_change(now);
                }
            }
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
    fn challenges_are_limited_in_time_and_attempts() {
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
    fn a_code_verifies_only_the_email_or_phone_that_it_is_issued_for() {
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
    fn at_most_five_challenges_are_issued_within_an_hour() {
        let sent = [at(0), at(10), at(20), at(30), at(40)];
        assert_eq!(may_issue(&sent[..4], at(50)), Ok(()));
        let full = TooMany { quota: CodeQuota::Hour, most: 5, until: at(60) };
        assert_eq!(may_issue(&sent, at(50)), Err(full));
        assert_eq!(may_issue(&sent, at(60)), Ok(()));
    }
}
