//! Proof of an address, on doubles of the ports.

use super::*;
use crate::challenge::{Judged, Purpose};
use crate::ports::{Issued, MockLogins, MockNotifier, MockSecrets, Notice, Recipient, Token};
use crate::session::{TokenHash, Visitor};

/// The doubles that a test sets up, and what it expects of the security log.
#[derive(Default)]
struct Doubles {
    people: MockPeople,
    logins: MockLogins,
    notifier: MockNotifier,
    noted: Option<EventKind>,
}

/// Proofs whose code is 042137, kept as what tells purpose and person too.
fn proofs(doubles: Doubles) -> Proofs {
    let mut clock = MockClock::new();
    clock.expect_now().return_const(now());
    let mut secrets = MockSecrets::new();
    secrets.expect_code().returning(|| Token("042137".to_owned()));
    secrets.expect_fingerprint().returning(|token| match token.0.as_str() {
        "email:2:042137" => TokenHash([1; 32]),
        "phone:2:042137" => TokenHash([2; 32]),
        other => panic!("{other}"),
    });
    let mut log = MockSecurityLog::new();
    if let Some(kind) = doubles.noted {
        log.expect_append().withf(move |event| event.kind == kind).once().returning(|_| Ok(()));
    }
    Proofs {
        people: Arc::new(doubles.people),
        logins: Arc::new(doubles.logins),
        journal: journal(log),
        secrets: Arc::new(secrets),
        notifier: Arc::new(doubles.notifier),
        clock: Arc::new(clock),
    }
}

fn reaching() -> MockNotifier {
    let mut notifier = MockNotifier::new();
    notifier.expect_can_reach().return_const(true);
    notifier
}

fn issuing(issued: Issued) -> MockLogins {
    let mut logins = MockLogins::new();
    logins
        .expect_issue()
        .withf(|challenge| {
            challenge.purpose == Purpose::Email
                && challenge.hash == TokenHash([1; 32])
                && challenge.target == "dee@example.com"
        })
        .once()
        .returning(move |_| Ok(issued));
    logins
}

fn send(doubles: Doubles, address: Address) -> Result<(), SendCodeError> {
    run(proofs(doubles).send_code(&caller(2), address))
}

#[test]
fn the_code_that_was_kept_is_sent() {
    let mut notifier = reaching();
    notifier
        .expect_send()
        .withf(|to, notice| {
            *to == Recipient::Email(Email::new("dee@example.com").unwrap())
                && *notice == Notice::Code(Token("042137".to_owned()))
        })
        .once()
        .returning(|_, _| Ok(()));
    let (people, logins) = (people_with(true), issuing(Issued::Done));
    send(Doubles { people, logins, notifier, ..Doubles::default() }, Address::Email).unwrap();
}

#[test]
fn what_is_proven_needs_no_code_and_what_is_missing_gets_none() {
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| {
        let profile = dj(false);
        Ok(Some(Profile { user: User { email_verified: true, ..profile.user }, ..profile }))
    });
    send(Doubles { people, ..Doubles::default() }, Address::Email).unwrap();
    let refused = send(Doubles { people: people_with(true), ..Doubles::default() }, Address::Phone);
    assert!(matches!(refused, Err(SendCodeError::NoAddress)), "{refused:?}");
}

#[test]
fn nothing_is_kept_where_nothing_is_sent() {
    let mut notifier = MockNotifier::new();
    notifier.expect_can_reach().return_const(false);
    let refused = send(Doubles { people: people_with(true), notifier, ..Doubles::default() }, Address::Email);
    assert!(matches!(refused, Err(SendCodeError::NotHere)), "{refused:?}");
}

#[test]
fn too_many_codes_say_how_long_to_wait() {
    let wait = Duration::minutes(7);
    let logins = issuing(Issued::TooMany(now().plus(wait)));
    let doubles = Doubles { people: people_with(true), logins, notifier: reaching(), ..Doubles::default() };
    let refused = send(doubles, Address::Email);
    assert!(matches!(refused, Err(SendCodeError::TooMany(told)) if told == wait), "{refused:?}");
}

#[test]
fn only_a_right_answer_proves() {
    let phone = (Address::Phone, Purpose::Phone, TokenHash([2; 32]));
    let email = (Address::Email, Purpose::Email, TokenHash([1; 32]));
    for ((address, purpose, hash), judged, kind) in [
        (email, Judged::Right, EventKind::EmailVerified),
        (phone, Judged::Right, EventKind::PhoneVerified),
        (email, Judged::Wrong, EventKind::CodeRefused),
        (email, Judged::Over, EventKind::CodeRefused),
    ] {
        let mut logins = MockLogins::new();
        logins
            .expect_answer()
            .with(eq(user(2)), eq(purpose), eq(hash), eq(now()))
            .once()
            .returning(move |_, _, _, _| Ok(judged));
        let doubles = Doubles { people: people_with(true), logins, noted: Some(kind), ..Doubles::default() };
        let code = Token("042137".to_owned());
        match run(proofs(doubles).verify(&caller(2), address, &code, Visitor::default())) {
            Ok(profile) => {
                assert_eq!(judged, Judged::Right);
                assert_eq!(profile.user.email_verified, address == Address::Email);
                assert_eq!(profile.user.phone_verified, address == Address::Phone);
            }
            Err(refused) => {
                assert!(matches!(refused, VerifyError::Refused) && judged != Judged::Right, "{refused:?}");
            }
        }
    }
}

#[test]
fn an_outage_uses_up_no_code() {
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| Err(Unavailable::new("the storage is away")));
    let desk = proofs(Doubles { people, ..Doubles::default() });
    let code = Token("042137".to_owned());
    let refused = run(desk.verify(&caller(2), Address::Email, &code, Visitor::default()));
    assert!(matches!(refused, Err(VerifyError::Obstacle(Obstacle::Unavailable(_)))), "{refused:?}");
}
