//! Changes of e-mail addresses, and reserved previous ones.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::{AnswerOutcome, Challenge, Purpose};
use cuepoint_domain::user::email_change::{EmailChanged, EmailRestored, restorable_until, restoration};
use cuepoint_domain::user::session::TokenHash;

use crate::State;

impl State {
    /// Changes the e-mail address of a user who answers the code.
    pub(crate) fn change_email(
        &mut self,
        user: UserId,
        presented: &[TokenHash],
        restore: &TokenHash,
        now: Timestamp,
    ) -> EmailChanged {
        let Self { book, keys, .. } = self;
        let Some(before) = book.get(user).cloned() else { return EmailChanged::Over };
        let Some(code) = keys.newest(user, Purpose::EmailChange) else { return EmailChanged::Over };
        match code.judge(&before, presented, now) {
            AnswerOutcome::Over => return EmailChanged::Over,
            AnswerOutcome::Wrong => {
                code.attempts = code.attempts.saturating_add(1);
                return EmailChanged::Wrong;
            }
            AnswerOutcome::Right => {}
        }
        let after = code.proven(&before, now);
        if let Some(until) = restorable_until(keys.challenges_of(user), now) {
            return EmailChanged::Restorable(until);
        }
        if !self.moves(&before, &after, now) {
            return EmailChanged::Taken;
        }
        if let Some(restoration) = restoration(&before, *restore, now) {
            self.keys.challenges.push(restoration);
        }
        EmailChanged::Done(Box::new(after))
    }

    /// Restores the previous address of the user with this token, and sets their password.
    pub(crate) fn restore_email(
        &mut self,
        presented: &TokenHash,
        password: &PasswordHash,
        now: Timestamp,
    ) -> EmailRestored {
        let token = self.keys.with_hash(Purpose::EmailRestore, presented);
        let Some(token) = token.cloned() else { return EmailRestored::Over };
        let Some(before) = self.book.get(token.user).cloned() else { return EmailRestored::Over };
        if token.judge(&before, &[*presented], now) != AnswerOutcome::Right {
            return EmailRestored::Over;
        }
        let after = token.proven(&before, now);
        if !self.moves(&before, &after, now) {
            return EmailRestored::Taken;
        }
        self.keys.passwords.insert(after.id, password.clone());
        self.sessions.end_all(after.id, None, now);
        self.webhooks.disable_own(after.id, None, now);
        EmailRestored::Done { before: Box::new(before), after: Box::new(after) }
    }

    /// Gives the user their new address and ends their open challenges, unless another user has or can restore the
    /// address.
    pub(crate) fn moves(&mut self, before: &User, after: &User, now: Timestamp) -> bool {
        let (old, new) = (before.email.folded(), after.email.folded());
        let owner = self.keys.owner(&new).filter(|owner| *owner != after.id);
        if owner.is_some() || self.keys.restorations(&new, now).any(|open| open.user != after.id) {
            return false;
        }
        self.keys.users.remove(&old);
        self.keys.users.insert(new, after.id);
        self.book.put(after.clone());
        self.keys.end(after.id, |_| true, now);
        true
    }
}

impl crate::logins::CredentialTable {
    /// The open challenges that restore this folded address.
    pub(crate) fn restorations(&self, email: &str, now: Timestamp) -> impl Iterator<Item = &Challenge> {
        self.challenges.iter().filter(move |challenge| {
            challenge.purpose == Purpose::EmailRestore && challenge.target == email && challenge.is_open(now)
        })
    }
}
