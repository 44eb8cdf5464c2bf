//! Credentials of users, and the challenges that verify addresses.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::{Credentials, IssueOutcome, Logins, PasswordHash, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::{AnswerOutcome, Challenge, Purpose, may_issue};
use cuepoint_domain::user::code_quotas::{CodeQuota, CountedCode, KeptCode, TooMany, WINDOW};
use cuepoint_domain::user::email_change::{EmailChanged, EmailRestored, restorable_until};
use cuepoint_domain::user::session::TokenHash;

use crate::{MemoryStore, State};

/// Users by folded e-mail address, with their password hashes and challenges.
#[derive(Debug, Default)]
pub(crate) struct CredentialTable {
    users: HashMap<String, UserId>,
    passwords: HashMap<UserId, PasswordHash>,
    challenges: HashMap<UserId, Vec<Challenge>>,
    /// The counted codes by phone.
    phone_codes: Vec<KeptCode>,
}

impl CredentialTable {
    /// Whether a user has this folded address.
    pub(crate) fn has(&self, email: &str) -> bool {
        self.users.contains_key(email)
    }

    /// The user with this folded address.
    pub(crate) fn owner(&self, email: &str) -> Option<UserId> {
        self.users.get(email).copied()
    }

    /// Adds the credentials of a user.
    pub(crate) fn add(&mut self, email: String, user: UserId, password: PasswordHash) {
        self.users.insert(email, user);
        self.passwords.insert(user, password);
    }

    /// Deletes the credentials and challenges of a user.
    pub(crate) fn forget(&mut self, user: UserId) {
        self.users.retain(|_, owner| *owner != user);
        self.passwords.remove(&user);
        self.challenges.remove(&user);
    }

    /// The challenges of all users.
    pub(crate) fn challenges(&self) -> impl Iterator<Item = &Challenge> {
        self.challenges.values().flatten()
    }

    /// The challenge of a purpose with this hash.
    pub(crate) fn with_hash(&self, purpose: Purpose, hash: &TokenHash) -> Option<&Challenge> {
        self.challenges().find(|challenge| challenge.purpose == purpose && challenge.hash == *hash)
    }

    /// Stores a challenge.
    pub(crate) fn store(&mut self, challenge: Challenge) {
        self.challenges.entry(challenge.user).or_default().push(challenge);
    }

    /// Replaces the folded address of a user.
    pub(crate) fn move_address(&mut self, before: &str, after: String, user: UserId) {
        self.users.remove(before);
        self.users.insert(after, user);
    }

    /// Sets the password of a user.
    pub(crate) fn set_password(&mut self, user: UserId, password: &PasswordHash) {
        self.passwords.insert(user, password.clone());
    }

    /// Ends every open challenge of a user.
    pub(crate) fn end_every(&mut self, user: UserId, now: Timestamp) {
        for challenge in self.challenges.get_mut(&user).into_iter().flatten() {
            challenge.ended_at.get_or_insert(now);
        }
    }

    /// The challenges of a user.
    pub(crate) fn challenges_of(&self, user: UserId) -> impl Iterator<Item = &Challenge> {
        self.challenges.get(&user).into_iter().flatten()
    }

    /// Deletes the challenges past their retention.
    pub(crate) fn purge_expired(&mut self, now: Timestamp) {
        for sent in self.challenges.values_mut() {
            sent.retain(|challenge| challenge.issued_at > now.minus(challenge.purpose.kept_for()));
        }
        self.challenges.retain(|_, sent| !sent.is_empty());
        let since = now.minus(WINDOW);
        self.phone_codes.retain(|code| code.sent_at > since);
    }

    /// The phone code quotas that this code would exceed.
    fn used_up(&self, code: &CountedCode) -> Vec<TooMany> {
        let refused = |(quota, most): (CodeQuota, u32)| {
            let counted = self.phone_codes.iter().filter(|kept| kept.counts(quota, code));
            let mut sent: Vec<Timestamp> = counted.map(|kept| kept.sent_at).collect();
            sent.sort_unstable_by_key(|at| std::cmp::Reverse(*at));
            let last = usize::try_from(most.saturating_sub(1)).unwrap_or(usize::MAX);
            code.refused(quota, most, sent.get(last).copied())
        };
        code.quotas().filter_map(refused).collect()
    }

    fn credentials(&self, user: UserId) -> Option<Credentials> {
        self.passwords.get(&user).map(|password| Credentials { user, password: password.clone() })
    }

    /// Whether this is the hash of the user's current password.
    pub(crate) fn is_password(&self, user: UserId, hash: &PasswordHash) -> bool {
        self.passwords.get(&user) == Some(hash)
    }

    /// Replaces a hash; returns whether the previous one was still stored.
    fn replace(&mut self, user: UserId, before: &PasswordHash, after: &PasswordHash) -> bool {
        match self.passwords.get_mut(&user).filter(|kept| *kept == before) {
            Some(kept) => {
                kept.clone_from(after);
                true
            }
            None => false,
        }
    }

    /// The newest challenge of a purpose.
    pub(crate) fn newest(&mut self, user: UserId, purpose: Purpose) -> Option<&mut Challenge> {
        let sent = self.challenges.get_mut(&user)?;
        sent.iter_mut().rfind(|challenge| challenge.purpose == purpose)
    }

    fn end(&mut self, user: UserId, purpose: Purpose, now: Timestamp) {
        let sent = self.challenges.get_mut(&user).into_iter().flatten();
        for challenge in sent.filter(|challenge| challenge.purpose == purpose) {
            challenge.ended_at.get_or_insert(now);
        }
    }
}

impl State {
    /// Judges an answer to a challenge, and applies the consequences.
    fn answer(
        &mut self,
        user: UserId,
        purpose: Purpose,
        presented: &[TokenHash],
        now: Timestamp,
    ) -> AnswerOutcome {
        let Some(person) = self.book.get_mut(user) else { return AnswerOutcome::Over };
        let Some(challenge) = self.keys.newest(user, purpose) else { return AnswerOutcome::Over };
        let judged = challenge.judge(person, presented, now);
        match judged {
            AnswerOutcome::Right => {
                challenge.ended_at = Some(now);
                *person = challenge.proven(person, now);
            }
            AnswerOutcome::Wrong => challenge.attempts = challenge.attempts.saturating_add(1),
            AnswerOutcome::Over => {}
        }
        judged
    }
}

#[async_trait]
impl Logins for MemoryStore {
    async fn credentials(&self, email: &str) -> Result<Option<Credentials>, Unavailable> {
        let state = self.lock()?;
        Ok(state.keys.owner(email).and_then(|user| state.keys.credentials(user)))
    }

    async fn credentials_of(&self, user: UserId) -> Result<Option<Credentials>, Unavailable> {
        Ok(self.lock()?.keys.credentials(user))
    }

    async fn rehash(
        &self,
        user: UserId,
        before: &PasswordHash,
        after: &PasswordHash,
    ) -> Result<(), Unavailable> {
        self.lock()?.keys.replace(user, before, after);
        Ok(())
    }

    async fn change_password(
        &self,
        user: UserId,
        before: &PasswordHash,
        after: &PasswordHash,
        keep: Option<SessionId>,
        now: Timestamp,
    ) -> Result<bool, Unavailable> {
        let State { keys, sessions, .. } = &mut *self.lock()?;
        if !keys.replace(user, before, after) {
            return Ok(false);
        }
        sessions.end_all(user, keep, now);
        for purpose in Purpose::ENDED_BY_NEW_PASSWORD {
            keys.end(user, purpose, now);
        }
        Ok(true)
    }

    async fn issue<'a>(
        &self,
        challenge: &Challenge,
        counted: Option<&'a CountedCode>,
    ) -> Result<IssueOutcome, Unavailable> {
        let state = &mut *self.lock()?;
        let (user, purpose) = (challenge.user, challenge.purpose);
        if !state.is_somebody(user) {
            return Err(Unavailable::new("the user of the challenge does not exist"));
        }
        let keys = &mut state.keys;
        let alike = keys.challenges.values().flatten().filter(|other| {
            other.purpose == purpose && (other.user == user || other.target == challenge.target)
        });
        let earlier: Vec<Timestamp> = alike.map(|other| other.issued_at).collect();
        let hour = may_issue(&earlier, challenge.issued_at).err();
        let used_up = counted.map(|code| keys.used_up(code)).unwrap_or_default();
        if let Some(too_many) = TooMany::longest(hour.into_iter().chain(used_up)) {
            return Ok(IssueOutcome::TooMany(too_many));
        }
        keys.phone_codes.extend(counted.map(KeptCode::from));
        keys.end(user, purpose, challenge.issued_at);
        keys.challenges.entry(user).or_default().push(challenge.clone());
        Ok(IssueOutcome::Done)
    }

    async fn answer(
        &self,
        user: UserId,
        purpose: Purpose,
        presented: &[TokenHash],
        now: Timestamp,
    ) -> Result<AnswerOutcome, Unavailable> {
        Ok(self.lock()?.answer(user, purpose, presented, now))
    }

    async fn reset_password(
        &self,
        presented: &TokenHash,
        after: &PasswordHash,
        now: Timestamp,
    ) -> Result<Option<UserId>, Unavailable> {
        let state = &mut *self.lock()?;
        let asked = state.keys.with_hash(Purpose::Password, presented);
        let Some(user) = asked.map(|challenge| challenge.user) else { return Ok(None) };
        if state.answer(user, Purpose::Password, &[*presented], now) != AnswerOutcome::Right {
            return Ok(None);
        }
        state.keys.set_password(user, after);
        for purpose in Purpose::ENDED_BY_NEW_PASSWORD {
            state.keys.end(user, purpose, now);
        }
        state.sessions.end_all(user, None, now);
        state.webhooks.disable_own(user, None, now);
        Ok(Some(user))
    }

    async fn restoration(&self, email: &str, now: Timestamp) -> Result<Option<Challenge>, Unavailable> {
        Ok(self.lock()?.keys.restorations(email, now).last().cloned())
    }

    async fn restorable_until(&self, user: UserId, now: Timestamp) -> Result<Option<Timestamp>, Unavailable> {
        Ok(restorable_until(self.lock()?.keys.challenges_of(user), now))
    }

    async fn change_email(
        &self,
        user: UserId,
        session: SessionId,
        presented: &[TokenHash],
        restore: &TokenHash,
        now: Timestamp,
    ) -> Result<EmailChanged, Unavailable> {
        let mut state = self.lock()?;
        if !state.sessions.is_live(session) {
            return Ok(EmailChanged::Over);
        }
        Ok(state.change_email(user, presented, restore, now))
    }

    async fn restore_email(
        &self,
        presented: &TokenHash,
        after: &PasswordHash,
        now: Timestamp,
    ) -> Result<EmailRestored, Unavailable> {
        Ok(self.lock()?.restore_email(presented, after, now))
    }
}
