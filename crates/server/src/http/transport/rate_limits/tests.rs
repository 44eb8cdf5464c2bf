use std::time::Duration;

use cuepoint_domain::account::Role;
use cuepoint_domain::ids::{SessionId, UserId};
use governor::clock::FakeRelativeClock;

use super::*;

fn caller(id: i64) -> RateLimitSubject {
    RateLimitSubject::Principal(UserId::new(id).unwrap())
}

fn address(written: &str) -> RateLimitSubject {
    RateLimitSubject::address(Some(written.parse().unwrap()))
}

fn limits() -> (RateLimits<FakeRelativeClock>, FakeRelativeClock) {
    let number = |number| NonZeroU32::new(number).unwrap();
    let (login, requests) = (number(5), number(10));
    let quotas = Quotas {
        login,
        requests,
        withdrawals: number(7),
        webhooks_per_hour: number(3),
        webhook_changes_per_hour: number(4),
        other: number(60),
        failed_logins: number(5),
        failed_logins_per_hour: number(100),
    };
    let clock = FakeRelativeClock::default();
    (RateLimits::new(Some(quotas), clock.clone()), clock)
}

#[test]
fn a_quota_allows_a_burst_and_then_refills_steadily() {
    let (limits, clock) = limits();
    let admit = || limits.admit(Class::Login, caller(1));
    for remaining in (0..5).rev() {
        assert_eq!(admit(), Ok(Some(RateLimitStatus { limit: 5, remaining })));
    }
    let refused = |retry_after_seconds| Err(Quota { limit: 5, retry_after_seconds });
    assert_eq!(admit(), refused(12));
    clock.advance(Duration::from_millis(11_001));
    // Waiting for the reported time always suffices; a refused call costs nothing.
    assert_eq!((admit(), admit()), (refused(1), refused(1)));
    clock.advance(Duration::from_millis(999));
    assert_eq!(admit(), Ok(Some(RateLimitStatus { limit: 5, remaining: 0 })));
    assert_eq!(admit(), refused(12));
    clock.advance(Duration::from_secs(600));
    assert_eq!(admit(), Ok(Some(RateLimitStatus { limit: 5, remaining: 4 })));
}

#[test]
fn a_quota_per_hour_refills_within_an_hour() {
    let (limits, clock) = limits();
    let admit = || limits.admit(Class::Webhooks, caller(1));
    for remaining in (0..3).rev() {
        assert_eq!(admit(), Ok(Some(RateLimitStatus { limit: 3, remaining })));
    }
    assert_eq!(admit(), Err(Quota { limit: 3, retry_after_seconds: 1_200 }));
    clock.advance(Duration::from_secs(1_200));
    assert_eq!(admit(), Ok(Some(RateLimitStatus { limit: 3, remaining: 0 })));
}

#[test]
fn each_class_and_subject_has_a_separate_count() {
    let (limits, _) = limits();
    let exhaust = |class, subject| {
        std::iter::repeat_with(|| limits.admit(class, subject)).take_while(Result::is_ok).count()
    };
    for (class, most) in [
        (Class::Login, 5),
        (Class::Requests, 10),
        (Class::Withdrawals, 7),
        (Class::Webhooks, 3),
        (Class::Other, 60),
    ] {
        for subject in [
            caller(1),
            caller(2),
            address("192.0.2.1"),
            address("192.0.2.2"),
            address("2001:db8::1"),
            RateLimitSubject::address(None),
        ] {
            assert_eq!(exhaust(class, subject), most, "{class:?} {subject:?}");
            assert_eq!(exhaust(class, subject), 0, "{class:?} {subject:?}");
        }
    }
}

#[test]
fn passwords_and_changes_of_webhook_endpoints_are_counted_by_session_and_by_account() {
    let (limits, clock) = limits();
    for (class, of_session) in [(Class::Login, 5), (Class::WebhookChanges, 4)] {
        let admitted = |user, session| {
            let principal = Principal {
                user: UserId::new(user).unwrap(),
                role: Role::Member,
                is_dj: false,
                session: SessionId::new(session).unwrap(),
            };
            let admit = || limits.admit_principal(class, &principal);
            std::iter::repeat_with(admit).take_while(Result::is_ok).count()
        };
        let admitted_of = |sessions: &[i64]| sessions.iter().map(|id| admitted(1, *id)).collect::<Vec<_>>();
        assert_eq!(admitted_of(&[1, 2, 3, 4, 5]), [of_session; 5], "{class:?}");
        assert_eq!(admitted_of(&[6, 7]), [0, 0], "{class:?}");
        assert_eq!(admitted(2, 8), of_session, "{class:?}: another account");
        clock.advance(Duration::from_secs(3_600));
        assert_eq!(admitted(1, 1), of_session, "{class:?}");
    }
}

#[test]
fn addresses_of_one_client_share_a_count() {
    for (one, other, same) in [
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true),
        ("2001:db8::1", "2001:db8:0:1::1", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false),
    ] {
        assert_eq!(address(one) == address(other), same, "{one} {other}");
    }
}

#[test]
fn every_call_is_admitted_without_quotas() {
    let limits = RateLimits::new(None, FakeRelativeClock::default());
    assert!((0..1_000).all(|_| limits.admit(Class::Login, caller(1)) == Ok(None)));
    assert!((0..1_000).all(|_| limits.try_login("ada@example.com", None).is_ok()));
}
