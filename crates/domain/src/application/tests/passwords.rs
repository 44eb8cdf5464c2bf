//! Changes and resets of passwords, on doubles of the ports.

use super::*;
use crate::text::Password;
use crate::user::challenge::{Challenge, Purpose};
use crate::user::code_quotas::{CodeQuota, TooMany};
use crate::user::session::TokenHash;
use crate::user::{UserStatusChange, change_user_status};

/// The doubles of a test, and its expectations of the security log.
#[derive(Default)]
struct Setup {
    people: MockPeople,
    logins: MockLogins,
    passwords: MockPasswords,
    notifier: MockNotifier,
    noted: Vec<SecurityEventKind>,
    log: Option<MockSecurityLog>,
    /// The change that refreshes the revocation list and is notified, if one is expected.
    changed: Option<SecurityCause>,
}

const CHANGED: Option<SecurityCause> = Some(SecurityCause::PasswordChanged);

fn changes(setup: Setup) -> PasswordChanges {
    let mut secrets = MockSecrets::new();
    secrets.expect_token().returning(|| Token("token".to_owned()));
    secrets.expect_fingerprint().returning(|token| hash_of(&token.0));
    let Setup { people, logins, passwords, notifier, noted, log, changed } = setup;
    let mut about_dj = MockSecurityLog::new();
    for kind in noted {
        about_dj
            .expect_append()
            .withf(move |event| event.kind == kind && event.user == Some(user(2)))
            .once()
            .returning(|_| Ok(()));
    }
    let mut jobs = MockJobQueue::new();
    let changes = usize::from(changed.is_some());
    if let Some(cause) = changed {
        expect_secured(&mut jobs, user(2), cause, None);
    }
    let doubles = Doubles {
        people,
        logins,
        passwords,
        secrets,
        notifier,
        jobs,
        log: log.unwrap_or(about_dj),
        revocations: refreshed(changes),
        ..Doubles::default()
    };
    let env = doubles.env();
    PasswordChanges { executor: Executor::new(env.clone()), env }
}

fn hash_of(token: &str) -> TokenHash {
    TokenHash([u8::from(token == "token"); 32])
}

fn hash(text: &str) -> PasswordHash {
    PasswordHash(text.to_owned())
}

fn credentials() -> Option<Credentials> {
    Some(Credentials { user: user(2), role: Role::Member, password: hash("before") })
}

/// Passwords with this verification of the current one, where the new one is not breached.
fn compared(verified: PasswordCheck) -> MockPasswords {
    let mut passwords = unknown();
    passwords
        .expect_verify()
        .withf(|_, against, _| *against == Some(hash("before")))
        .once()
        .returning(move |_, _, _| Ok(verified));
    passwords
}

/// Passwords where the new one is not breached.
fn unknown() -> MockPasswords {
    let mut passwords = MockPasswords::new();
    passwords.expect_is_breached().return_const(false);
    passwords.expect_hash().returning(|_, _| Ok(hash("after")));
    passwords
}

fn breached() -> MockPasswords {
    let mut passwords = MockPasswords::new();
    passwords.expect_is_breached().return_const(true);
    passwords
}

fn change(setup: Setup) -> Result<(), CommandError<ChangePasswordRefusal>> {
    let (present, new) = (Password::presented("present"), Password::presented("new"));
    run(changes(setup).change(&context(2), &present, &new))
}

/// Logins with the principal's password, which may have changed in the meantime.
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
fn a_password_change_requires_the_current_password() {
    for verified in [PasswordCheck::Right, PasswordCheck::Outdated] {
        let noted = vec![SecurityEventKind::PasswordChanged];
        let (logins, passwords) = (held(true), compared(verified));
        change(Setup { logins, passwords, noted, changed: CHANGED, ..Setup::default() }).unwrap();
    }
    let mut logins = MockLogins::new();
    logins.expect_credentials_of().returning(|_| Ok(credentials()));
    let noted = vec![SecurityEventKind::PasswordChangeFailed];
    let passwords = compared(PasswordCheck::Wrong);
    let refused = change(Setup { logins, passwords, noted, ..Setup::default() });
    assert!(
        matches!(refused, Err(CommandError::Refused(ChangePasswordRefusal::WrongPassword))),
        "{refused:?}"
    );
}

#[test]
fn an_unavailable_security_log_does_not_undo_a_password_change() {
    let log = Some(log_away(SecurityEventKind::PasswordChanged));
    let (logins, passwords) = (held(true), compared(PasswordCheck::Right));
    change(Setup { logins, passwords, log, changed: CHANGED, ..Setup::default() }).unwrap();
}

#[test]
fn a_concurrent_password_change_is_a_conflict() {
    let setup = Setup { logins: held(false), passwords: compared(PasswordCheck::Right), ..Setup::default() };
    let refused = change(setup);
    assert!(matches!(refused, Err(CommandError::Failed(Failure::Conflict))), "{refused:?}");
}

#[test]
fn changes_and_resets_refuse_a_breached_password_before_anything_else() {
    let refused = change(Setup { passwords: breached(), ..Setup::default() });
    assert!(
        matches!(refused, Err(CommandError::Refused(ChangePasswordRefusal::BreachedPassword))),
        "{refused:?}"
    );
    let refused = reset(Setup { passwords: breached(), ..Setup::default() });
    assert!(
        matches!(refused, Err(CommandError::Refused(ResetPasswordRefusal::BreachedPassword))),
        "{refused:?}"
    );
}

fn reset(setup: Setup) -> Result<(), CommandError<ResetPasswordRefusal>> {
    let new = Password::presented("new");
    run(changes(setup).reset(&client(), &Token("token".to_owned()), &new))
}

#[test]
fn a_reset_token_sets_the_password_of_its_owner() {
    for owner in [Some(user(2)), None] {
        let mut logins = issued(Some(now()));
        logins
            .expect_reset_password()
            .withf(|presented, after, at| {
                *presented == hash_of("token") && *after == hash("after") && *at == now()
            })
            .once()
            .returning(move |_, _, _| Ok(owner));
        let noted = owner.map(|_| SecurityEventKind::PasswordReset).into_iter().collect();
        let changed = owner.map(|_| SecurityCause::PasswordReset);
        let set = reset(Setup { logins, passwords: unknown(), noted, changed, ..Setup::default() });
        assert_eq!(set.is_ok(), owner.is_some());
        assert!(
            owner.is_some() || matches!(set, Err(CommandError::Refused(ResetPasswordRefusal::InvalidToken))),
            "{set:?}"
        );
    }
}

/// A reset token that was issued then, or that is unknown.
fn issued(at: Option<Timestamp>) -> MockLogins {
    let email = Email::new("dee@example.com").unwrap();
    let person = User::registered(user(2), Line::new("Dee").unwrap(), email, None, false, now());
    let token = at.and_then(|at| Challenge::issue(&person, Purpose::Password, hash_of("token"), at));
    let mut logins = MockLogins::new();
    logins
        .expect_challenge()
        .with(eq(Purpose::Password), eq(hash_of("token")))
        .returning(move |_, _| Ok(token.clone()));
    logins
}

/// Attack API4: unknown tokens fill the queue of hashes, so that nobody can log in.
#[test]
fn a_reset_token_that_is_unknown_or_expired_costs_no_hash() {
    for at in [None, Some(now().minus(Duration::hours(1)))] {
        let mut passwords = MockPasswords::new();
        passwords.expect_is_breached().return_const(false);
        let refused = reset(Setup { logins: issued(at), passwords, ..Setup::default() });
        assert!(
            matches!(refused, Err(CommandError::Refused(ResetPasswordRefusal::InvalidToken))),
            "{refused:?}"
        );
    }
}

fn forgotten(email: &str) -> Job {
    Job::SendPasswordReset { email: Email::new(email).unwrap(), client: ClientInfo::default() }
}

fn forgot(setup: Setup) -> Result<(), Unavailable> {
    let email = Email::new("Dee@Example.com").unwrap();
    run(changes(setup).send_reset(&email, ClientInfo::default()))
}

/// Logins that know the address, with this outcome of issuing a challenge.
fn known(issued: IssueOutcome) -> MockLogins {
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
fn the_stored_reset_token_is_sent() {
    let mut notifier = MockNotifier::new();
    notifier
        .expect_send()
        .withf(|to, notice| {
            *to == Recipient::Email(Email::new("dee@example.com").unwrap())
                && *notice == Notice::PasswordReset(Token("token".to_owned()))
        })
        .once()
        .returning(|_, _| Ok(()));
    let noted = vec![SecurityEventKind::PasswordResetRequested];
    let (people, logins) = (people_with(true), known(IssueOutcome::Done));
    forgot(Setup { people, logins, notifier, noted, ..Setup::default() }).unwrap();
}

#[test]
fn no_reset_email_is_sent_to_unknown_suspended_or_rate_limited_users() {
    let mut nobody = MockLogins::new();
    nobody.expect_credentials().returning(|_| Ok(None));
    forgot(Setup { logins: nobody, ..Setup::default() }).unwrap();
    let mut suspended = MockPeople::new();
    suspended.expect_profile().returning(|_| {
        let profile = dj(false);
        let user = change_user_status(&profile.user, UserStatusChange::Suspend, now());
        Ok(Some(Profile { user, ..profile }))
    });
    forgot(Setup { people: suspended, logins: known(IssueOutcome::Done), ..Setup::default() }).unwrap();
    let too_many = TooMany { quota: CodeQuota::Hour, most: 5, until: now() };
    let logins = known(IssueOutcome::TooMany(too_many));
    forgot(Setup { people: people_with(true), logins, ..Setup::default() }).unwrap();
}

#[test]
fn sending_a_password_reset_email_fails_if_the_mail_server_is_unavailable() {
    let mut notifier = MockNotifier::new();
    notifier.expect_send().returning(|_, _| Err(Unavailable::new("the mail server is away")));
    notifier.expect_can_reach().return_const(true);
    let logins = known(IssueOutcome::Done);
    let changes = changes(Setup { people: people_with(true), logins, notifier, ..Setup::default() });
    assert!(run(changes.send_reset(&Email::new("dee@example.com").unwrap(), ClientInfo::default())).is_err());
}

#[test]
fn a_reset_request_only_enqueues_a_job() {
    let email = || Email::new("dee@example.com").unwrap();
    for (reached, full) in [(true, false), (true, true), (false, false)] {
        let mut notifier = MockNotifier::new();
        notifier.expect_can_reach().return_const(reached);
        let mut jobs = MockJobQueue::new();
        let added = move |_| if full { Err(Unavailable::new("full")) } else { Ok(()) };
        jobs.expect_enqueue()
            .with(eq(forgotten("dee@example.com")))
            .times(usize::from(reached))
            .returning(added);
        let env = Doubles { notifier, jobs, ..Doubles::default() }.env();
        let changes = PasswordChanges { executor: Executor::new(env.clone()), env };
        match changes.request_reset(&client(), email()) {
            Ok(()) => assert!(reached && !full),
            Err(CommandError::Failed(Failure::Unavailable(_))) => assert!(full),
            Err(CommandError::Refused(RequestResetRefusal::NotOffered)) => assert!(!reached),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn debug_output_of_a_password_reset_job_hides_the_email_address() {
    assert_eq!(format!("{:?}", forgotten("ada@example.com")), "SendPasswordReset([hidden])");
}
