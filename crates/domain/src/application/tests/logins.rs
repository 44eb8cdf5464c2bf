//! Registration, login and refresh tokens, on doubles of the ports.

use super::*;
use crate::network::ClientNetwork;
use crate::text::Password;
use crate::user::session::{Candidates, SessionSecret, TokenHash};
use crate::user::{UserStatusChange, change_user_status};

/// The doubles of a test, and its expectations of the security log.
#[derive(Default)]
pub(super) struct Setup {
    pub(super) people: MockPeople,
    pub(super) logins: MockLogins,
    pub(super) sessions: MockSessions,
    pub(super) passwords: MockPasswords,
    pub(super) noted: Vec<SecurityEventKind>,
    /// The expected number of refreshes of the revocation list.
    pub(super) refreshed: usize,
    /// A log other than one of `noted`.
    pub(super) log: Option<MockSecurityLog>,
    pub(super) failed_logins: Arc<FailedLogins>,
}

pub(super) fn sign_ins(setup: Setup) -> SignIns {
    let mut secrets = MockSecrets::new();
    secrets.expect_token().returning(|| Token("next".to_owned()));
    let derived =
        || Candidates { current: Token("next".to_owned()), others: vec![Token("other".to_owned())] };
    secrets.expect_successors().returning(move |_, _| Ok(derived()));
    secrets.expect_first_secrets().returning(move |_, _, _, _| Ok(derived()));
    secrets.expect_guest_secrets().returning(move |_, _, _| Ok(derived()));
    secrets.expect_fingerprint().returning(|token| hash(&token.0));
    let Setup { people, logins, sessions, passwords, noted, refreshed: times, log, failed_logins } = setup;
    let mut jobs = MockJobQueue::new();
    if noted.contains(&SecurityEventKind::RefreshTokenReused) {
        let cause = SecurityCause::RefreshTokenReused(session());
        expect_secured(&mut jobs, user(2), cause, elsewhere().client.address);
    }
    let doubles = Doubles {
        people,
        logins,
        sessions,
        passwords,
        secrets,
        jobs,
        log: log.unwrap_or_else(|| log_of(noted)),
        revocations: refreshed(times),
        failed_logins,
        ..Doubles::default()
    };
    let env = doubles.env();
    SignIns { executor: Executor::new(env.clone()), env }
}

pub(super) fn session() -> SessionId {
    SessionId::new(5).unwrap()
}

/// The hash of the token to issue, of its candidate under another key, or of any other token.
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

/// Logins that know the DJ, with a password hash of this name.
pub(super) fn known(hash: &'static str) -> MockLogins {
    let mut logins = MockLogins::new();
    logins.expect_credentials().with(eq("dee@example.com")).returning(|_| {
        Ok(Some(Credentials { user: user(2), role: Role::Member, password: PasswordHash(hash.to_owned()) }))
    });
    logins
}

pub(super) fn checked(verified: PasswordCheck) -> MockPasswords {
    let mut passwords = MockPasswords::new();
    passwords.expect_verify().once().returning(move |_, _, _| Ok(verified));
    passwords
}

/// Sessions that store a new one.
fn begun() -> MockSessions {
    let mut sessions = MockSessions::new();
    sessions
        .expect_begin()
        .withf(|begun, token, _| begun.id == session() && *token == SessionSecret::RefreshToken(hash("next")))
        .once()
        .returning(|_, _, _| Ok(BeginOutcome::Done));
    sessions
}

fn login(setup: Setup) -> Result<SignedIn, CommandError<LoginRefusal>> {
    run(sign_ins(setup).login(&client(), "Dee@example.com", &password()))
}

#[test]
fn a_login_with_an_unknown_email_also_costs_a_password_check() {
    for email in ["nobody@example.com", "no address at all"] {
        let mut logins = MockLogins::new();
        logins.expect_credentials().returning(|_| Ok(None));
        let mut passwords = MockPasswords::new();
        passwords
            .expect_verify()
            .withf(|_, hash, _| hash.is_none())
            .once()
            .returning(|_, _, _| Ok(PasswordCheck::Wrong));
        let setup =
            Setup { logins, passwords, noted: vec![SecurityEventKind::LoginFailed], ..Setup::default() };
        let refused = run(sign_ins(setup).login::<SignedIn>(&client(), email, &password()));
        assert!(matches!(refused, Err(CommandError::Refused(LoginRefusal::InvalidCredentials))), "{email}");
    }
}

#[test]
fn only_failed_logins_of_staff_are_reported_as_such() {
    for (role, is_staff) in [
        (None, false),
        (Some(Role::Guest), false),
        (Some(Role::Member), false),
        (Some(Role::Operator), true),
        (Some(Role::Auditor), true),
    ] {
        let mut logins = MockLogins::new();
        logins.expect_credentials().returning(move |_| {
            Ok(role.map(|role| Credentials {
                user: user(2),
                role,
                password: PasswordHash("hash".to_owned()),
            }))
        });
        let failed_logins = Arc::<FailedLogins>::default();
        let setup = Setup {
            logins,
            passwords: checked(PasswordCheck::Wrong),
            noted: vec![SecurityEventKind::LoginFailed],
            failed_logins: failed_logins.clone(),
            ..Setup::default()
        };
        login(setup).unwrap_err();
        assert_eq!(*failed_logins.0.lock().unwrap(), [is_staff], "{role:?}");
    }
}

#[test]
fn a_login_starts_a_session() {
    let setup = Setup {
        people: people_with(true),
        logins: known("hash"),
        sessions: begun(),
        passwords: checked(PasswordCheck::Right),
        noted: vec![SecurityEventKind::LoggedIn],
        ..Setup::default()
    };
    let signed_in = login(setup).unwrap();
    assert_eq!((signed_in.session, signed_in.refresh_token), (session(), Token("next".to_owned())));
    assert_eq!(signed_in.access_token.token, "of 2");
}

#[test]
fn a_login_racing_a_password_change_is_checked_again() {
    let mut sessions = MockSessions::new();
    sessions
        .expect_begin()
        .withf(|_, _, checked| checked.0 == "hash")
        .once()
        .returning(|_, _, _| Ok(BeginOutcome::PasswordChanged));
    let mut passwords = MockPasswords::new();
    let mut turn = mockall::Sequence::new();
    for verified in [PasswordCheck::Right, PasswordCheck::Wrong] {
        passwords.expect_verify().once().in_sequence(&mut turn).returning(move |_, _, _| Ok(verified));
    }
    let (people, logins, noted) = (people_with(true), known("hash"), vec![SecurityEventKind::LoginFailed]);
    let refused = login(Setup { people, logins, sessions, passwords, noted, ..Setup::default() });
    assert!(matches!(refused, Err(CommandError::Refused(LoginRefusal::InvalidCredentials))), "{refused:?}");
}

#[test]
fn a_login_whose_password_keeps_changing_is_recorded_as_failed() {
    let mut sessions = MockSessions::new();
    sessions.expect_begin().times(2).returning(|_, _, _| Ok(BeginOutcome::PasswordChanged));
    let mut passwords = MockPasswords::new();
    passwords.expect_verify().times(2).returning(|_, _, _| Ok(PasswordCheck::Right));
    let (people, logins, noted) = (people_with(true), known("hash"), vec![SecurityEventKind::LoginFailed]);
    let refused = login(Setup { people, logins, sessions, passwords, noted, ..Setup::default() });
    assert!(matches!(refused, Err(CommandError::Refused(LoginRefusal::InvalidCredentials))), "{refused:?}");
}

#[test]
fn a_login_racing_a_suspension_is_refused() {
    let mut sessions = MockSessions::new();
    sessions.expect_begin().once().returning(|_, _, _| Ok(BeginOutcome::Suspended));
    let (people, logins, noted) = (people_with(true), known("hash"), vec![SecurityEventKind::LoginFailed]);
    let refused = login(Setup {
        people,
        logins,
        sessions,
        passwords: checked(PasswordCheck::Right),
        noted,
        ..Setup::default()
    });
    assert!(matches!(refused, Err(CommandError::Refused(LoginRefusal::Suspended))), "{refused:?}");
}

#[test]
fn failures_after_the_session_starts_do_not_undo_the_login() {
    let mut logins = known("old");
    logins.expect_rehash().once().returning(|_, _, _| Err(Unavailable::new("the storage is away")));
    let mut passwords = checked(PasswordCheck::Outdated);
    passwords.expect_rehash().once().returning(|_, _, _| Ok(PasswordHash("new".to_owned())));
    let rehash = Setup { logins, passwords, ..Setup::default() };
    let mut hash = checked(PasswordCheck::Outdated);
    hash.expect_rehash().once().returning(|_, _, _| Err(Unavailable::new("too much to hash").into()));
    let passwords = Setup { logins: known("old"), passwords: hash, ..Setup::default() };
    for setup in [rehash, passwords] {
        let log = Some(log_away(SecurityEventKind::LoggedIn));
        let setup = Setup { people: people_with(true), sessions: begun(), log, ..setup };
        assert_eq!(login(setup).unwrap().session, session());
    }
}

#[test]
fn the_store_is_asked_for_the_first_operator_until_there_was_one() {
    let mut setup = Setup::default();
    let mut turn = mockall::Sequence::new();
    for had_operator in [false, false, true] {
        setup
            .people
            .expect_has_first_operator()
            .once()
            .in_sequence(&mut turn)
            .returning(move || Ok(had_operator));
    }
    let operators = Operators::new(sign_ins(setup));
    let awaits = || run(operators.clone().awaits_first()).unwrap();
    assert_eq!([awaits(), awaits(), awaits(), awaits()], [true, true, false, false]);
}

/// The outcome of creating the first operator, by whether one was created before, the address is taken, and
/// the password is breached; `made` is the store's outcome, if it is called.
fn bootstrap(
    before: bool,
    taken: bool,
    breached: bool,
    made: Option<FirstOperator>,
) -> Result<Bootstrapped, CommandError<BootstrapRefusal>> {
    let mut setup = Setup::default();
    setup.people.expect_has_first_operator().returning(move || Ok(before));
    setup.logins.expect_credentials().returning(move |_| {
        Ok(taken.then(|| Credentials {
            user: user(2),
            role: Role::Member,
            password: PasswordHash("theirs".to_owned()),
        }))
    });
    setup.passwords.expect_is_breached().return_const(breached);
    setup.passwords.expect_hash().returning(|_, _| Ok(PasswordHash("hash".to_owned())));
    setup.people.expect_register_first_operator().times(usize::from(made.is_some())).returning(
        move |user, _| {
            assert_eq!(user.role, Role::Operator);
            Ok(made.unwrap())
        },
    );
    let mut log = MockSecurityLog::new();
    let right = |event: &SecurityEvent| {
        event.kind == SecurityEventKind::Registered
            && event.user == Some(user(4))
            && event.detail == Some(Line::new("bootstrap operator").unwrap())
    };
    let noted = usize::from(made == Some(FirstOperator::Done));
    log.expect_append().withf(right).times(noted).returning(|_| Ok(()));
    let sign_ins = sign_ins(Setup { log: Some(log), ..setup });
    run(Operators::new(sign_ins).bootstrap(Email::new("op@example.com").unwrap(), password()))
}

#[test]
fn the_first_operator_is_created_once() {
    let done = Some(FirstOperator::Done);
    assert_eq!(bootstrap(false, false, false, done).unwrap(), Bootstrapped::Made(user(4)));
    assert_eq!(bootstrap(true, false, false, None).unwrap(), Bootstrapped::MadeBefore);
    // The owner of the address keeps their role.
    assert_eq!(bootstrap(false, true, false, None).unwrap(), Bootstrapped::AddressTaken);
    // Another server was faster.
    let before = Some(FirstOperator::MadeBefore);
    assert_eq!(bootstrap(false, false, false, before).unwrap(), Bootstrapped::MadeBefore);
    let taken = Some(FirstOperator::EmailTaken);
    assert_eq!(bootstrap(false, false, false, taken).unwrap(), Bootstrapped::AddressTaken);
    let refused = bootstrap(false, false, true, None);
    assert!(matches!(refused, Err(CommandError::Refused(BootstrapRefusal::BreachedPassword))), "{refused:?}");
}

#[test]
fn a_login_rehashes_an_outdated_hash() {
    let mut logins = known("old");
    logins
        .expect_rehash()
        .withf(|who, before, after| *who == user(2) && before.0 == "old" && after.0 == "new")
        .once()
        .returning(|_, _, _| Ok(()));
    let mut passwords = checked(PasswordCheck::Outdated);
    let again = |_: &Password, before: &PasswordHash, _: &Option<ClientNetwork>| before.0 == "old";
    passwords.expect_rehash().withf(again).once().returning(|_, _, _| Ok(PasswordHash("new".to_owned())));
    let (people, sessions, noted) = (people_with(true), begun(), vec![SecurityEventKind::LoggedIn]);
    assert!(login(Setup { people, logins, sessions, passwords, noted, ..Setup::default() }).is_ok());
}

#[test]
fn a_suspension_is_disclosed_only_with_the_right_password() {
    let suspended = || {
        let mut people = MockPeople::new();
        people.expect_profile().returning(|_| {
            let profile = dj(true);
            Ok(Some(Profile {
                user: change_user_status(&profile.user, UserStatusChange::Suspend, now()),
                ..profile
            }))
        });
        people
    };
    for verified in [PasswordCheck::Right, PasswordCheck::Wrong] {
        let setup = Setup {
            people: suspended(),
            logins: known("hash"),
            passwords: checked(verified),
            noted: vec![SecurityEventKind::LoginFailed],
            ..Setup::default()
        };
        let refused = login(setup).unwrap_err();
        assert_eq!(
            matches!(refused, CommandError::Refused(LoginRefusal::Suspended)),
            verified == PasswordCheck::Right,
            "{refused:?}"
        );
    }
    let mut sessions = MockSessions::new();
    sessions.expect_owner().returning(|_| Ok(Some((user(2), session()))));
    sessions.expect_exchange().never();
    let setup = Setup { people: suspended(), sessions, ..Setup::default() };
    assert!(matches!(refresh(setup), Err(CommandError::Refused(RefreshRefusal::Suspended))));
}

/// Sessions whose exchange of the DJ's token has this outcome.
fn presented(exchange: ExchangeOutcome) -> MockSessions {
    let mut sessions = MockSessions::new();
    sessions.expect_owner().returning(|_| Ok(Some((user(2), session()))));
    sessions
        .expect_exchange()
        .withf(|presented, successors, network, expires_at, at| {
            *presented == hash("old")
                && successors.iter().eq([&hash("next"), &hash("other")])
                && *network == elsewhere().client.network()
                && *expires_at == at.plus(Duration::days(30))
        })
        .returning(move |_, _, _, _, _| Ok(exchange));
    sessions
}

/// A client in a known network.
fn elsewhere() -> ClientContext {
    let address = Some("2001:db8::7".parse().unwrap());
    ClientContext { client: ClientInfo { address, agent: None }, ..client() }
}

fn refresh(setup: Setup) -> Result<SignedIn, CommandError<RefreshRefusal>> {
    run(sign_ins(setup).refresh(&elsewhere(), &Token("old".to_owned())))
}

#[test]
fn a_refresh_returns_the_next_refresh_token() {
    let sessions = presented(ExchangeOutcome::Done(user(2), session()));
    let refreshed = refresh(Setup { people: people_with(true), sessions, ..Setup::default() });
    assert_eq!(refreshed.unwrap().refresh_token, Token("next".to_owned()));
}

/// A store with a guest account of this balance, in cents.
fn guest_with(available: i128) -> MockPeople {
    let mut people = MockPeople::new();
    people.expect_profile().returning(move |user| {
        let balance =
            crate::ledger::Balance { available: Money::from_minor(available), ..Default::default() };
        Ok(Some(Profile { user: User::guest(user, None, now()), balance }))
    });
    people
}

/// Sessions whose exchange of a guest account's token has this outcome.
fn guest_presented(exchange: ExchangeOutcome) -> MockSessions {
    let mut sessions = MockSessions::new();
    sessions.expect_owner().returning(|_| Ok(Some((user(2), session()))));
    sessions
        .expect_exchange()
        .withf(|_, _, _, expires_at, at| *expires_at == at.plus(Duration::days(400)))
        .once()
        .returning(move |_, _, _, _, _| Ok(exchange));
    sessions
}

#[test]
fn the_refresh_token_of_a_guest_account_lasts_as_long_as_a_cookie() {
    let sessions = guest_presented(ExchangeOutcome::Done(user(2), session()));
    assert!(refresh(Setup { people: guest_with(0), sessions, ..Setup::default() }).is_ok());
}

#[test]
fn a_logout_says_whether_it_leaves_money_that_no_login_reaches() {
    for (available, leaves) in [(4_000, true), (0, false)] {
        let mut sessions = MockSessions::new();
        sessions.expect_end().once().returning(|_, _| Ok(Some((user(2), session()))));
        let (people, noted) = (guest_with(available), vec![SecurityEventKind::SessionEnded]);
        let setup = Setup { people, sessions, noted, refreshed: 1, ..Setup::default() };
        let ended = run(sign_ins(setup).logout(&client(), &Token("old".to_owned())));
        assert_eq!(ended.unwrap(), leaves, "{available}");
    }
}

#[test]
fn a_repeated_refresh_returns_the_stored_successor() {
    for kept in ["next", "other"] {
        let sessions = presented(ExchangeOutcome::Repeated(user(2), session(), hash(kept)));
        let refreshed = refresh(Setup { people: people_with(true), sessions, ..Setup::default() });
        assert_eq!(refreshed.unwrap().refresh_token, Token(kept.to_owned()));
    }
}

#[test]
fn a_reused_refresh_token_is_refused_and_recorded() {
    let sessions = presented(ExchangeOutcome::SessionEnded(user(2), session()));
    let noted = vec![SecurityEventKind::RefreshTokenReused];
    let refreshed = 1;
    let setup = Setup { people: people_with(true), sessions, noted, refreshed, ..Setup::default() };
    assert!(matches!(
        refresh(setup),
        Err(CommandError::Refused(RefreshRefusal::Reused { is_guest_account: false }))
    ));
    for (moved, refused) in [(false, RefreshRefusal::InvalidToken), (true, RefreshRefusal::Moved)] {
        let mut logins = MockLogins::new();
        logins.expect_ended_by_wallet_link().with(eq(session())).returning(move |_| Ok(moved));
        let (people, sessions) = (people_with(true), presented(ExchangeOutcome::Refused));
        let over = refresh(Setup { people, logins, sessions, ..Setup::default() });
        assert!(matches!(over, Err(CommandError::Refused(refusal)) if refusal == refused), "{over:?}");
    }
    let mut logins = MockLogins::new();
    logins.expect_ended_by_wallet_link().returning(|_| Ok(false));
    let (people, sessions) = (guest_with(4_000), guest_presented(ExchangeOutcome::Refused));
    let over = refresh(Setup { people, logins, sessions, ..Setup::default() });
    assert!(matches!(over, Err(CommandError::Refused(RefreshRefusal::GuestEnded))), "{over:?}");
}

#[test]
fn a_logout_is_recorded_and_refreshes_the_revocation_list() {
    for (ended, noted) in
        [(Some((user(2), session())), vec![SecurityEventKind::SessionEnded]), (None, Vec::new())]
    {
        let mut sessions = MockSessions::new();
        sessions.expect_end().once().returning(move |_, _| Ok(ended));
        let refreshed = usize::from(ended.is_some());
        let people = people_with(true);
        let sign_ins = sign_ins(Setup { people, sessions, noted, refreshed, ..Setup::default() });
        assert!(
            !run(sign_ins.logout(&client(), &Token("old".to_owned()))).unwrap(),
            "a member logs in again"
        );
    }
}

#[test]
fn an_outage_does_not_consume_the_refresh_token() {
    let mut sessions = MockSessions::new();
    sessions.expect_owner().returning(|_| Ok(Some((user(2), session()))));
    sessions.expect_exchange().never();
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| Err(Unavailable::new("the storage is away")));
    let setup = Setup { people, sessions, ..Setup::default() };
    assert!(matches!(refresh(setup), Err(CommandError::Failed(Failure::Unavailable(_)))));
}
