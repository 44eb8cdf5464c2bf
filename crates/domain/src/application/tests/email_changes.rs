//! Changes and restorations of e-mail addresses, on doubles of the ports.

use super::*;
use crate::ledger::Balance;
use crate::text::Password;
use crate::user::RecentPassword;
use crate::user::challenge::{Challenge, Purpose};
use crate::user::email_change::{EmailChanged, EmailRestored};
use crate::user::session::{Candidates, TokenHash};

/// The doubles of a test, and the kinds of security events that it expects.
#[derive(Default)]
struct Setup {
    logins: MockLogins,
    notifier: MockNotifier,
    jobs: MockJobQueue,
    noted: Vec<SecurityEventKind>,
    has_right_password: bool,
    refuses_to_hash: bool,
    revoked: usize,
}

fn hash(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

fn email(text: &str) -> Email {
    Email::new(text).unwrap()
}

fn person() -> User {
    let name = Line::new("Ada").unwrap();
    User::registered(user(2), name, email("ada@example.com"), None, false, now())
}

fn changes(setup: Setup) -> EmailChanges {
    let Setup { mut logins, mut notifier, jobs, noted, has_right_password, refuses_to_hash, revoked } = setup;
    logins.expect_credentials_of().returning(|_| {
        Ok(Some(Credentials {
            user: user(2),
            role: Role::Member,
            password: PasswordHash("stored".to_owned()),
        }))
    });
    notifier.expect_can_reach().return_const(true);
    let mut secrets = MockSecrets::new();
    secrets.expect_token().returning(|| Token("token".to_owned()));
    secrets.expect_code().returning(|| Token("042137".to_owned()));
    secrets.expect_fingerprint().returning(|token| hash(if token.0 == "older" { 8 } else { 7 }));
    secrets.expect_restore_tokens().withf(|id, at, _| (*id, *at) == (user(2), now())).returning(|_, _, _| {
        let [current, older] = ["token", "older"].map(|text| Token(text.to_owned()));
        Ok(Candidates { current, others: vec![older] })
    });
    secrets
        .expect_keyed_hashes()
        .withf(|_, text, _| text == "email_change:2:042137")
        .returning(|_, _, _| Ok(Candidates { current: hash(1), others: vec![hash(2)] }));
    let mut passwords = MockPasswords::new();
    let check = if has_right_password { PasswordCheck::Right } else { PasswordCheck::Wrong };
    passwords.expect_verify().returning(move |_, _, _| Ok(check));
    passwords.expect_is_breached().return_const(false);
    if !refuses_to_hash {
        passwords.expect_hash().returning(|_, _| Ok(PasswordHash("new".to_owned())));
    }
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| Ok(Some(Profile { user: person(), balance: Balance::default() })));
    let mut log = MockSecurityLog::new();
    for kind in noted {
        log.expect_append().withf(move |event| event.kind == kind).once().returning(|_| Ok(()));
    }
    let doubles = Doubles {
        people,
        logins,
        passwords,
        secrets,
        notifier,
        jobs,
        log,
        revocations: refreshed(revoked),
        ..Doubles::default()
    };
    let env = doubles.env();
    EmailChanges { executor: Executor::new(env.clone()), env }
}

fn request(setup: Setup, to: &str) -> Result<(), CommandError<RequestEmailRefusal>> {
    confirmed(setup, to, Confirmation::Password(&Password::presented("present")))
}

fn confirmed(
    setup: Setup,
    to: &str,
    confirmation: Confirmation<'_>,
) -> Result<(), CommandError<RequestEmailRefusal>> {
    run(changes(setup).request(&context(2), email(to), confirmation))
}

/// Logins where the address is free or taken, and that store a challenge with this hash.
fn storing(is_taken: bool, stored: TokenHash, outcome: IssueOutcome) -> MockLogins {
    let mut logins = MockLogins::new();
    logins.expect_restorable_until().returning(|_, _| Ok(None));
    let owner =
        || Credentials { user: user(3), role: Role::Member, password: PasswordHash("other".to_owned()) };
    logins
        .expect_credentials()
        .withf(|address| address == "ada@new.example")
        .returning(move |_| Ok(is_taken.then(owner)));
    logins.expect_restoration().returning(|_, _| Ok(None));
    logins
        .expect_issue()
        .withf(move |challenge, counted| {
            let to = email("Ada@New.example");
            let expected = Challenge::moving(user(2), Purpose::EmailChange, to, stored, now());
            *challenge == expected && counted.is_none()
        })
        .once()
        .returning(move |_, _| Ok(outcome));
    logins
}

fn sending(notice: Notice) -> MockNotifier {
    let mut notifier = MockNotifier::new();
    let to = Recipient::Email(email("Ada@New.example"));
    notifier.expect_send().with(eq(to), eq(notice)).once().returning(|_, _| Ok(()));
    notifier
}

#[test]
fn free_addresses_get_a_code_and_taken_addresses_a_notice() {
    let code = Notice::EmailChangeCode(Token("042137".to_owned()));
    for (is_taken, stored, notice) in [(false, hash(1), code), (true, hash(7), Notice::EmailClaimed(now()))] {
        let setup = Setup {
            logins: storing(is_taken, stored, IssueOutcome::Done),
            notifier: sending(notice),
            noted: vec![SecurityEventKind::EmailChangeRequested],
            has_right_password: true,
            ..Setup::default()
        };
        assert!(request(setup, "Ada@New.example").is_ok(), "{is_taken}");
    }
}

#[test]
fn a_refused_email_change_sends_nothing() {
    let until = now().plus(Duration::days(3));
    let restorable = || {
        let mut logins = MockLogins::new();
        logins.expect_restorable_until().returning(move |_, _| Ok(Some(until)));
        logins
    };
    let new = "Ada@New.example";
    let not_yet = || storing(false, hash(1), IssueOutcome::NotYet);
    for (logins, has_right_password, to, refusal) in [
        (MockLogins::new(), false, new, RequestEmailRefusal::WrongPassword),
        (MockLogins::new(), true, "ADA@example.com", RequestEmailRefusal::SameAddress),
        (restorable(), true, new, RequestEmailRefusal::Restorable(until)),
        (not_yet(), true, new, RequestEmailRefusal::NotYet),
    ] {
        let noted = if has_right_password { Vec::new() } else { vec![SecurityEventKind::LoginFailed] };
        let refused = request(Setup { logins, has_right_password, noted, ..Setup::default() }, to);
        assert!(matches!(refused, Err(CommandError::Refused(kind)) if kind == refusal), "{refused:?}");
    }
}

#[test]
fn a_recent_password_of_the_same_session_replaces_the_password() {
    let own = principal(2).session;
    let other = SessionId::new(2).unwrap();
    for (session, minutes, counts) in [(own, 0, true), (own, 5, true), (own, 6, false), (other, 0, false)] {
        let recent = RecentPassword { session, checked_at: now().minus(Duration::minutes(minutes)) };
        let setup = if counts {
            Setup {
                logins: storing(false, hash(1), IssueOutcome::Done),
                notifier: sending(Notice::EmailChangeCode(Token("042137".to_owned()))),
                noted: vec![SecurityEventKind::EmailChangeRequested],
                ..Setup::default()
            }
        } else {
            Setup::default()
        };
        let requested = confirmed(setup, "Ada@New.example", Confirmation::Recent(recent));
        let refused = matches!(requested, Err(CommandError::Refused(RequestEmailRefusal::WrongPassword)));
        assert_eq!((requested.is_ok(), refused), (counts, !counts), "{minutes}: {requested:?}");
    }
}

/// Logins with this outcome of a confirmation.
fn confirming(outcome: Result<EmailChanged, Unavailable>) -> MockLogins {
    let mut logins = MockLogins::new();
    logins
        .expect_change_email()
        .withf(|id, session, presented, restore, _| {
            (*id, *session, presented, *restore)
                == (user(2), principal(2).session, &[hash(1), hash(2)][..], hash(7))
        })
        .return_once(move |_, _, _, _, _| outcome);
    logins
}

/// The challenge that restores the previous address, with this hash.
fn restoration(hash: TokenHash) -> Challenge {
    Challenge::moving(user(2), Purpose::EmailRestore, email("Ada@example.com"), hash, now())
}

fn confirm(setup: Setup) -> Result<Profile, CommandError<ConfirmEmailRefusal>> {
    run(changes(setup).confirm(&context(2), &Token("042137".to_owned())))
}

/// A queue that expects the news of a change.
fn queue(told: bool) -> MockJobQueue {
    let mut jobs = MockJobQueue::new();
    jobs.expect_enqueue()
        .withf(move |job| {
            matches!(job, Job::NotifyEmailChanged(news) if news.previous_is_told == told
                && news.before == email("ada@example.com") && !news.is_restoration)
        })
        .once()
        .returning(|_| Ok(()));
    jobs
}

#[test]
fn the_queued_job_states_whether_the_restoration_token_has_been_sent() {
    let after = User { email: email("ada@new.example"), ..person() };
    let until = now().plus(Duration::days(7));
    for sent in [true, false] {
        let mut logins = confirming(Ok(EmailChanged::Done(Box::new(after.clone()))));
        logins.expect_restoration().returning(|_, _| Ok(Some(restoration(hash(7)))));
        let mut notifier = MockNotifier::new();
        let token = Some((Token("token".to_owned()), until));
        notifier
            .expect_send()
            .withf(move |to, notice| {
                let previous = Recipient::Email(email("ada@example.com"));
                *to == previous
                    && matches!(notice, Notice::EmailReplaced { restore, .. } if *restore == token)
            })
            .once()
            .returning(move |_, _| if sent { Ok(()) } else { Err(Unavailable::new("away")) });
        let noted = vec![SecurityEventKind::EmailChanged];
        let confirmed = confirm(Setup { logins, notifier, jobs: queue(sent), noted, ..Setup::default() });
        assert_eq!(confirmed.unwrap().user, after);
    }
    // The change may be committed if its answer was lost.
    let logins = confirming(Err(Unavailable::new("lost")));
    let lost = confirm(Setup { logins, jobs: queue(false), ..Setup::default() });
    assert!(matches!(lost, Err(CommandError::Failed(Failure::Unavailable(_)))), "{lost:?}");
}

#[test]
fn a_refused_confirmation_sends_nothing() {
    let until = now().plus(Duration::days(3));
    for (outcome, noted, refusal) in [
        (EmailChanged::Wrong, vec![SecurityEventKind::CodeRefused], ConfirmEmailRefusal::InvalidCode),
        (EmailChanged::Over, vec![SecurityEventKind::CodeRefused], ConfirmEmailRefusal::InvalidCode),
        (EmailChanged::Taken, vec![], ConfirmEmailRefusal::EmailTaken),
        (EmailChanged::Restorable(until), vec![], ConfirmEmailRefusal::Restorable(until)),
    ] {
        let refused = confirm(Setup { logins: confirming(Ok(outcome)), noted, ..Setup::default() });
        assert!(matches!(refused, Err(CommandError::Refused(kind)) if kind == refusal), "{refused:?}");
    }
}

#[test]
fn a_restoration_revokes_sessions_and_sends_notices() {
    let thief = User { email: email("thief@example.com"), ..person() };
    let mut logins = MockLogins::new();
    logins.expect_challenge().returning(|_, _| Ok(Some(restoration(hash(7)))));
    logins
        .expect_restore_email()
        .withf(|presented, password, _| *presented == hash(7) && password.0 == "new")
        .return_once(move |_, _, _| {
            Ok(EmailRestored::Done { before: Box::new(thief), after: Box::new(person()) })
        });
    let mut jobs = MockJobQueue::new();
    expect_secured(&mut jobs, user(2), SecurityCause::EmailRestored, None);
    jobs.expect_enqueue()
        .withf(|job| {
            matches!(job, Job::NotifyEmailChanged(news) if news.before == email("thief@example.com")
                && news.is_restoration)
        })
        .once()
        .returning(|_| Ok(()));
    let noted = vec![SecurityEventKind::EmailRestored];
    let changes = changes(Setup { logins, jobs, noted, revoked: 1, ..Setup::default() });
    let restored = run(changes.restore(&client(), &Token("x".to_owned()), &Password::presented("new")));
    assert!(restored.is_ok(), "{restored:?}");
}

/// Attack API4: unknown tokens fill the queue of hashes, so that nobody can log in.
#[test]
fn a_restoration_token_that_is_unknown_or_used_costs_no_hash() {
    let used = Challenge { ended_at: Some(now()), ..restoration(hash(7)) };
    for found in [None, Some(used)] {
        let mut logins = MockLogins::new();
        logins
            .expect_challenge()
            .with(eq(Purpose::EmailRestore), eq(hash(7)))
            .returning(move |_, _| Ok(found.clone()));
        let changes = changes(Setup { logins, refuses_to_hash: true, ..Setup::default() });
        let refused = run(changes.restore(&client(), &Token("x".to_owned()), &Password::presented("new")));
        assert!(
            matches!(refused, Err(CommandError::Refused(RestoreEmailRefusal::InvalidToken))),
            "{refused:?}"
        );
    }
}

#[test]
fn the_restoration_token_is_resent_only_if_a_known_key_derives_it() {
    let done = (hash(8), Some(IssueOutcome::Done), Some("older"));
    let other_key = (hash(9), None, None);
    for (stored, issued, sent) in [done, (hash(7), Some(IssueOutcome::NotYet), None), other_key] {
        let mut logins = MockLogins::new();
        logins
            .expect_restoration()
            .withf(|address, _| address == "ada@example.com")
            .returning(move |_, _| Ok(Some(restoration(stored))));
        if let Some(issued) = issued {
            logins
                .expect_issue()
                .withf(|counted, _| {
                    let (purpose, target) = (counted.purpose, counted.target.as_str());
                    (purpose, target) == (Purpose::EmailRestoreRepeat, "ada@example.com")
                        && counted.address.is_none()
                })
                .once()
                .returning(move |_, _| Ok(issued));
        }
        let mut notifier = MockNotifier::new();
        if let Some(text) = sent {
            let restore = Some((Token(text.to_owned()), now().plus(Duration::days(7))));
            let notice = Notice::EmailReplaced { restore, client: None, at: now() };
            let to = Recipient::Email(email("Ada@example.com"));
            notifier.expect_send().with(eq(to), eq(notice)).once().returning(|_, _| Ok(()));
        }
        let noted = sent.map(|_| SecurityEventKind::PasswordResetRequested).into_iter().collect();
        let changes = changes(Setup { logins, notifier, noted, ..Setup::default() });
        assert!(run(changes.send_again(&email("ADA@example.com"), ClientInfo::default())).is_ok());
    }
}
