//! Sessions that browsers begin, on doubles of the ports.

use super::logins::{Setup, checked, hash, known, password, session, sign_ins};
use super::*;
use crate::page::Rows;
use crate::user::cookie_session::CookieSession;
use crate::user::guest_account::{ClaimDetails, Claimed, GuestKey};
use crate::user::session::{Session, SessionSecret};

const KEPT_FOR: Duration = Duration::days(90);

fn cookie() -> SessionSecret {
    SessionSecret::Cookie(hash("next"))
}

fn key() -> GuestKey {
    GuestKey::new(&"k".repeat(22)).unwrap()
}

fn guest() -> User {
    User::guest(user(1), None, now())
}

fn profile_of(user: User) -> Profile {
    Profile { user, balance: crate::ledger::Balance::default() }
}

/// The session of a guest account that was created at `now`.
fn begun() -> Session {
    Session::begin(session(), user(1), ClientInfo::default(), now(), KEPT_FOR)
}

/// Sessions among which the cookie is found from the given attempt on.
fn found_at(attempt: usize) -> MockSessions {
    let mut sessions = MockSessions::new();
    let mut asked = 0_usize;
    sessions.expect_owner().returning_st(move |secret| {
        assert!(matches!(secret, SessionSecret::Cookie(_)), "{secret:?}");
        asked = asked.saturating_add(1);
        Ok((asked >= attempt && secret == cookie()).then(|| (user(1), session())))
    });
    sessions.expect_sessions().returning(|_, _, _| Ok(Rows { rows: vec![begun()], total: 1 }));
    sessions
}

fn create(
    people: MockPeople,
    sessions: MockSessions,
) -> Result<BrowserSession, CommandError<CreateGuestRefusal>> {
    run(sign_ins(Setup { people, sessions, ..Setup::default() }).create_guest(&client(), None, Some(key())))
}

#[test]
fn a_login_of_staff_in_a_browser_lasts_twelve_hours() {
    for (role, lifetime) in [(Role::Member, KEPT_FOR), (Role::Operator, CookieSession::STAFF_LIFETIME)] {
        let mut people = MockPeople::new();
        people.expect_profile().returning(move |_| {
            let profile = dj(true);
            Ok(Some(Profile { user: User { role, ..profile.user }, ..profile }))
        });
        let mut sessions = MockSessions::new();
        sessions
            .expect_begin()
            .withf(move |begun, secret, _| {
                *secret == cookie() && begun.expires_at == begun.began_at.plus(lifetime)
            })
            .once()
            .returning(|_, _, _| Ok(BeginOutcome::Done));
        let setup = Setup {
            people,
            logins: known("hash"),
            sessions,
            passwords: checked(PasswordCheck::Right),
            noted: vec![SecurityEventKind::LoggedIn],
            ..Setup::default()
        };
        let begun: BrowserSession =
            run(sign_ins(setup).login(&client(), "Dee@example.com", &password())).unwrap();
        assert_eq!((begun.session, begun.cookie), (session(), Token("next".to_owned())), "{role:?}");
    }
}

#[test]
fn a_form_creates_a_guest_account_with_a_cookie() {
    let mut people = MockPeople::new();
    people
        .expect_register()
        .withf(|user, password, first| {
            let (begun, secret) = first.unwrap();
            user.is_guest_account()
                && *password == PasswordHash::none()
                && secret == cookie()
                && begun.expires_at == now().plus(Session::GUEST_LIFETIME)
        })
        .once()
        .returning(|_, _, _| Ok(Registered::Done));
    let created = create(people, found_at(usize::MAX)).unwrap();
    assert_eq!((created.session, created.cookie), (session(), Token("next".to_owned())));
}

#[test]
fn a_repeated_or_simultaneous_form_gets_the_same_account_and_cookie() {
    // The account exists, or a simultaneous post creates it: each attempt looks for two candidates.
    for attempt in [1, 3] {
        let mut people = MockPeople::new();
        people
            .expect_register()
            .times(usize::from(attempt > 1))
            .returning(|_, _, _| Err(Unavailable::new("the cookie is taken")));
        people.expect_profile().returning(|_| Ok(Some(profile_of(guest()))));
        let created = create(people, found_at(attempt)).unwrap();
        assert_eq!((created.session, created.cookie), (session(), Token("next".to_owned())), "{attempt}");
        assert_eq!(created.profile.user, guest());
    }
}

#[test]
fn the_key_of_a_claimed_account_gets_no_cookie() {
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| Ok(Some(profile_of(User { role: Role::Member, ..guest() }))));
    let refused = create(people, found_at(1));
    assert!(matches!(refused, Err(CommandError::Refused(CreateGuestRefusal::KeyUsed))), "{refused:?}");
}

#[test]
fn a_claim_in_a_browser_gets_a_new_cookie() {
    let details = ClaimDetails { email: Email::new("ada@example.com").unwrap(), name: None, phone: None };
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| Ok(Some(profile_of(guest()))));
    let mut passwords = MockPasswords::new();
    passwords.expect_is_breached().return_const(false);
    passwords.expect_hash().once().returning(|_, _| Ok(PasswordHash("new".to_owned())));
    let mut logins = MockLogins::new();
    logins
        .expect_claim()
        .withf(|claim| claim.secret == cookie() && claim.expires_at == now().plus(KEPT_FOR))
        .once()
        .returning(|claim| Ok(Claimed::Done(Box::new(guest().claimed(&claim.details, now()).unwrap()))));
    let noted = vec![SecurityEventKind::Registered];
    let setup = Setup { people, logins, passwords, noted, refreshed: 1, ..Setup::default() };
    let as_guest = context(1);
    let principal = Principal { role: Role::Guest, ..as_guest.principal };
    let claim = AccountClaim { details, password: password() };
    let claimed: BrowserSession =
        run(sign_ins(setup).claim(&Context { principal, ..as_guest }, claim)).unwrap();
    assert_eq!((claimed.session, claimed.cookie), (principal.session, Token("next".to_owned())));
    assert_eq!(claimed.profile.user.role, Role::Member);
}
