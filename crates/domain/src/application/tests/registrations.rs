//! Repeated registrations, on doubles of the ports.

use super::logins::{Setup, checked, hash, known, password, session, sign_ins};
use super::*;
use crate::page::Rows;
use crate::user::session::{Session, SessionSecret, TokenHash};
use crate::user::{UserStatusChange, change_user_status};

/// A taken address, and the state found by a repeated registration.
struct Taken {
    /// The time since the registration.
    age: Duration,
    suspended: bool,
    /// The verification of the password; `None` if it must not be verified.
    verified: Option<PasswordCheck>,
    /// The live sessions.
    alive: Vec<Session>,
    /// The hash of the stored token.
    kept: TokenHash,
    noted: Vec<SecurityEventKind>,
}

/// A session that began this long ago.
fn began(age: Duration) -> Session {
    Session::begin(session(), user(2), ClientInfo::default(), now().minus(age), Duration::days(30))
}

/// A user who registered a second ago, with the first session.
fn fresh() -> Taken {
    let age = Duration::SECOND;
    let verified = Some(PasswordCheck::Right);
    Taken { age, suspended: false, verified, alive: vec![began(age)], kept: hash("next"), noted: Vec::new() }
}

/// The outcome of registering the taken address again.
fn again(taken: Taken) -> Result<SignedIn, CommandError<RegisterRefusal>> {
    let Taken { age, suspended, verified, alive, kept, noted } = taken;
    let mut people = MockPeople::new();
    people.expect_register().once().returning(|_, _, _| Ok(Registered::EmailTaken));
    people.expect_profile().returning(move |_| {
        let profile = dj(true);
        let mut user = User { created_at: now().minus(age), ..profile.user };
        if suspended {
            user = change_user_status(&user, UserStatusChange::Suspend, now());
        }
        Ok(Some(Profile { user, ..profile }))
    });
    let mut passwords = verified.map_or_else(MockPasswords::new, checked);
    passwords.expect_is_breached().return_const(false);
    passwords.expect_hash().once().returning(|_, _| Ok(PasswordHash("new".to_owned())));
    let mut sessions = MockSessions::new();
    sessions.expect_sessions().returning(move |_, _, _| Ok(Rows { rows: alive.clone(), total: 1 }));
    sessions.expect_owner().returning(move |presented| {
        Ok((presented == SessionSecret::RefreshToken(kept)).then(|| (user(2), session())))
    });
    let sign_ins =
        sign_ins(Setup { people, logins: known("hash"), sessions, passwords, noted, ..Setup::default() });
    let registration = Registration {
        name: Line::new("Dee").unwrap(),
        email: Email::new("Dee@example.com").unwrap(),
        password: password(),
        phone: None,
        is_dj: true,
    };
    run(sign_ins.register(&client(), registration))
}

#[test]
fn a_repeated_registration_returns_the_first_session() {
    for token in ["next", "other"] {
        let signed_in = again(Taken { kept: hash(token), ..fresh() }).unwrap();
        assert_eq!((signed_in.session, signed_in.refresh_token), (session(), Token(token.to_owned())));
        assert_eq!(signed_in.profile.user.id, user(2));
    }
    // A login in between changes nothing.
    let login = Session { id: SessionId::new(6).unwrap(), ..began(Duration::ZERO) };
    let alive = vec![login, began(Duration::SECOND)];
    assert_eq!(again(Taken { alive, ..fresh() }).unwrap().session, session());
}

#[test]
fn a_registration_can_be_repeated_for_a_minute() {
    let (minute, tick) = (Duration::minutes(1), Duration::MICROSECOND);
    let aged = |age| Taken { age, alive: vec![began(age)], ..fresh() };
    assert!(again(aged(minute - tick)).is_ok());
    // The password is verified for recent registrations only, because verification costs as much as a login.
    for age in [minute, minute + tick, Duration::days(365)] {
        let refused = again(Taken { verified: None, ..aged(age) });
        assert!(
            matches!(refused, Err(CommandError::Refused(RegisterRefusal::EmailTaken))),
            "{age}: {refused:?}"
        );
    }
}

#[test]
fn a_repeated_registration_requires_the_same_password_and_an_unused_session() {
    let used = Session { used_at: now(), ..began(Duration::SECOND) };
    let noted = vec![SecurityEventKind::LoginFailed];
    for (case, taken) in [
        ("a wrong password", Taken { verified: Some(PasswordCheck::Wrong), noted, ..fresh() }),
        ("a suspended user", Taken { suspended: true, verified: None, ..fresh() }),
        ("a session that ended", Taken { alive: Vec::new(), ..fresh() }),
        ("a token that was used", Taken { alive: vec![used], ..fresh() }),
        ("a login alone", Taken { alive: vec![began(Duration::ZERO)], ..fresh() }),
        ("a token that no key derives", Taken { kept: hash("random"), ..fresh() }),
    ] {
        let refused = again(taken);
        assert!(
            matches!(refused, Err(CommandError::Refused(RegisterRefusal::EmailTaken))),
            "{case}: {refused:?}"
        );
    }
}
