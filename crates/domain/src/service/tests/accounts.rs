//! Registration, login and refresh tokens, on doubles of the ports.

use super::*;
use crate::people::{StandingChange, change_standing};
use crate::ports::{
    Begun, Credentials, Exchange, FirstOperator, MockLogins, MockPasswords, MockSecrets, MockSessions,
    PasswordHash, Token, Verified,
};
use crate::session::{Candidates, TokenHash, Visitor};
use crate::text::Password;

/// The doubles that a test sets up, and what it expects of the security log.
#[derive(Default)]
pub(super) struct Doubles {
    pub(super) people: MockPeople,
    pub(super) logins: MockLogins,
    pub(super) sessions: MockSessions,
    pub(super) passwords: MockPasswords,
    pub(super) noted: Vec<EventKind>,
}

pub(super) fn accounts(doubles: Doubles) -> Accounts {
    let mut clock = MockClock::new();
    clock.expect_now().return_const(now());
    let mut ids = MockIds::new();
    ids.expect_next_session().returning(|| Ok(session()));
    ids.expect_next_user().returning(|| Ok(user(4)));
    let mut secrets = MockSecrets::new();
    secrets.expect_token().returning(|| Token("next".to_owned()));
    let derived =
        || Candidates { current: Token("next".to_owned()), others: vec![Token("other".to_owned())] };
    secrets.expect_successors().returning(move |_, _| Ok(derived()));
    secrets.expect_first_tokens().returning(move |_, _, _| Ok(derived()));
    secrets.expect_fingerprint().returning(|token| hash(&token.0));
    let mut log = MockSecurityLog::new();
    for kind in doubles.noted {
        log.expect_append().withf(move |event| event.kind == kind).once().returning(|_| Ok(()));
    }
    Accounts {
        people: Arc::new(doubles.people),
        logins: Arc::new(doubles.logins),
        sessions: Arc::new(doubles.sessions),
        journal: journal(log),
        ids: Arc::new(ids),
        passwords: Arc::new(doubles.passwords),
        secrets: Arc::new(secrets),
        clock: Arc::new(clock),
        refresh_token_for: Duration::days(30),
    }
}

pub(super) fn session() -> SessionId {
    SessionId::new(5).unwrap()
}

/// The hash of the token to issue, of the one under another key, or of any other token.
pub(super) fn hash(token: &str) -> TokenHash {
    match token {
        "next" => TokenHash([1; 32]),
        "other" => TokenHash([2; 32]),
        _ => TokenHash([0; 32]),
    }
}

pub(super) fn password() -> Password {
    Password::presented("secret-secret")
}

/// Logins that know the DJ, under a hash of this name.
pub(super) fn known(hash: &'static str) -> MockLogins {
    let mut logins = MockLogins::new();
    logins
        .expect_credentials()
        .with(eq("dee@example.com"))
        .returning(|_| Ok(Some(Credentials { user: user(2), password: PasswordHash(hash.to_owned()) })));
    logins
}

pub(super) fn checked(verified: Verified) -> MockPasswords {
    let mut passwords = MockPasswords::new();
    passwords.expect_verify().once().returning(move |_, _| Ok(verified));
    passwords
}

/// Sessions that keep one that begins.
fn begun() -> MockSessions {
    let mut sessions = MockSessions::new();
    sessions
        .expect_begin()
        .withf(|begun, token, _| begun.id == session() && token.0[0] == 1)
        .once()
        .returning(|_, _, _| Ok(Begun::Done));
    sessions
}

fn login(doubles: Doubles) -> Result<SignedIn, LoginError> {
    run(accounts(doubles).login("Dee@example.com", &password(), Visitor::default()))
}

#[test]
fn an_unknown_address_costs_a_password_check_too() {
    for email in ["nobody@example.com", "no address at all"] {
        let mut logins = MockLogins::new();
        logins.expect_credentials().returning(|_| Ok(None));
        let mut passwords = MockPasswords::new();
        passwords
            .expect_verify()
            .withf(|_, hash| hash.is_none())
            .once()
            .returning(|_, _| Ok(Verified::Wrong));
        let doubles =
            Doubles { logins, passwords, noted: vec![EventKind::LoginFailed], ..Doubles::default() };
        let refused = run(accounts(doubles).login(email, &password(), Visitor::default()));
        assert!(matches!(refused, Err(LoginError::InvalidCredentials)), "{email}");
    }
}

#[test]
fn a_login_begins_a_session() {
    let doubles = Doubles {
        people: people_with(true),
        logins: known("hash"),
        sessions: begun(),
        passwords: checked(Verified::Right),
        noted: vec![EventKind::LoggedIn],
    };
    let signed_in = login(doubles).unwrap();
    assert_eq!((signed_in.session, signed_in.refresh_token), (session(), Token("next".to_owned())));
}

#[test]
fn a_login_with_a_password_that_changed_meanwhile_is_checked_again() {
    let mut sessions = MockSessions::new();
    sessions
        .expect_begin()
        .withf(|_, _, checked| checked.0 == "hash")
        .once()
        .returning(|_, _, _| Ok(Begun::PasswordChanged));
    let mut passwords = MockPasswords::new();
    let mut turn = mockall::Sequence::new();
    for verified in [Verified::Right, Verified::Wrong] {
        passwords.expect_verify().once().in_sequence(&mut turn).returning(move |_, _| Ok(verified));
    }
    let (people, logins, noted) = (people_with(true), known("hash"), vec![EventKind::LoginFailed]);
    let refused = login(Doubles { people, logins, sessions, passwords, noted });
    assert!(matches!(refused, Err(LoginError::InvalidCredentials)), "{refused:?}");
}

#[test]
fn a_login_whose_password_keeps_changing_is_noted_as_failed() {
    let mut sessions = MockSessions::new();
    sessions.expect_begin().times(2).returning(|_, _, _| Ok(Begun::PasswordChanged));
    let mut passwords = MockPasswords::new();
    passwords.expect_verify().times(2).returning(|_, _| Ok(Verified::Right));
    let (people, logins, noted) = (people_with(true), known("hash"), vec![EventKind::LoginFailed]);
    let refused = login(Doubles { people, logins, sessions, passwords, noted });
    assert!(matches!(refused, Err(LoginError::InvalidCredentials)), "{refused:?}");
}

#[test]
fn a_login_of_somebody_who_is_suspended_meanwhile_is_refused() {
    let mut sessions = MockSessions::new();
    sessions.expect_begin().once().returning(|_, _, _| Ok(Begun::Suspended));
    let (people, logins, noted) = (people_with(true), known("hash"), vec![EventKind::LoginFailed]);
    let refused = login(Doubles { people, logins, sessions, passwords: checked(Verified::Right), noted });
    assert!(matches!(refused, Err(LoginError::Suspended)), "{refused:?}");
}

#[test]
fn a_login_that_began_is_not_undone_by_what_comes_after_it() {
    let mut logins = known("old");
    logins.expect_rehash().once().returning(|_, _, _| Err(Unavailable::new("the storage is away")));
    let mut passwords = checked(Verified::Outdated);
    passwords.expect_hash().once().returning(|_| Ok(PasswordHash("new".to_owned())));
    let rehash =
        Doubles { people: people_with(true), logins, sessions: begun(), passwords, noted: Vec::new() };
    let mut hash = checked(Verified::Outdated);
    hash.expect_hash().once().returning(|_| Err(Unavailable::new("too much to hash")));
    let passwords = Doubles {
        people: people_with(true),
        logins: known("old"),
        sessions: begun(),
        passwords: hash,
        noted: Vec::new(),
    };
    for doubles in [rehash, passwords] {
        let accounts = Accounts { journal: journal(log_away(EventKind::LoggedIn)), ..accounts(doubles) };
        let signed_in = run(accounts.login("Dee@example.com", &password(), Visitor::default()));
        assert_eq!(signed_in.unwrap().session, session());
    }
}

/// What making the first operator comes to, by whether one was made before, who has the address, and whether the password is
/// known; and what the store says of it, if it is asked.
fn bootstrap(
    before: bool,
    taken: bool,
    breached: bool,
    made: Option<FirstOperator>,
) -> Result<Bootstrapped, BootstrapError> {
    let mut doubles = Doubles::default();
    doubles.people.expect_has_first_operator().returning(move || Ok(before));
    doubles.logins.expect_credentials().returning(move |_| {
        Ok(taken.then(|| Credentials { user: user(2), password: PasswordHash("theirs".to_owned()) }))
    });
    doubles.passwords.expect_is_breached().return_const(breached);
    doubles.passwords.expect_hash().returning(|_| Ok(PasswordHash("hash".to_owned())));
    doubles.people.expect_register_first_operator().times(usize::from(made.is_some())).returning(
        move |user, _| {
            assert_eq!(user.role, Role::Operator);
            Ok(made.unwrap())
        },
    );
    let mut ids = MockIds::new();
    ids.expect_next_user().returning(|| Ok(user(3)));
    let mut log = MockSecurityLog::new();
    let right = |event: &SecurityEvent| {
        event.kind == EventKind::Registered
            && event.user == Some(user(3))
            && event.detail == Some(Line::new("bootstrap operator").unwrap())
    };
    let noted = usize::from(made == Some(FirstOperator::Done));
    log.expect_append().withf(right).times(noted).returning(|_| Ok(()));
    let accounts = Accounts { ids: Arc::new(ids), journal: journal(log), ..accounts(doubles) };
    run(accounts.bootstrap_operator(Email::new("op@example.com").unwrap(), password()))
}

#[test]
fn the_first_operator_is_made_once_noted_and_has_no_known_password() {
    let done = Some(FirstOperator::Done);
    assert_eq!(bootstrap(false, false, false, done).unwrap(), Bootstrapped::Made(user(3)));
    assert_eq!(bootstrap(true, false, false, None).unwrap(), Bootstrapped::MadeBefore);
    // Who has the address stays what they are.
    assert_eq!(bootstrap(false, true, false, None).unwrap(), Bootstrapped::AddressTaken);
    // Another server was faster.
    let before = Some(FirstOperator::MadeBefore);
    assert_eq!(bootstrap(false, false, false, before).unwrap(), Bootstrapped::MadeBefore);
    let taken = Some(FirstOperator::EmailTaken);
    assert_eq!(bootstrap(false, false, false, taken).unwrap(), Bootstrapped::AddressTaken);
    let refused = bootstrap(false, false, true, None);
    assert!(matches!(refused, Err(BootstrapError::BreachedPassword)), "{refused:?}");
}

#[test]
fn a_login_hashes_again_what_was_hashed_as_in_earlier_days() {
    let mut logins = known("old");
    logins
        .expect_rehash()
        .withf(|who, before, after| *who == user(2) && before.0 == "old" && after.0 == "new")
        .once()
        .returning(|_, _, _| Ok(()));
    let mut passwords = checked(Verified::Outdated);
    passwords.expect_hash().once().returning(|_| Ok(PasswordHash("new".to_owned())));
    let (people, sessions, noted) = (people_with(true), begun(), vec![EventKind::LoggedIn]);
    assert!(login(Doubles { people, logins, sessions, passwords, noted }).is_ok());
}

#[test]
fn who_is_suspended_learns_so_with_the_right_password_alone() {
    let suspended = || {
        let mut people = MockPeople::new();
        people.expect_profile().returning(|_| {
            let profile = dj(true);
            Ok(Some(Profile {
                user: change_standing(&profile.user, StandingChange::Suspend, now()),
                ..profile
            }))
        });
        people
    };
    for verified in [Verified::Right, Verified::Wrong] {
        let doubles = Doubles {
            people: suspended(),
            logins: known("hash"),
            passwords: checked(verified),
            noted: vec![EventKind::LoginFailed],
            ..Doubles::default()
        };
        let refused = login(doubles).unwrap_err();
        assert_eq!(matches!(refused, LoginError::Suspended), verified == Verified::Right, "{refused:?}");
    }
    let mut sessions = MockSessions::new();
    sessions.expect_owner().returning(|_| Ok(Some(user(2))));
    sessions.expect_exchange().never();
    let doubles = Doubles { people: suspended(), sessions, ..Doubles::default() };
    assert!(matches!(refresh(doubles), Err(RefreshError::Suspended)));
}

/// Sessions in which presenting a token of the DJ comes to this.
fn presented(exchange: Exchange) -> MockSessions {
    let mut sessions = MockSessions::new();
    sessions.expect_owner().returning(|_| Ok(Some(user(2))));
    sessions
        .expect_exchange()
        .withf(|presented, successors, network, expires_at, at| {
            *presented == hash("old")
                && successors.iter().eq([&hash("next"), &hash("other")])
                && *network == visitor().network()
                && *expires_at == at.plus(Duration::days(30))
        })
        .returning(move |_, _, _, _, _| Ok(exchange));
    sessions
}

/// Somebody who calls from a network that is known.
fn visitor() -> Visitor {
    Visitor { address: Some("2001:db8::7".parse().unwrap()), agent: None }
}

fn refresh(doubles: Doubles) -> Result<SignedIn, RefreshError> {
    run(accounts(doubles).refresh(&Token("old".to_owned()), visitor()))
}

#[test]
fn a_refresh_hands_out_the_token_that_was_kept() {
    let sessions = presented(Exchange::Done(user(2), session()));
    let refreshed = refresh(Doubles { people: people_with(true), sessions, ..Doubles::default() });
    assert_eq!(refreshed.unwrap().refresh_token, Token("next".to_owned()));
}

#[test]
fn a_repeated_refresh_hands_out_the_token_that_is_kept() {
    for kept in ["next", "other"] {
        let sessions = presented(Exchange::Repeated(user(2), session(), hash(kept)));
        let refreshed = refresh(Doubles { people: people_with(true), sessions, ..Doubles::default() });
        assert_eq!(refreshed.unwrap().refresh_token, Token(kept.to_owned()));
    }
}

#[test]
fn a_used_refresh_token_is_refused_and_noted() {
    let sessions = presented(Exchange::SessionEnded(user(2), session()));
    let noted = vec![EventKind::RefreshTokenReused];
    let doubles = Doubles { people: people_with(true), sessions, noted, ..Doubles::default() };
    assert!(matches!(refresh(doubles), Err(RefreshError::Reused)));
    let over =
        Doubles { people: people_with(true), sessions: presented(Exchange::Refused), ..Doubles::default() };
    assert!(matches!(refresh(over), Err(RefreshError::Refused)));
}

#[test]
fn a_logout_says_whether_a_session_ended() {
    for (ended, noted) in [(Some((user(2), session())), vec![EventKind::SessionEnded]), (None, Vec::new())] {
        let mut sessions = MockSessions::new();
        sessions.expect_end().once().returning(move |_, _| Ok(ended));
        let accounts = accounts(Doubles { sessions, noted, ..Doubles::default() });
        let said = run(accounts.logout(&Token("old".to_owned()), Visitor::default()));
        assert_eq!(said.unwrap(), ended.is_some());
    }
}

#[test]
fn an_outage_uses_up_no_refresh_token() {
    let mut sessions = MockSessions::new();
    sessions.expect_owner().returning(|_| Ok(Some(user(2))));
    sessions.expect_exchange().never();
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| Err(Unavailable::new("the storage is away")));
    let doubles = Doubles { people, sessions, ..Doubles::default() };
    assert!(matches!(refresh(doubles), Err(RefreshError::Unavailable(_))));
}
