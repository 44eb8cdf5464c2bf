//! Credentials of users, and the challenges that verify addresses.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::{Credentials, GuestClaim, IssueOutcome, Logins, PasswordHash, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::{AnswerOutcome, Challenge, Purpose, may_issue};
use cuepoint_domain::user::code_quotas::{CodeQuota, CountedCode, KeptCode, TooMany, WINDOW};
use cuepoint_domain::user::email_change::{EmailChanged, EmailRestored, restorable_until};
use cuepoint_domain::user::guest_account::Claimed;
use cuepoint_domain::user::session::{Session, TokenHash};
use cuepoint_domain::user::wallet_link::LinkEnd;

use crate::lists::{length, newest_first};
use crate::{MemoryStore, State};

/// Users by folded e-mail address, with their password hashes and challenges.
#[derive(Debug, Default)]
pub(crate) struct CredentialTable {
    pub(crate) users: HashMap<String, UserId>,
    pub(crate) passwords: HashMap<UserId, PasswordHash>,
    /// The challenges, in order of issue.
    pub(crate) challenges: Vec<Challenge>,
    /// The counted codes by phone.
    phone_codes: Vec<KeptCode>,
}

impl CredentialTable {
    /// The user with this folded address.
    pub(crate) fn owner(&self, email: &str) -> Option<UserId> {
        self.users.get(email).copied()
    }

    /// Deletes the credentials and challenges of a user.
    pub(crate) fn forget(&mut self, user: UserId) {
        self.users.retain(|_, owner| *owner != user);
        self.passwords.remove(&user);
        self.challenges.retain(|challenge| challenge.user != user);
    }

    /// The newest challenge of a purpose with this hash.
    pub(crate) fn with_hash(&self, purpose: Purpose, hash: &TokenHash) -> Option<&Challenge> {
        self.challenges.iter().rev().find(|challenge| challenge.purpose == purpose && challenge.hash == *hash)
    }

    /// Ends the open challenges of a user for some purposes.
    pub(crate) fn end(&mut self, user: UserId, is_one: impl Fn(Purpose) -> bool, now: Timestamp) {
        let open = self.challenges.iter_mut();
        for challenge in open.filter(|challenge| challenge.user == user && is_one(challenge.purpose)) {
            challenge.ended_at.get_or_insert(now);
        }
    }

    /// The challenges of a user.
    pub(crate) fn challenges_of(&self, user: UserId) -> impl Iterator<Item = &Challenge> {
        self.challenges.iter().filter(move |challenge| challenge.user == user)
    }

    /// Deletes the challenges past their retention.
    pub(crate) fn purge_expired(&mut self, now: Timestamp) {
        self.challenges.retain(|challenge| challenge.issued_at > now.minus(challenge.purpose.kept_for()));
        let since = now.minus(WINDOW);
        self.phone_codes.retain(|code| code.sent_at > since);
    }

    /// The phone code quotas that this code would exceed.
    fn used_up(&self, code: &CountedCode) -> Vec<TooMany> {
        let refused = |(quota, most): (CodeQuota, u32)| {
            let counted = self.phone_codes.iter().filter(|kept| kept.counts(quota, code));
            let sent = newest_first(counted.map(|kept| kept.sent_at), |at| *at);
            code.refused(quota, most, sent.get(length(most.saturating_sub(1))).copied())
        };
        code.quotas().filter_map(refused).collect()
    }

    /// Replaces a hash; returns whether the previous one was still stored.
    fn replace(&mut self, user: UserId, before: &PasswordHash, after: &PasswordHash) -> bool {
        let kept = self.passwords.get_mut(&user).filter(|kept| *kept == before);
        kept.map(|kept| kept.clone_from(after)).is_some()
    }

    /// The newest challenge of a purpose.
    pub(crate) fn newest(&mut self, user: UserId, purpose: Purpose) -> Option<&mut Challenge> {
        let mut challenges = self.challenges.iter_mut();
        challenges.rfind(|challenge| challenge.user == user && challenge.purpose == purpose)
    }
}

impl State {
    fn credentials(&self, user: UserId) -> Option<Credentials> {
        let (role, password) = (self.book.get(user)?.role, self.keys.passwords.get(&user)?);
        Some(Credentials { user, role, password: password.clone() })
    }

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
        Ok(state.keys.owner(email).and_then(|user| state.credentials(user)))
    }

    async fn credentials_of(&self, user: UserId) -> Result<Option<Credentials>, Unavailable> {
        Ok(self.lock()?.credentials(user))
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
        keys.end(user, |purpose| Purpose::ENDED_BY_NEW_PASSWORD.contains(&purpose), now);
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
        let alike = keys.challenges.iter().filter(|other| {
            other.purpose == purpose && (other.user == user || other.target == challenge.target)
        });
        let earlier: Vec<Timestamp> = alike.map(|other| other.issued_at).collect();
        let hour = may_issue(&earlier, challenge.issued_at).err();
        let used_up = counted.map(|code| keys.used_up(code)).unwrap_or_default();
        if let Some(too_many) = TooMany::longest(hour.into_iter().chain(used_up)) {
            return Ok(IssueOutcome::TooMany(too_many));
        }
        keys.phone_codes.extend(counted.map(KeptCode::from));
        keys.end(user, |other| other == purpose, challenge.issued_at);
        keys.challenges.push(challenge.clone());
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
        state.keys.passwords.insert(user, after.clone());
        state.keys.end(user, |purpose| Purpose::ENDED_BY_NEW_PASSWORD.contains(&purpose), now);
        state.sessions.end_all(user, None, now);
        state.webhooks.disable_own(user, None, now);
        Ok(Some(user))
    }

    async fn claim(&self, claim: &GuestClaim) -> Result<Claimed, Unavailable> {
        Ok(self.lock()?.claim(claim))
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
        if !state.sessions.is_alive(session, now) {
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

    async fn challenge(
        &self,
        purpose: Purpose,
        presented: &TokenHash,
    ) -> Result<Option<Challenge>, Unavailable> {
        Ok(self.lock()?.keys.with_hash(purpose, presented).cloned())
    }

    async fn use_wallet_link(
        &self,
        presented: &TokenHash,
        session: &Session,
        cookie: TokenHash,
    ) -> Result<Result<User, LinkEnd>, Unavailable> {
        self.lock()?.use_wallet_link(presented, session, cookie)
    }

    async fn ended_by_wallet_link(&self, session: SessionId) -> Result<bool, Unavailable> {
        Ok(self.lock()?.ended_by_wallet_link(session))
    }
}
