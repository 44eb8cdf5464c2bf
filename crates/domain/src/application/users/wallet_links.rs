//! Wallet links: an operator issues one for a guest account whose phone or app lost the session, and a browser uses it.

use thiserror::Error;
use time::Duration;

use super::verifications::between;
use super::{BrowserSession, SessionForm as _, SignIns, StartedSession};
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Authorized, ClientContext, Context, Effects, Loadable as _};
use crate::application::queries::{TopupQueries, TopupSearch};
use crate::authorization::Principal;
use crate::authorization::permission::{IssueWalletLink, ReadPeople};
use crate::checksum::sha256;
use crate::ids::{SessionId, UserId};
use crate::page::PageRequest;
use crate::ports::{IssueOutcome, Profile, Token};
use crate::provider_reference::ProviderReference;
use crate::security_log::{SecurityEvent, SecurityEventKind};
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::topup::{LinkIssueRefusal, may_get_link};
use crate::user::challenge::{Challenge, Purpose};
use crate::user::code_quotas::{CodeQuota, TooMany};
use crate::user::guest_account::GuestKey;
#[cfg(doc)]
use crate::user::session::REPEATABLE_FOR;
use crate::user::session::{Candidates, Session};
use crate::user::wallet_link::{LinkEnd, is_well_formed, secret_of};
use crate::user::{Role, User};

/// The facts that staff check before a link is issued, because a phone that is in use is not lost.
#[derive(Clone, PartialEq, Debug)]
pub struct AccountUse {
    pub user: User,
    /// The newest recorded use of a session that has not ended; `None` without such a session.
    pub last_used_at: Option<Timestamp>,
}

/// A link that was issued.
#[derive(Clone, PartialEq, Debug)]
pub struct IssuedLink {
    /// The account as it was before.
    pub account: AccountUse,
    /// The secret of the link, shown only once.
    pub secret: Token,
    /// The time from which the link is refused.
    pub expires_at: Timestamp,
}

/// Why no link is issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum IssueLinkRefusal {
    /// The account or the payment does not allow it.
    #[error(transparent)]
    Rule(#[from] LinkIssueRefusal),
    /// The upgrade of the service is not complete.
    #[error("the upgrade of the service is not complete")]
    NotYet,
    /// This many links were issued within an hour, and one more is allowed after this time.
    #[error("{most} links were issued already")]
    TooMany {
        quota: CodeQuota,
        /// The maximum number of links.
        most: u32,
        /// The time to wait.
        wait: Duration,
    },
}

/// Issues, shows and uses wallet links.
#[derive(Clone)]
pub struct WalletLinks {
    pub(in crate::application) sign_ins: SignIns,
}

impl WalletLinks {
    /// The last use of a user's account, for staff.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for a user who is unknown or erased.
    pub async fn last_use(&self, principal: &Principal, user: UserId) -> Result<AccountUse, Failure> {
        Authorized::<(), ReadPeople>::all(principal)?;
        let env = &self.sign_ins.env;
        let user = User::load(env, user).await?;
        // A user has no more sessions than a page.
        let page = PageRequest::new(1, PageRequest::MAX_SIZE);
        let sessions = env.sessions.sessions(user.id, env.now(), page).await?.rows;
        Ok(AccountUse { user, last_used_at: sessions.iter().map(|session| session.used_at).max() })
    }

    /// Issues a link for a guest account, and replaces the account's earlier link. The operator has compared the top-up
    /// that has this reference with the statement of its payer.
    ///
    /// # Errors
    /// [`IssueLinkRefusal`].
    pub async fn issue(
        &self,
        context: &Context,
        user: UserId,
        (compared, reason): (ProviderReference, Line),
    ) -> Result<IssuedLink, CommandError<IssueLinkRefusal>> {
        let SignIns { env, executor } = &self.sign_ins;
        executor
            .perform::<IssueWalletLink, _, _>(context, async |_, principal, _| {
                // A suspension or demotion at another server is effective immediately, as it is for plans.
                let issuer = env.people.profile(principal.user).await?.ok_or(Failure::UnknownPrincipal)?;
                if !issuer.user.is_active_operator() {
                    return Err(Failure::WrongRole.into());
                }
                let account = self.last_use(principal, user).await?;
                let topups = TopupQueries { env: env.clone() };
                let search = TopupSearch::Both(compared, user);
                let found = topups.search(principal, search, PageRequest::new(1, 1)).await?;
                may_get_link(&account.user, found.rows.first()).map_err(CommandError::refused)?;
                let secret = Token(secret_of(&env.ports.secrets.token().0));
                let (hash, now) = (env.ports.secrets.fingerprint(&secret), env.now());
                let link = Challenge::issue(&account.user, Purpose::WalletLink, hash, now);
                let link = link.ok_or(CommandError::Refused(LinkIssueRefusal::NotAGuest.into()))?;
                match env.logins.issue(&link, None).await? {
                    IssueOutcome::Done => {}
                    IssueOutcome::NotYet => return Err(CommandError::Refused(IssueLinkRefusal::NotYet)),
                    IssueOutcome::TooMany(TooMany { quota, most, until }) => {
                        let wait = between(now, until);
                        return Err(CommandError::Refused(IssueLinkRefusal::TooMany { quota, most, wait }));
                    }
                }
                self.record_issue(
                    context,
                    principal,
                    user,
                    &format!("top-up {compared}: {}", reason.as_str()),
                )
                .await;
                Ok(IssuedLink { account, secret, expires_at: link.expires_at() })
            })
            .await
    }

    async fn record_issue(&self, context: &Context, principal: &Principal, user: UserId, why: &str) {
        let env = &self.sign_ins.env;
        let (kind, client) = (SecurityEventKind::OperatorAction, context.client.clone());
        let detail = Some(Line::from_stored(format!("wallet_link: user {user}, {why}")));
        let event = SecurityEvent::by(principal, kind, client, env.now());
        env.security_audit.add(SecurityEvent { user: Some(user), detail, ..event }).await;
    }

    /// The account whose wallet a link opens. Nothing changes, because previews and scanners of messages open links, too.
    ///
    /// # Errors
    /// [`LinkEnd`].
    pub async fn shown(&self, secret: &str) -> Result<Profile, CommandError<LinkEnd>> {
        let env = &self.sign_ins.env;
        let (link, profile) = self.found(secret).await?;
        link.opens_wallet(&profile.user, env.now()).map_err(CommandError::Refused)?;
        Ok(profile)
    }

    /// Uses a link: the link and all sessions of its guest account end, and a session of this browser begins. Repeating the
    /// call with the same form within [`REPEATABLE_FOR`], while the cookie is unused, returns the same session, because
    /// the first answer may have been lost. `form` is the key of the form, which cannot be guessed.
    ///
    /// # Errors
    /// [`LinkEnd`].
    pub async fn open(
        &self,
        context: &ClientContext,
        secret: &str,
        form: &str,
    ) -> Result<BrowserSession, CommandError<LinkEnd>> {
        let open = async |effects: &mut Effects| {
            let env = &self.sign_ins.env;
            let (link, profile) = self.found(secret).await?;
            let key = GuestKey(sha256(format!("wallet-link:{secret}:{form}").as_bytes()));
            let cookies = env.ports.secrets.guest_secrets(BrowserSession::KIND, &key, env.now())?;
            let started = match self.used(context, &link, profile.clone(), &cookies).await {
                // The form may have been sent before.
                Err(CommandError::Refused(LinkEnd::Used)) => self.repeated(profile, &cookies).await?,
                used => {
                    let started = used?;
                    effects.revocations_changed();
                    let (kind, client) = (SecurityEventKind::WalletLinkUsed, context.client.clone());
                    env.security_audit.about(kind, Some(link.user), Some(started.session), client).await;
                    started
                }
            };
            self.sign_ins.formed(started)
        };
        self.sign_ins.executor.perform_open(context.deadline, open).await
    }

    async fn used(
        &self,
        context: &ClientContext,
        link: &Challenge,
        profile: Profile,
        cookies: &Candidates<Token>,
    ) -> Result<StartedSession, CommandError<LinkEnd>> {
        let (env, kind) = (&self.sign_ins.env, BrowserSession::KIND);
        let (session, now) = (env.ids.next_session().await?, env.now());
        let lifetime = env.terms.session_lifetime(kind, Role::Guest);
        let begun = Session::begin(session, link.user, context.client.clone(), now, lifetime);
        let cookie = env.ports.secrets.fingerprint(&cookies.current);
        let user = env.logins.use_wallet_link(&link.hash, &begun, cookie).await?;
        let user = user.map_err(CommandError::Refused)?;
        let profile = Profile { user, ..profile };
        Ok(StartedSession { profile, session, secret: cookies.current.clone() })
    }

    /// The session that an earlier sending of the same form began.
    ///
    /// # Errors
    /// [`LinkEnd::Used`] if another form used the link, or the cookie was used.
    async fn repeated(
        &self,
        profile: Profile,
        cookies: &Candidates<Token>,
    ) -> Result<StartedSession, CommandError<LinkEnd>> {
        let used = CommandError::Refused(LinkEnd::Used);
        let found = self.sign_ins.found(BrowserSession::KIND, cookies).await?;
        let Some((user, session, secret)) = found else { return Err(used) };
        let now = self.sign_ins.env.now();
        let answers = |alive: &Session| alive.id == session && alive.answers_repetition(now);
        if self.sign_ins.live_session(user, answers).await?.is_none() {
            return Err(used);
        }
        Ok(StartedSession { profile, session, secret })
    }

    /// The link with this secret, and the profile of its account.
    async fn found(&self, secret: &str) -> Result<(Challenge, Profile), CommandError<LinkEnd>> {
        let (env, unknown) = (&self.sign_ins.env, || CommandError::Refused(LinkEnd::Unknown));
        if !is_well_formed(secret) {
            return Err(unknown());
        }
        let presented = env.ports.secrets.fingerprint(&Token(secret.to_owned()));
        let link = env.logins.challenge(Purpose::WalletLink, &presented).await?.ok_or_else(unknown)?;
        let profile = env.people.profile(link.user).await?.ok_or_else(unknown)?;
        Ok((link, profile))
    }

    /// Whether the use of a wallet link ended this session. Its browser or app then shows this reason.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn ended(&self, session: SessionId) -> Result<bool, Failure> {
        Ok(self.sign_ins.env.logins.ended_by_wallet_link(session).await?)
    }
}
