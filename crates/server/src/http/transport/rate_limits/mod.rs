//! Rate limits: each class of routes has a quota per minute or hour for each principal, address or account.
//!
//! Counts are local to this process and end with it.

mod counts;
mod failed_logins;
mod subject;

use std::fmt;
use std::num::NonZeroU32;

use cuepoint_domain::authorization::Principal;
use cuepoint_domain::network::ClientNetwork;
use governor::clock::{Clock, MonotonicClock};
use governor::middleware::StateInformationMiddleware;
use governor::{Quota as Rate, RateLimiter};

use counts::Counts;
use failed_logins::FailedLogins;
pub use failed_logins::{LoginAttempt, LoginLimitRefusal};
pub use subject::RateLimitSubject;

use crate::http::wire::error::{Quota, RateLimitStatus};

/// Routes with a shared quota.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Routes that could be used to guess a password or code, that create an account, or that end all sessions.
    Login,
    /// New music requests.
    Requests,
    /// New withdrawals.
    Withdrawals,
    /// Creations, tests and replays of webhook endpoints.
    Webhooks,
    /// Changes, removals and rotations of webhook endpoints.
    WebhookChanges,
    /// All others.
    Other,
}

/// Admitted calls of one subject, per minute unless stated otherwise; all of them may arrive at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quotas {
    /// Quota of [`Class::Login`], per session for calls with a token.
    pub login: NonZeroU32,
    /// Quota of [`Class::Requests`].
    pub requests: NonZeroU32,
    /// Quota of [`Class::Withdrawals`].
    pub withdrawals: NonZeroU32,
    /// Quota of [`Class::Webhooks`], per hour.
    pub webhooks_per_hour: NonZeroU32,
    /// Quota of [`Class::WebhookChanges`], per hour and session.
    pub webhook_changes_per_hour: NonZeroU32,
    /// Quota of [`Class::Other`].
    pub other: NonZeroU32,
    /// Failed logins with one account from one network.
    pub failed_logins: NonZeroU32,
    /// Failed logins with one account from all networks, per hour.
    pub failed_logins_per_hour: NonZeroU32,
}

/// The number of sessions of an account that can use up their quotas before the account has none left.
const SESSIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4);

type Limiter<C> = RateLimiter<RateLimitSubject, Counts, C, StateInformationMiddleware>;

/// Counts by session, so that a stolen token cannot use up what its owner has in another session, and by account.
struct SessionLimiter<C: Clock> {
    session: Limiter<C>,
    account: Limiter<C>,
}

impl<C: Clock + Clone> SessionLimiter<C> {
    fn new(rate: fn(NonZeroU32) -> Rate, per_session: NonZeroU32, clock: &C) -> Self {
        let limiter = |quota| RateLimiter::new(rate(quota), Counts::default(), clock.clone());
        Self { session: limiter(per_session), account: limiter(per_session.saturating_mul(SESSIONS)) }
    }

    fn check(&self, principal: &Principal) -> Result<RateLimitStatus, Quota> {
        let status = check(&self.session, &RateLimitSubject::Session(principal.session))?;
        check(&self.account, &RateLimitSubject::Principal(principal.user))?;
        Ok(status)
    }
}

/// The counts of all subjects.
pub struct RateLimits<C: Clock = MonotonicClock> {
    /// `None` admits every call.
    classes: Option<Classes<C>>,
}

struct Classes<C: Clock> {
    login: Limiter<C>,
    login_by_session: SessionLimiter<C>,
    requests: Limiter<C>,
    withdrawals: Limiter<C>,
    webhooks: Limiter<C>,
    webhook_changes: SessionLimiter<C>,
    other: Limiter<C>,
    failed_logins: FailedLogins<C>,
}

impl<C: Clock + Clone> RateLimits<C> {
    /// Counts by this clock; without quotas, every call is admitted.
    #[must_use]
    pub fn new(quotas: Option<Quotas>, clock: C) -> Self {
        let limiter = |rate: Rate| RateLimiter::new(rate, Counts::default(), clock.clone());
        let classes = quotas.map(|quotas| Classes {
            login: limiter(Rate::per_minute(quotas.login)),
            login_by_session: SessionLimiter::new(Rate::per_minute, quotas.login, &clock),
            requests: limiter(Rate::per_minute(quotas.requests)),
            withdrawals: limiter(Rate::per_minute(quotas.withdrawals)),
            webhooks: limiter(Rate::per_hour(quotas.webhooks_per_hour)),
            webhook_changes: SessionLimiter::new(Rate::per_hour, quotas.webhook_changes_per_hour, &clock),
            other: limiter(Rate::per_minute(quotas.other)),
            failed_logins: FailedLogins::new(&quotas, &clock),
        });
        Self { classes }
    }

    /// Counts a login as failed before its password is checked, so that concurrent guesses cannot exceed the
    /// quota. Counts it for the account of this name, existing or not, and for this network. Call
    /// [`RateLimits::give_back`] if the login succeeds.
    ///
    /// # Errors
    /// [`LoginLimitRefusal`].
    pub fn try_login(
        &self,
        folded_name: &str,
        network: Option<ClientNetwork>,
    ) -> Result<LoginAttempt, LoginLimitRefusal> {
        match &self.classes {
            Some(classes) => classes.failed_logins.attempt(folded_name, network),
            None => Ok(LoginAttempt::default()),
        }
    }

    /// Refunds a login that did not fail.
    pub fn give_back(&self, attempt: LoginAttempt) {
        if let Some(classes) = &self.classes {
            classes.failed_logins.give_back(attempt);
        }
    }

    /// Counts a call of a principal, for [`Class::Login`] and [`Class::WebhookChanges`] by session and by account;
    /// `None` if the limits are disabled.
    ///
    /// # Errors
    /// The exhausted [`Quota`].
    pub fn admit_principal(
        &self,
        class: Class,
        principal: &Principal,
    ) -> Result<Option<RateLimitStatus>, Quota> {
        match (&self.classes, class) {
            (Some(classes), Class::Login) => classes.login_by_session.check(principal).map(Some),
            (Some(classes), Class::WebhookChanges) => classes.webhook_changes.check(principal).map(Some),
            _ => self.admit(class, RateLimitSubject::Principal(principal.user)),
        }
    }

    /// Counts a call; `None` if the limits are disabled.
    ///
    /// # Errors
    /// The exhausted [`Quota`]; a refused call does not count.
    pub fn admit(&self, class: Class, subject: RateLimitSubject) -> Result<Option<RateLimitStatus>, Quota> {
        let Some(classes) = &self.classes else { return Ok(None) };
        let limiter = match class {
            Class::Login => &classes.login,
            Class::Requests => &classes.requests,
            Class::Withdrawals => &classes.withdrawals,
            Class::Webhooks => &classes.webhooks,
            Class::WebhookChanges => &classes.webhook_changes.account,
            Class::Other => &classes.other,
        };
        check(limiter, &subject).map(Some)
    }
}

/// Counts one subject.
fn check<C: Clock>(limiter: &Limiter<C>, subject: &RateLimitSubject) -> Result<RateLimitStatus, Quota> {
    match limiter.check_key(subject) {
        Ok(state) => Ok(RateLimitStatus {
            limit: state.quota().burst_size().get(),
            remaining: state.remaining_burst_capacity(),
        }),
        Err(until) => {
            let wait = until.wait_time_from(limiter.clock().now());
            let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
            Err(Quota {
                limit: until.quota().burst_size().get(),
                retry_after_seconds: u32::try_from(seconds.max(1)).unwrap_or(u32::MAX),
            })
        }
    }
}

impl<C: Clock> fmt::Debug for RateLimits<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimits").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
