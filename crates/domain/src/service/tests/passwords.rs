//! Another password, on doubles of the ports.

use super::*;
use crate::challenge::Purpose;
use crate::code_quotas::{CodeQuota, TooMany};
use crate::people::{StandingChange, change_standing};
use crate::ports::{
    Credentials, Issued, MockLogins, MockNotifier, MockPasswords, MockSecrets, Notice, PasswordHash,
    Recipient, Token, Verified,
};
use crate::session::{TokenHash, Visitor};
use crate::text::Password;

/// The doubles that a test sets up, and what it expects of the security log.
#[derive(Default)]
struct Doubles {
    people: MockPeople,
    logins: MockLogins,
    passwords: MockPasswords,
    notifier: MockNotifier,
    noted: Vec<EventKind>,
}

fn desk_of(doubles: Doubles) -> PasswordDesk {
    let mut clock = MockClock::new();
    clock.expect_now().return_const(now());
    let mut secrets = MockSecrets::new();
    secrets.expect_token().returning(|| Token("token".to_owned()));
    secrets.expect_fingerprint().returning(|token| hash_of(&token.0));
    let mut log = MockSecurityLog::new();
    for kind in doubles.noted {
        log.expect_append()
            .withf(move |event| event.kind == kind && event.user == Some(user(2)))
            .once()
            .returning(|_| Ok(()));
    }
    PasswordDesk {
        people: Arc::new(doubles.people),
        logins: Arc::new(doubles.logins),
        journal: journal(log),
        passwords: Arc::new(doubles.passwords),
        secrets: Arc::new(secrets),
        notifier: Arc::new(doubles.notifier),
        clock: Arc::new(clock),
    }
}

fn hash_of(token: &str) -> TokenHash {
    TokenHash([u8::from(token == "token"); 32])
}

fn hash(text: &str) -> PasswordHash {
    PasswordHash(text.to_owned())
}

fn credentials() -> Option<Credentials> {
    Some(Credentials { user: user(2), password: hash("before") })
}

/// Passwords of which the present one compares so, and the new one is not known.
fn compared(verified: Verified) -> MockPasswords {
    let mut passwords = unknown();
    passwords
        .expect_verify()
        .withf(|_, against| *against == Some(hash("before")))
        .once()
        .returning(move |_, _| Ok(verified));
    passwords
}

/// Passwords of which the new one is not known.
fn unknown() -> MockPasswords {
    let mut passwords = MockPasswords::new();
    passwords.expect_is_breached().return_const(false);
    passwords.expect_hash().returning(|_| Ok(hash("after")));
    passwords
}

fn breached() -> MockPasswords {
    let mut passwords = MockPasswords::new();
    passwords.expect_is_breached().return_const(true);
    passwords
}

fn change(doubles: Doubles) -> Result<(), ChangePasswordError> {
    let (present, new) = (Password::presented("present"), Password::presented("new"));
    run(desk_of(doubles).change(&caller(2), &present, &new, Visitor::default()))
}

/// Logins that hold the caller's password, and whether it is still there when it is changed.
fn held(still: bool) -> MockLogins {
    let mut logins = MockLogins::new();
    logins.expect_credentials_of().with(eq(user(2))).returning(|_| Ok(credentials()));
    logins
        .expect_change_password()
        .withf(|_, before, after, keep, _| {
            *before == hash("before") && *after == hash("after") && *keep == SessionId::new(1)
        })
        .returning(move |_, _, _, _, _| Ok(still));
    logins
}

#[test]
fn a_change_needs_the_present_password() {
    for verified in [Verified::Right, Verified::Outdated] {
        let noted = vec![EventKind::PasswordChanged];
        let (logins, passwords) = (held(true), compared(verified));
        change(Doubles { logins, passwords, noted, ..Doubles::default() }).unwrap();
    }
    let mut logins = MockLogins::new();
    logins.expect_credentials_of().returning(|_| Ok(credentials()));
    let noted = vec![EventKind::PasswordChangeFailed];
    let passwords = compared(Verified::Wrong);
    let refused = change(Doubles { logins, passwords, noted, ..Doubles::default() });
    assert!(matches!(refused, Err(ChangePasswordError::WrongPassword)), "{refused:?}");
}

#[test]
fn a_log_that_is_away_undoes_nothing() {
    let doubles = Doubles { logins: held(true), passwords: compared(Verified::Right), ..Doubles::default() };
    let desk = PasswordDesk { journal: journal(log_away(EventKind::PasswordChanged)), ..desk_of(doubles) };
    let (present, new) = (Password::presented("present"), Password::presented("new"));
    run(desk.change(&caller(2), &present, &new, Visitor::default())).unwrap();
}

#[test]
fn a_password_that_changed_meanwhile_is_a_conflict() {
    let doubles = Doubles { logins: held(false), passwords: compared(Verified::Right), ..Doubles::default() };
    let refused = change(doubles);
    assert!(matches!(refused, Err(ChangePasswordError::Obstacle(Obstacle::Conflict))), "{refused:?}");
}

#[test]
fn a_known_password_is_refused_before_anything_is_used_up() {
    let refused = change(Doubles { passwords: breached(), ..Doubles::default() });
    assert!(matches!(refused, Err(ChangePasswordError::BreachedPassword)), "{refused:?}");
    let refused = reset(Doubles { passwords: breached(), ..Doubles::default() });
    assert!(matches!(refused, Err(ResetPasswordError::BreachedPassword)), "{refused:?}");
}

fn reset(doubles: Doubles) -> Result<UserId, ResetPasswordError> {
    let new = Password::presented("new");
    run(desk_of(doubles).reset(&Token("token".to_owned()), &new, Visitor::default()))
}

#[test]
fn a_token_sets_the_password_of_whose_it_is() {
    for owner in [Some(user(2)), None] {
        let mut logins = MockLogins::new();
        logins
            .expect_reset_password()
            .withf(|presented, after, at| {
                *presented == hash_of("token") && *after == hash("after") && *at == now()
            })
            .once()
            .returning(move |_, _, _| Ok(owner));
        let noted = owner.map(|_| EventKind::PasswordReset).into_iter().collect();
        let set = reset(Doubles { logins, passwords: unknown(), noted, ..Doubles::default() });
        assert_eq!(set.as_ref().ok(), owner.as_ref());
        assert!(owner.is_some() || matches!(set, Err(ResetPasswordError::Refused)), "{set:?}");
    }
}

fn forgot(doubles: Doubles) -> Result<(), Unavailable> {
    run(desk_of(doubles).forgot(&Email::new("Dee@Example.com").unwrap(), Visitor::default()))
}

/// Logins that know the address, and what keeping a challenge comes to.
fn known(issued: Issued) -> MockLogins {
    let mut logins = MockLogins::new();
    logins.expect_credentials().with(eq("dee@example.com")).returning(|_| Ok(credentials()));
    logins
        .expect_issue()
        .withf(|challenge, counted| {
            counted.is_none()
                && challenge.purpose == Purpose::Password
                && challenge.user == user(2)
                && challenge.hash == hash_of("token")
        })
        .returning(move |_, _| Ok(issued));
    logins
}

#[test]
fn who_forgot_is_sent_the_token_that_was_kept() {
    let mut notifier = MockNotifier::new();
    notifier
        .expect_send()
        .withf(|to, notice| {
            *to == Recipient::Email(Email::new("dee@example.com").unwrap())
                && *notice == Notice::PasswordReset(Token("token".to_owned()))
        })
        .once()
        .returning(|_, _| Ok(()));
    let noted = vec![EventKind::PasswordResetRequested];
    let (people, logins) = (people_with(true), known(Issued::Done));
    forgot(Doubles { people, logins, notifier, noted, ..Doubles::default() }).unwrap();
}

#[test]
fn nothing_is_sent_to_who_is_unknown_shut_out_or_was_sent_too_many() {
    let mut nobody = MockLogins::new();
    nobody.expect_credentials().returning(|_| Ok(None));
    forgot(Doubles { logins: nobody, ..Doubles::default() }).unwrap();
    let mut suspended = MockPeople::new();
    suspended.expect_profile().returning(|_| {
        let profile = dj(false);
        let user = change_standing(&profile.user, StandingChange::Suspend, now());
        Ok(Some(Profile { user, ..profile }))
    });
    forgot(Doubles { people: suspended, logins: known(Issued::Done), ..Doubles::default() }).unwrap();
    let too_many = TooMany { quota: CodeQuota::Hour, most: 5, until: now() };
    let logins = known(Issued::TooMany(too_many));
    forgot(Doubles { people: people_with(true), logins, ..Doubles::default() }).unwrap();
}

#[test]
fn a_message_that_does_not_get_through_is_said() {
    let mut notifier = MockNotifier::new();
    notifier.expect_send().returning(|_, _| Err(Unavailable::new("the mail server is away")));
    notifier.expect_can_reach().return_const(true);
    let logins = known(Issued::Done);
    let desk = desk_of(Doubles { people: people_with(true), logins, notifier, ..Doubles::default() });
    assert!(run(desk.forgot(&Email::new("dee@example.com").unwrap(), Visitor::default())).is_err());
    assert!(run(desk.tell(user(2))).is_err());
}

#[test]
fn nobody_is_told_where_nothing_can_be_sent() {
    let mut notifier = MockNotifier::new();
    notifier.expect_can_reach().return_const(false);
    let doubles = Doubles { people: people_with(true), notifier, ..Doubles::default() };
    run(desk_of(doubles).tell(user(2))).unwrap();
}
