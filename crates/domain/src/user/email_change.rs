//! Changes of the e-mail address, and the restoration of the previous one.
//!
//! The code to the new address proves it. A verified previous address gets a token that restores it: meanwhile it is
//! reserved for the user, and no second change is possible, so that a thief can neither take it nor wait the token out
//! by another change.

use crate::timestamp::Timestamp;
use crate::user::User;
use crate::user::challenge::{Challenge, Purpose};
use crate::user::session::TokenHash;

/// The outcome of a change of the e-mail address.
#[derive(Clone, PartialEq, Debug)]
pub enum EmailChanged {
    /// The user has the new address.
    Done(Box<User>),
    /// The code is wrong, and was counted.
    Wrong,
    /// No code can be answered.
    Over,
    /// The address before the last change can be restored until this time.
    Restorable(Timestamp),
    /// Another user has the address, or can restore it.
    Taken,
}

/// The outcome of a restoration of the previous e-mail address.
#[derive(Clone, PartialEq, Debug)]
pub enum EmailRestored {
    /// The user after the restoration.
    Done { before: Box<User>, after: Box<User> },
    /// The token is unknown, used or expired.
    Over,
    /// Another user has the address. Only a server of an earlier version can have given it away.
    Taken,
}

/// The challenge that restores the address of this user after a change; `None` if it was not verified.
#[must_use]
pub fn restoration(before: &User, hash: TokenHash, now: Timestamp) -> Option<Challenge> {
    let address = before.email_verified.then(|| before.email.clone())?;
    Some(Challenge::moving(before.id, Purpose::EmailRestore, address, hash, now))
}

/// The time until which one of these challenges restores an address.
pub fn restorable_until<'a>(
    challenges: impl IntoIterator<Item = &'a Challenge>,
    now: Timestamp,
) -> Option<Timestamp> {
    let open = challenges.into_iter().filter(|challenge| challenge.purpose == Purpose::EmailRestore);
    open.filter(|challenge| challenge.is_open(now)).map(Challenge::expires_at).max()
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;
    use crate::ids::UserId;
    use crate::text::{Email, Line};
    use crate::user::challenge::AnswerOutcome;

    fn at(minute: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::minutes(minute))
    }

    fn email(text: &str) -> Email {
        Email::new(text).unwrap()
    }

    fn user(email_verified: bool) -> User {
        let (id, name) = (UserId::new(1).unwrap(), Line::new("Ada").unwrap());
        User { email_verified, ..User::registered(id, name, email("Ada@example.com"), None, false, at(0)) }
    }

    const HASH: TokenHash = TokenHash([1; 32]);

    #[test]
    fn the_code_verifies_the_new_email_and_records_the_time_of_the_change() {
        let before = user(false);
        let code = Challenge::moving(before.id, Purpose::EmailChange, email("Ada@New.example"), HASH, at(0));
        assert_eq!((code.target.as_str(), code.expires_at()), ("ada@new.example", at(10)));
        assert_eq!(code.judge(&before, &[HASH], at(9)), AnswerOutcome::Right);
        assert_eq!(code.judge(&before, &[HASH], at(10)), AnswerOutcome::Over);
        let after = code.proven(&before, at(9));
        let changed = (after.email.as_str(), after.email_verified, after.login_changed_at);
        assert_eq!(changed, ("Ada@New.example", true, Some(at(9))));
    }

    #[test]
    fn a_verified_previous_email_can_be_restored_for_a_week() {
        assert_eq!(restoration(&user(false), HASH, at(0)), None);
        let before = user(true);
        let token = restoration(&before, HASH, at(0)).unwrap();
        let end = at(7 * 24 * 60);
        let last = end.minus(Duration::MICROSECOND);
        assert_eq!(restorable_until([&token], last), Some(end));
        assert_eq!(restorable_until([&token], end), None);
        let used = Challenge { ended_at: Some(at(1)), ..token.clone() };
        assert_eq!(restorable_until([&used], at(2)), None);
        let moved = User { email: email("thief@example.com"), ..before.clone() };
        assert_eq!(token.judge(&moved, &[HASH], last), AnswerOutcome::Right);
        assert_eq!(token.proven(&moved, at(5)).email, before.email);
        assert_eq!(Purpose::EmailRestore.kept_for(), Purpose::EmailRestore.valid_for());
    }
}
