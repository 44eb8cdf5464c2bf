//! Failed logins, counted by account and network, so that strangers cannot use up the owner's attempts, and
//! by account alone, so that many networks together cannot guess without limit.

use std::hash::RandomState;

use cuepoint_domain::network::ClientNetwork;
use governor::clock::Clock;
use governor::nanos::Nanos;
use governor::{Quota as Rate, RateLimiter};

use super::counts::Counts;
use super::{Limiter, Quotas, RateLimitSubject, check};
use crate::http::wire::error::Quota;

/// A login that counts as failed until it is refunded.
#[derive(Default, Debug)]
#[must_use = "a login that did not fail is given back"]
pub struct LoginAttempt {
    by_network: Option<RateLimitSubject>,
    by_account: Option<RateLimitSubject>,
}

/// The reason for refusing a login before its password is checked.
#[derive(Debug)]
pub enum LoginLimitRefusal {
    /// Too many failed logins with this account from this network.
    Network(Quota),
    /// Too many failed logins with this account. The attempt counts against the network only. It is admitted
    /// from networks from which the account was recently logged in, and refunded for all others.
    Account(Quota, LoginAttempt),
}

/// Counts of one kind of subject that can be refunded.
struct Refundable<C: Clock> {
    limiter: Limiter<C>,
    counts: Counts,
    /// The time by which a refunded call advances a full quota.
    interval: Nanos,
}

impl<C: Clock + Clone> Refundable<C> {
    fn new(rate: Rate, clock: &C) -> Self {
        let counts = Counts::default();
        let limiter = RateLimiter::new(rate, counts.clone(), clock.clone());
        Self { limiter, counts, interval: rate.replenish_interval().into() }
    }

    fn take(&self, subject: &RateLimitSubject) -> Result<(), Quota> {
        check(&self.limiter, subject).map(drop)
    }

    fn give_back(&self, subject: &RateLimitSubject) {
        self.counts.give_back(subject, self.interval);
    }
}

/// The counts of failed logins.
pub(super) struct FailedLogins<C: Clock> {
    by_network: Refundable<C>,
    by_account: Refundable<C>,
    /// Hashes account names into numbers that are unpredictable from outside.
    names: RandomState,
}

impl<C: Clock + Clone> FailedLogins<C> {
    pub(super) fn new(quotas: &Quotas, clock: &C) -> Self {
        Self {
            by_network: Refundable::new(Rate::per_minute(quotas.failed_logins), clock),
            by_account: Refundable::new(Rate::per_hour(quotas.failed_logins_per_hour), clock),
            names: RandomState::new(),
        }
    }

    pub(super) fn attempt(
        &self,
        folded_name: &str,
        network: Option<ClientNetwork>,
    ) -> Result<LoginAttempt, LoginLimitRefusal> {
        let (account, from) = RateLimitSubject::account(&self.names, folded_name, network);
        self.by_network.take(&from).map_err(LoginLimitRefusal::Network)?;
        let attempt = LoginAttempt { by_network: Some(from), by_account: None };
        match self.by_account.take(&account) {
            Ok(()) => Ok(LoginAttempt { by_account: Some(account), ..attempt }),
            Err(quota) => Err(LoginLimitRefusal::Account(quota, attempt)),
        }
    }

    pub(super) fn give_back(&self, attempt: LoginAttempt) {
        let LoginAttempt { by_network, by_account } = attempt;
        by_network.iter().for_each(|subject| self.by_network.give_back(subject));
        by_account.iter().for_each(|subject| self.by_account.give_back(subject));
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::time::Duration;

    use governor::clock::FakeRelativeClock;

    use super::super::RateLimits;
    use super::*;

    /// Five failures a minute per account and network, eight an hour per account.
    fn limits() -> (RateLimits<FakeRelativeClock>, FakeRelativeClock) {
        let number = |number| NonZeroU32::new(number).unwrap();
        let quotas = Quotas {
            login: number(1),
            requests: number(1),
            withdrawals: number(1),
            webhooks_per_hour: number(1),
            webhook_changes_per_hour: number(1),
            other: number(1),
            failed_logins: number(5),
            failed_logins_per_hour: number(8),
        };
        let clock = FakeRelativeClock::default();
        (RateLimits::new(Some(quotas), clock.clone()), clock)
    }

    fn from(host: u8) -> Option<ClientNetwork> {
        Some(ClientNetwork::of([192, 0, 2, host].into()))
    }

    /// The outcome of a login: `.` is admitted, `n` refused for its network, `a` for its account.
    fn tried(limits: &RateLimits<FakeRelativeClock>, name: &str, host: u8) -> char {
        match limits.try_login(name, from(host)) {
            Ok(_) => '.',
            Err(LoginLimitRefusal::Network(quota)) => {
                assert_eq!(quota.limit, 5);
                'n'
            }
            Err(LoginLimitRefusal::Account(quota, attempt)) => {
                assert_eq!(quota.limit, 8);
                limits.give_back(attempt);
                'a'
            }
        }
    }

    fn many(limits: &RateLimits<FakeRelativeClock>, name: &str, host: u8, times: usize) -> String {
        (0..times).map(|_| tried(limits, name, host)).collect()
    }

    #[test]
    fn a_network_uses_up_only_its_own_quota() {
        let (limits, clock) = limits();
        assert_eq!(many(&limits, "ada", 1, 7), ".....nn");
        assert_eq!(many(&limits, "ada", 2, 5), "...aa");
        assert_eq!(many(&limits, "bob", 1, 1), ".");
        // Attempts refused for the account were refunded to the network.
        clock.advance(Duration::from_secs(450));
        assert_eq!(many(&limits, "ada", 2, 2), ".a");
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(many(&limits, "ada", 1, 6), ".....n");
    }

    #[test]
    fn successful_logins_are_refunded() {
        let (limits, _) = limits();
        for _ in 0..50 {
            limits.give_back(limits.try_login("ada", from(1)).unwrap());
        }
        assert_eq!(many(&limits, "ada", 1, 6), ".....n");
        // Concurrent attempts each refund their own count.
        let two: Vec<_> = (0..2).map(|_| limits.try_login("ada", from(2)).unwrap()).collect();
        assert_eq!(many(&limits, "ada", 2, 2), ".a");
        two.into_iter().for_each(|attempt| limits.give_back(attempt));
        assert_eq!(many(&limits, "ada", 3, 3), "..a");
    }

    #[test]
    fn a_late_refund_adds_no_quota() {
        let (limits, clock) = limits();
        let attempt = limits.try_login("ada", from(1)).unwrap();
        clock.advance(Duration::from_secs(3_600));
        limits.give_back(attempt);
        assert_eq!(many(&limits, "ada", 1, 6), ".....n");
    }
}
