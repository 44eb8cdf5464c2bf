//! Failed logins, counted by e-mail address and network, so that strangers cannot use up the owner's attempts; by
//! network alone, so that one network cannot try a password on many users; and by address alone, so that
//! many networks together cannot guess without limit. Failed logins in a known browser are counted for that browser alone.

use std::hash::RandomState;
use std::num::NonZeroU32;
use std::time::Duration;

use cuepoint_adapters::security::password_queue::StrangerAdmission;
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::network::ClientNetwork;

use super::Quotas;
use super::counts::{Counts, Shares, Taken};
use super::quota::Quota;
use super::subject::RateLimitSubject;

/// A login that counts as failed until it is refunded.
#[derive(Default, Debug)]
#[must_use = "a login that did not fail is given back"]
pub struct LoginAttempt {
    from_network: Option<Taken>,
    by_network: Option<Taken>,
    by_email: Option<Taken>,
    /// The admission of a stranger's password to the queue.
    stranger: Option<StrangerAdmission>,
}

impl LoginAttempt {
    /// The attempt, which holds this admission until it is dropped or given back.
    pub(crate) fn of_stranger(self, admission: StrangerAdmission) -> Self {
        Self { stranger: Some(admission), ..self }
    }
}

/// The reason for refusing a login before its password is checked.
#[derive(Debug)]
pub enum LoginLimitRefusal {
    /// Too many failed logins from this network with this address.
    Account(Quota),
    /// Too many failed logins from this network with all addresses. The attempt counts for this address and the network
    /// together. It is admitted from known networks of the user, and refunded for all others.
    Network(Quota, Box<LoginAttempt>),
    /// Too many failed logins with this address. The attempt counts against the network only. It is admitted
    /// from known networks of the user, and refunded for all others.
    Email(Quota, Box<LoginAttempt>),
}

/// The counts of failed logins.
pub(super) struct FailedLogins {
    from_network: Counts,
    by_network: Counts,
    by_email: Counts,
    /// Hashes e-mail addresses into numbers that are unpredictable from outside.
    emails: RandomState,
}

impl FailedLogins {
    pub(super) fn new(quotas: &Quotas) -> Self {
        Self {
            from_network: Counts::per_minute("failed_logins_per_minute", quotas.failed_logins),
            by_network: Counts::per_minute("failed_logins_per_address", quotas.failed_logins_per_address),
            by_email: Counts::per_hour("failed_logins_per_hour", quotas.failed_logins_per_hour),
            emails: RandomState::new(),
        }
    }

    pub(super) fn attempt(
        &self,
        folded_email: &str,
        network: Option<ClientNetwork>,
        now: Duration,
    ) -> Result<LoginAttempt, LoginLimitRefusal> {
        let (email, email_from) = Shares::email(&self.emails, folded_email, network);
        let (_, from_network) =
            self.from_network.take(email_from, now).map_err(LoginLimitRefusal::Account)?;
        let mut attempt = LoginAttempt { from_network: Some(from_network), ..LoginAttempt::default() };
        match self.by_network.take(Shares::network(network, NonZeroU32::MIN), now) {
            Ok((_, taken)) => attempt.by_network = Some(taken),
            Err(quota) => return Err(LoginLimitRefusal::Network(quota, Box::new(attempt))),
        }
        match self.by_email.take(email, now) {
            Ok((_, taken)) => Ok(LoginAttempt { by_email: Some(taken), ..attempt }),
            Err(quota) => Err(LoginLimitRefusal::Email(quota, Box::new(attempt))),
        }
    }

    /// Counts an attempt in the browser in which this session began.
    pub(super) fn attempt_of_browser(
        &self,
        session: SessionId,
        now: Duration,
    ) -> Result<LoginAttempt, Quota> {
        let browser = Shares::of(RateLimitSubject::Browser(session));
        let (_, from_network) = self.from_network.take(browser, now)?;
        let attempt = LoginAttempt { from_network: Some(from_network), ..LoginAttempt::default() };
        match self.by_email.take(browser, now) {
            Ok((_, taken)) => Ok(LoginAttempt { by_email: Some(taken), ..attempt }),
            Err(quota) => {
                self.give_back(attempt, now);
                Err(quota)
            }
        }
    }

    /// This address and this network together.
    pub(super) fn account_from(&self, folded_email: &str, network: Option<ClientNetwork>) -> Shares {
        Shares::email(&self.emails, folded_email, network).1
    }

    pub(super) fn give_back(&self, attempt: LoginAttempt, now: Duration) {
        let LoginAttempt { from_network, by_network, by_email, stranger } = attempt;
        drop(stranger);
        from_network.into_iter().for_each(|taken| self.from_network.give_back(taken, now));
        by_network.into_iter().for_each(|taken| self.by_network.give_back(taken, now));
        by_email.into_iter().for_each(|taken| self.by_email.give_back(taken, now));
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::time::Duration;

    use super::super::RateLimits;
    use super::super::tests::{FakeClock, limits_of};
    use super::*;

    /// Five failures a minute per address and network, twelve per network, eight an hour per address.
    fn limits() -> (RateLimits, FakeClock) {
        limits_of(|quotas| {
            quotas.failed_logins_per_address = 12.try_into().unwrap();
            quotas.failed_logins_per_hour = 8.try_into().unwrap();
        })
    }

    fn at(address: &str) -> Option<ClientNetwork> {
        Some(ClientNetwork::of(address.parse::<IpAddr>().unwrap()))
    }

    /// The outcome of a login: `.` is admitted, `n` refused for the address and network, `m` for the network
    /// with all addresses, `a` for the address.
    fn tried(limits: &RateLimits, name: &str, address: &str) -> char {
        match limits.try_login(name, at(address)) {
            Ok(_) => '.',
            Err(LoginLimitRefusal::Account(quota)) => {
                assert_eq!((quota.resource, quota.limit), ("failed_logins_per_minute", 5));
                'n'
            }
            Err(LoginLimitRefusal::Network(quota, attempt)) => {
                assert_eq!(quota.resource, "failed_logins_per_address");
                assert!(matches!(quota.limit, 12 | 96), "{quota:?}");
                limits.give_back(*attempt);
                'm'
            }
            Err(LoginLimitRefusal::Email(quota, attempt)) => {
                assert_eq!((quota.resource, quota.limit), ("failed_logins_per_hour", 8));
                limits.give_back(*attempt);
                'a'
            }
        }
    }

    fn many(limits: &RateLimits, name: &str, host: u8, times: usize) -> String {
        let address = format!("192.0.2.{host}");
        (0..times).map(|_| tried(limits, name, &address)).collect()
    }

    #[test]
    fn an_email_address_has_login_quotas_per_network_and_over_all_networks() {
        let (limits, clock) = limits();
        assert_eq!(many(&limits, "ada", 1, 7), ".....nn");
        assert_eq!(many(&limits, "ada", 2, 5), "...aa");
        assert_eq!(many(&limits, "bob", 1, 1), ".");
        // Attempts refused for the address were refunded to the network.
        clock.advance(Duration::from_secs(450));
        assert_eq!(many(&limits, "ada", 2, 2), ".a");
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(many(&limits, "ada", 1, 6), ".....n");
    }

    #[test]
    fn a_network_gets_at_most_twelve_failed_logins_a_minute() {
        let (limits, clock) = limits();
        assert_eq!(many(&limits, "ada", 1, 5), ".....");
        assert_eq!(many(&limits, "bob", 1, 5), ".....");
        assert_eq!(many(&limits, "cyd", 1, 4), "..mm");
        assert_eq!(many(&limits, "cyd", 2, 3), "...");
        // The refused attempts took nothing from the count of the address and the network.
        clock.advance(Duration::from_secs(60));
        assert_eq!(many(&limits, "cyd", 1, 5), "...aa");
    }

    #[test]
    fn a_site_is_allowed_eight_times_the_failed_logins_of_a_network() {
        let (limits, _) = limits();
        let from = |site: u8, network: usize, name: usize| {
            tried(&limits, &format!("{name}@example.com"), &format!("2001:db8:{site}:{network:x}::1"))
        };
        let of_a_network: String = (0..13).map(|name| from(1, 0, name)).collect();
        assert_eq!(of_a_network, "............m");
        let of_the_others: String = (1..=90).map(|number| from(1, number, 100 + number)).collect();
        assert_eq!(of_the_others, [".".repeat(84), "m".repeat(6)].concat());
        assert_eq!(from(2, 0, 1_000), '.');
    }

    #[test]
    fn successful_logins_do_not_count_as_failed() {
        let (limits, _) = limits();
        for _ in 0..50 {
            limits.give_back(limits.try_login("ada", at("192.0.2.1")).unwrap());
        }
        assert_eq!(many(&limits, "ada", 1, 6), ".....n");
        // Concurrent attempts each refund their own count.
        let two: Vec<_> = (0..2).map(|_| limits.try_login("ada", at("192.0.2.2")).unwrap()).collect();
        assert_eq!(many(&limits, "ada", 2, 2), ".a");
        two.into_iter().for_each(|attempt| limits.give_back(attempt));
        assert_eq!(many(&limits, "ada", 3, 3), "..a");
    }

    /// Attack API2: using up the attempts of a browser that belongs to the account, or guessing with its stolen proof.
    #[test]
    fn a_known_browser_has_a_count_of_its_own() {
        let (limits, clock) = limits();
        let browser = |session: i64, times: usize| -> String {
            let session = SessionId::new(session).unwrap();
            let tried = (0..times).map(|_| match limits.try_login_of_browser(session) {
                Ok(_) => '.',
                Err(quota) if quota.resource == "failed_logins_per_minute" => 'n',
                Err(quota) => {
                    assert_eq!((quota.resource, quota.limit), ("failed_logins_per_hour", 8));
                    'a'
                }
            });
            tried.collect()
        };
        assert_eq!(many(&limits, "ada", 1, 6), ".....n");
        assert_eq!(browser(7, 6), ".....n");
        assert_eq!((browser(8, 1).as_str(), many(&limits, "ada", 2, 4).as_str()), (".", "...a"));
        clock.advance(Duration::from_secs(60));
        assert_eq!(browser(7, 5), "...aa", "a thief of the proof cannot guess without limit");
    }

    #[test]
    fn a_login_given_back_late_adds_nothing_to_a_refilled_quota() {
        let (limits, clock) = limits();
        let attempt = limits.try_login("ada", at("192.0.2.1")).unwrap();
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(many(&limits, "ada", 1, 5), ".....");
        limits.give_back(attempt);
        assert_eq!(many(&limits, "ada", 1, 1), "n");
    }
}
