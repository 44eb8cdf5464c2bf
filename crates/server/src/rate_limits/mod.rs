//! How often somebody may call: each class of routes has a quota for a minute, for each caller, address or account.
//!
//! Calls are counted in this process alone, and forgotten with it.

mod counts;
mod subject;

use std::fmt;
use std::hash::RandomState;
use std::num::NonZeroU32;

use governor::RateLimiter;
use governor::clock::{Clock, MonotonicClock};
use governor::middleware::StateInformationMiddleware;

use counts::Counts;
pub use subject::Subject;

use crate::http::error::Quota;

/// Routes that share a quota.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Those where a password or code could be guessed.
    Login,
    /// New requests for songs.
    Requests,
    /// New withdrawals.
    Withdrawals,
    /// All others.
    Other,
}

/// The calls of one subject that each class admits within a minute; all of them may come at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PerMinute {
    /// Of [`Class::Login`].
    pub login: NonZeroU32,
    /// Of [`Class::Requests`].
    pub requests: NonZeroU32,
    /// Of [`Class::Withdrawals`].
    pub withdrawals: NonZeroU32,
    /// Of [`Class::Other`].
    pub other: NonZeroU32,
}

/// What an admitted call left of its quota.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Calls of one minute.
    pub limit: u32,
    /// Calls that would be admitted now.
    pub remaining: u32,
}

type Limiter<C> = RateLimiter<Subject, Counts, C, StateInformationMiddleware>;

/// The counts of all subjects.
pub struct RateLimits<C: Clock = MonotonicClock> {
    /// `None` admits everything.
    classes: Option<Classes<C>>,
    /// Makes names of accounts into numbers that nobody outside can foresee.
    names: RandomState,
}

struct Classes<C: Clock> {
    login: Limiter<C>,
    requests: Limiter<C>,
    withdrawals: Limiter<C>,
    other: Limiter<C>,
}

impl<C: Clock + Clone> RateLimits<C> {
    /// Counts by this clock; without quotas it admits everything.
    #[must_use]
    pub fn new(per_minute: Option<PerMinute>, clock: C) -> Self {
        let limiter = |quota: NonZeroU32| {
            let quota = governor::Quota::per_minute(quota);
            RateLimiter::new(quota, Counts::default(), clock.clone())
        };
        let classes = per_minute.map(|PerMinute { login, requests, withdrawals, other }| Classes {
            login: limiter(login),
            requests: limiter(requests),
            withdrawals: limiter(withdrawals),
            other: limiter(other),
        });
        Self { classes, names: RandomState::new() }
    }

    /// The account that is called by this name, whether or not there is one.
    #[must_use]
    pub fn account(&self, folded_name: &str) -> Subject {
        Subject::account(&self.names, folded_name)
    }

    /// Counts a call; `None` where nothing is counted.
    ///
    /// # Errors
    /// The [`Quota`] that is used up; a call that is refused does not count.
    pub fn admit(&self, class: Class, subject: Subject) -> Result<Option<Standing>, Quota> {
        let Some(classes) = &self.classes else { return Ok(None) };
        let limiter = match class {
            Class::Login => &classes.login,
            Class::Requests => &classes.requests,
            Class::Withdrawals => &classes.withdrawals,
            Class::Other => &classes.other,
        };
        match limiter.check_key(&subject) {
            Ok(state) => Ok(Some(Standing {
                limit: state.quota().burst_size().get(),
                remaining: state.remaining_burst_capacity(),
            })),
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
}

impl<C: Clock> fmt::Debug for RateLimits<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimits").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
