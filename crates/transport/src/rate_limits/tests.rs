use std::sync::{Arc, Mutex};

use cuepoint_domain::ids::UserId;
use cuepoint_domain::user::Role;

use super::*;

/// A clock that stands still until it is advanced.
#[derive(Clone, Default)]
pub(super) struct FakeClock(Arc<Mutex<Duration>>);

impl FakeClock {
    pub(super) fn advance(&self, by: Duration) {
        let mut now = self.0.lock().unwrap();
        *now = now.saturating_add(by);
    }
}

fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

/// Limits with small quotas, changed by `change`.
pub(super) fn limits_of(change: impl FnOnce(&mut Quotas)) -> (RateLimits, FakeClock) {
    let mut quotas = Quotas {
        login: number(12),
        registrations: number(6),
        public: number(90),
        guess: number(5),
        refreshes: number(8),
        requests: number(10),
        withdrawals: number(7),
        webhooks_per_hour: number(3),
        webhook_changes_per_hour: number(4),
        gigs_per_hour: number(11),
        boards: number(80),
        nearby: number(13),
        pages: number(23),
        guests: number(15),
        guest_requests: number(16),
        unknown_codes: number(9),
        other: number(60),
        failed_logins: number(5),
        failed_logins_per_address: number(30),
        failed_logins_per_hour: number(100),
        waiting_passwords: number(8),
    };
    change(&mut quotas);
    let clock = FakeClock::default();
    let read = clock.clone();
    (RateLimits::with_clock(Some(quotas), Box::new(move || *read.0.lock().unwrap())), clock)
}

fn limits() -> (RateLimits, FakeClock) {
    limits_of(|_| {})
}

fn principal(user: i64, session: i64) -> Principal {
    Principal {
        user: UserId::new(user).unwrap(),
        role: Role::Member,
        is_dj: false,
        session: SessionId::new(session).unwrap(),
    }
}

fn network(address: &str) -> Option<ClientNetwork> {
    Some(ClientNetwork::of(address.parse().unwrap()))
}

/// The number of calls that are admitted until one is refused.
fn exhaust(admit: impl Fn() -> Result<Option<Admitted>, Quota>) -> usize {
    std::iter::repeat_with(admit).take_while(Result::is_ok).count()
}

#[test]
fn a_quota_allows_a_burst_and_then_refills_steadily() {
    let (limits, clock) = limits();
    let admit = || limits.admit_principal(Class::Guess, &principal(1, 1));
    let admitted = |remaining, reset_seconds| {
        let status = admit().unwrap().unwrap().status;
        let expected = RateLimitStatus { resource: "guess_per_minute", limit: 5, remaining, reset_seconds };
        assert_eq!(status, expected);
    };
    let refused = |retry_after_seconds, reset_seconds| {
        let expected = Quota { resource: "guess_per_minute", limit: 5, retry_after_seconds, reset_seconds };
        assert_eq!(admit().unwrap_err(), expected);
    };
    for (remaining, reset_seconds) in [(4, 12), (3, 24), (2, 36), (1, 48), (0, 60)] {
        admitted(remaining, reset_seconds);
    }
    refused(12, 60);
    clock.advance(Duration::from_millis(11_001));
    // Waiting for the reported time always suffices; a refused call costs nothing.
    refused(1, 49);
    refused(1, 49);
    clock.advance(Duration::from_millis(999));
    admitted(0, 60);
    refused(12, 60);
    clock.advance(Duration::from_secs(600));
    admitted(4, 12);
}

#[test]
fn a_quota_per_hour_refills_within_an_hour() {
    let (limits, clock) = limits();
    let admit = || limits.admit_principal(Class::Webhooks, &principal(1, 1));
    for (remaining, reset_seconds) in [(2, 1_200), (1, 2_400), (0, 3_600)] {
        let status = admit().unwrap().unwrap().status;
        assert_eq!((status.limit, status.remaining, status.reset_seconds), (3, remaining, reset_seconds));
    }
    assert_eq!(admit().unwrap_err().retry_after_seconds, 1_200);
    clock.advance(Duration::from_secs(1_200));
    assert_eq!(admit().unwrap().unwrap().status.remaining, 0);
}

#[test]
fn each_class_and_subject_has_a_separate_count() {
    let (limits, _) = limits();
    for (class, most) in [
        (Class::Login, 12),
        (Class::Registrations, 6),
        (Class::Claims, 6),
        (Class::Guests, 15),
        (Class::GuestsOfPages, 15),
        (Class::Public, 90),
        (Class::Guess, 5),
        (Class::Refreshes, 8),
        (Class::Requests, 10),
        (Class::Withdrawals, 7),
        (Class::Webhooks, 3),
        (Class::Gigs, 11),
        (Class::Boards, 80),
        (Class::Nearby, 13),
        (Class::Pages, 23),
        (Class::UnknownCodes, 9),
        (Class::Other, 60),
    ] {
        for address in [network("192.0.2.1"), network("192.0.2.2"), network("2001:db8::1"), None] {
            let admit = || limits.admit_network(class, address);
            // A venue can be behind an address, so that its quota is larger than the quota of a user.
            let times = match class {
                Class::Guess => 100,
                Class::Refreshes | Class::UnknownCodes | Class::Other | Class::GuestsOfPages => 10,
                _ => 1,
            };
            assert_eq!((exhaust(admit), exhaust(admit)), (most * times, 0), "{class:?} {address:?}");
        }
        for user in [1, 2] {
            let admit = || limits.admit_principal(class, &principal(user, user));
            assert_eq!((exhaust(admit), exhaust(admit)), (most, 0), "{class:?} {user}");
        }
    }
}

#[test]
fn guesses_and_endpoint_changes_count_per_session_and_user() {
    let (limits, clock) = limits();
    for (class, of_session) in [(Class::Guess, 5), (Class::WebhookChanges, 4)] {
        let admitted = |user, session| exhaust(|| limits.admit_principal(class, &principal(user, session)));
        let admitted_of = |sessions: &[i64]| sessions.iter().map(|id| admitted(1, *id)).collect::<Vec<_>>();
        assert_eq!(admitted_of(&[1, 2, 3, 4, 5]), [of_session; 5], "{class:?}");
        assert_eq!(admitted_of(&[6, 7]), [0, 0], "{class:?}");
        assert_eq!(admitted(2, 8), of_session, "{class:?}: another user");
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(admitted(1, 1), of_session, "{class:?}");
    }
}

#[test]
fn addresses_of_one_network_share_a_quota() {
    for (one, other, same) in [
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true),
        ("2001:db8::1", "2001:db8:0:1::1", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false),
    ] {
        let (limits, _) = limits();
        assert_eq!(exhaust(|| limits.admit_network(Class::Registrations, network(one))), 6);
        let left = if same { 0 } else { 6 };
        assert_eq!(
            exhaust(|| limits.admit_network(Class::Registrations, network(other))),
            left,
            "{one} {other}"
        );
    }
}

#[test]
fn an_ipv6_site_has_eight_times_the_quota_of_a_network() {
    let (limits, clock) = limits();
    let from = |site: u8, part: u8| {
        let address = network(&format!("2001:db8:{site}:{part}::1"));
        exhaust(|| limits.admit_network(Class::Registrations, address))
    };
    let admitted: Vec<_> = (1..=9).map(|part| from(1, part)).collect();
    assert_eq!(admitted, [6, 6, 6, 6, 6, 6, 6, 6, 0]);
    assert_eq!(from(2, 1), 6, "another site");
    let refused = limits.admit_network(Class::Registrations, network("2001:db8:1:9::1")).unwrap_err();
    assert_eq!((refused.limit, refused.retry_after_seconds, refused.reset_seconds), (48, 2, 60));
    clock.advance(Duration::from_secs(3));
    assert_eq!(from(1, 10), 2, "three seconds restore two of 48 calls a minute");
}

/// Attack API4: using up a venue's guest accounts, or its requests, at one gig for those at all others.
#[test]
fn guests_of_pages_count_for_their_dj_and_network_together() {
    let (limits, _) = limits();
    let at = |dj: i64, address: &str| {
        let dj = UserId::new(dj).unwrap();
        exhaust(|| limits.admit_at_dj(Class::GuestsOfPages, dj, network(address)))
    };
    assert_eq!((at(1, "192.0.2.1"), at(1, "192.0.2.1")), (15, 0));
    assert_eq!((at(2, "192.0.2.1"), at(1, "192.0.2.2")), (15, 15), "other gigs and other networks");
    assert_eq!(exhaust(|| limits.admit_network(Class::Guests, network("192.0.2.1"))), 15, "those of the API");
    // A site has eight times as many.
    let of_site: usize = (0..9).map(|part| at(1, &format!("2001:db8:1:{part}::1"))).sum();
    assert_eq!(of_site, 8 * 15);
}

/// Attack API4: hashes without limit by the logins of one known browser or network.
#[test]
fn known_clients_have_sixty_logins_a_minute_each() {
    let (limits, _) = limits();
    let browser = |id| {
        let known = KnownClient::Browser(UserId::new(id).unwrap());
        exhaust(|| limits.admit_known(known, network("192.0.2.1")))
    };
    let account = |email| exhaust(|| limits.admit_known(KnownClient::Network(email), network("192.0.2.1")));
    assert_eq!([browser(1), browser(1), browser(2)], [60, 0, 60]);
    assert_eq!([account("ada"), account("ada"), account("bob")], [60, 0, 60]);
    assert_eq!(exhaust(|| limits.admit_principal(Class::Other, &principal(1, 1))), 60);
}

#[test]
fn refreshes_count_per_session_or_per_network_if_no_session_is_known() {
    let (limits, _) = limits();
    let (here, elsewhere) = (network("192.0.2.1"), network("192.0.2.2"));
    let refreshed = |session: Option<i64>, from| {
        exhaust(|| limits.admit_refresh(session.map(|id| SessionId::new(id).unwrap()), from))
    };
    assert_eq!((refreshed(None, here), refreshed(None, here)), (80, 0));
    assert_eq!((refreshed(Some(1), here), refreshed(Some(2), here)), (8, 8));
    assert_eq!((refreshed(Some(1), elsewhere), refreshed(None, elsewhere)), (0, 80));
}

#[test]
fn invalid_calls_count_against_the_default_quota_until_it_is_used_up() {
    let (limits, clock) = limits_of(|quotas| quotas.other = number(3));
    let caller = principal(1, 1);
    let invalid = || {
        let admitted = limits.admit_principal(Class::Withdrawals, &caller).unwrap().unwrap();
        let status = limits.count_as_other(admitted).status;
        (status.resource, status.remaining)
    };
    for remaining in [2, 1, 0] {
        assert_eq!(invalid(), ("default_per_minute", remaining));
    }
    // The other quota is used up, so invalid calls use up their own one.
    assert_eq!((invalid(), invalid()), (("withdrawals_per_minute", 6), ("withdrawals_per_minute", 5)));
    assert_eq!(exhaust(|| limits.admit_principal(Class::Withdrawals, &caller)), 5);
    clock.advance(Duration::from_secs(60));
    // Other classes keep what they count.
    let webhook = limits.admit_principal(Class::Webhooks, &caller).unwrap().unwrap();
    assert_eq!(limits.count_as_other(webhook).status.resource, "webhooks_per_hour");
    assert_eq!(exhaust(|| limits.admit_principal(Class::Other, &caller)), 3);
}

#[test]
fn concurrent_calls_cannot_exceed_the_quota() {
    let (limits, _) = limits();
    let admit = || limits.admit_principal(Class::Requests, &principal(1, 1));
    let mut pending: Vec<_> = (0..10).map(|_| admit().unwrap().unwrap()).collect();
    assert!(admit().is_err());
    let _ = limits.count_as_other(pending.pop().unwrap());
    assert_eq!(exhaust(admit), 1);
}

#[test]
fn every_call_is_admitted_if_no_quotas_are_configured() {
    let limits = RateLimits::new(None);
    assert!((0..1_000).all(|_| matches!(limits.admit_principal(Class::Guess, &principal(1, 1)), Ok(None))));
    assert!((0..1_000).all(|_| limits.try_login("ada@example.com", None).is_ok()));
}
