//! E-mail and phone verification, on doubles of the ports.

use super::*;
use crate::user::challenge::{AnswerOutcome, Purpose};
use crate::user::code_quotas::{CodeQuota, CountedCode, TooMany};
use crate::user::session::{Candidates, TokenHash};

/// The doubles of a test, and its expectations of the security log.
#[derive(Default)]
struct Setup {
    people: MockPeople,
    logins: MockLogins,
    notifier: MockNotifier,
    noted: Option<SecurityEventKind>,
}

/// A hash under the signing key, and one under another key.
fn keyed(number: u8) -> Candidates<TokenHash> {
    Candidates { current: TokenHash([number; 32]), others: vec![TokenHash([number.saturating_add(100); 32])] }
}

/// Verifications whose code is 042137, stored with a hash bound to purpose and user.
fn verifications(setup: Setup) -> Verifications {
    let mut secrets = MockSecrets::new();
    secrets.expect_code().returning(|| Token("042137".to_owned()));
    secrets.expect_fingerprint().returning(|token| match token.0.as_str() {
        "email:2:042137" | "phone:2:042137" => TokenHash([9; 32]),
        other => panic!("{other}"),
    });
    secrets.expect_keyed_hashes().returning(|what, text, at| {
        assert_eq!(at, now());
        let number = match (what, text) {
            (LowEntropyValue::Code, "email:2:042137") => 1,
            (LowEntropyValue::Code, "phone:2:042137") => 2,
            (LowEntropyValue::PhoneNumber, "15550100") => 3,
            (LowEntropyValue::Network, "192.0.2.7/32") => 4,
            (LowEntropyValue::Network, "") => 5,
            other => panic!("{other:?}"),
        };
        Ok(keyed(number))
    });
    let Setup { people, logins, notifier, noted } = setup;
    let log = log_of(noted.into_iter().collect());
    let env = Doubles { people, logins, secrets, notifier, log, ..Doubles::default() }.env();
    Verifications { executor: Executor::new(env.clone()), env }
}

fn reaching() -> MockNotifier {
    let mut notifier = MockNotifier::new();
    notifier.expect_can_reach().return_const(true);
    notifier
}

fn issuing(issued: IssueOutcome) -> MockLogins {
    let mut logins = MockLogins::new();
    logins
        .expect_issue()
        .withf(|challenge, counted| {
            counted.is_none()
                && challenge.purpose == Purpose::Email
                && challenge.hash == TokenHash([1; 32])
                && challenge.target == "dee@example.com"
        })
        .once()
        .returning(move |_, _| Ok(issued));
    logins
}

fn send(setup: Setup, address: Address) -> Result<(), CommandError<SendCodeRefusal>> {
    run(verifications(setup).send_code(&context(2), address))
}

#[test]
fn the_stored_code_is_sent() {
    let mut notifier = reaching();
    notifier
        .expect_send()
        .withf(|to, notice| {
            *to == Recipient::Email(Email::new("dee@example.com").unwrap())
                && *notice == Notice::Code(Token("042137".to_owned()))
        })
        .once()
        .returning(|_, _| Ok(()));
    let (people, logins) = (people_with(true), issuing(IssueOutcome::Done));
    send(Setup { people, logins, notifier, ..Setup::default() }, Address::Email).unwrap();
}

#[test]
fn no_code_is_sent_to_a_verified_email_or_a_missing_phone() {
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| {
        let profile = dj(false);
        Ok(Some(Profile { user: User { email_verified: true, ..profile.user }, ..profile }))
    });
    send(Setup { people, ..Setup::default() }, Address::Email).unwrap();
    let refused = send(Setup { people: people_with(true), ..Setup::default() }, Address::Phone);
    assert!(matches!(refused, Err(CommandError::Refused(SendCodeRefusal::NoAddress))), "{refused:?}");
}

#[test]
fn no_code_is_stored_if_the_notifier_cannot_send_emails() {
    let mut notifier = MockNotifier::new();
    notifier.expect_can_reach().return_const(false);
    let refused = send(Setup { people: people_with(true), notifier, ..Setup::default() }, Address::Email);
    assert!(matches!(refused, Err(CommandError::Refused(SendCodeRefusal::NotOffered))), "{refused:?}");
}

#[test]
fn a_refusal_for_an_exhausted_code_quota_states_the_waiting_time() {
    let wait = Duration::minutes(7);
    for (quota, most) in [(CodeQuota::Hour, 5), (CodeQuota::Number, 5), (CodeQuota::Network, 20)] {
        let logins = issuing(IssueOutcome::TooMany(TooMany { quota, most, until: now().plus(wait) }));
        let setup = Setup { people: people_with(true), logins, notifier: reaching(), ..Setup::default() };
        match send(setup, Address::Email) {
            Err(CommandError::Refused(SendCodeRefusal::TooMany {
                quota: named,
                most: told,
                wait: waits,
            })) => {
                assert_eq!((named, told, waits), (quota, most, wait))
            }
            other => panic!("{other:?}"),
        }
    }
    let spent = TooMany { quota: CodeQuota::Deployment, most: 7, until: now().plus(wait) };
    let logins = issuing(IssueOutcome::TooMany(spent));
    let setup = Setup { people: people_with(true), logins, notifier: reaching(), ..Setup::default() };
    let refused = send(setup, Address::Email);
    assert!(
        matches!(refused, Err(CommandError::Refused(SendCodeRefusal::BudgetSpent(told))) if told == wait),
        "{refused:?}"
    );
}

#[test]
fn phone_codes_count_against_the_quotas_of_number_network_and_deployment() {
    for (address, network) in [(Some("192.0.2.7"), keyed(4)), (None, keyed(5))] {
        let mut people = MockPeople::new();
        people.expect_profile().returning(|_| {
            let profile = dj(false);
            let phone = Some(Line::new("+1 (555) 0100").unwrap());
            Ok(Some(Profile { user: User { phone, ..profile.user }, ..profile }))
        });
        let counted =
            CountedCode { number: keyed(3), network, most_of_deployment: NonZeroU32::new(7), at: now() };
        let mut logins = MockLogins::new();
        logins
            .expect_issue()
            .withf(move |challenge, code| {
                challenge.hash == TokenHash([2; 32]) && code.is_some_and(|code| *code == counted)
            })
            .once()
            .returning(|_, _| Ok(IssueOutcome::Done));
        let mut notifier = reaching();
        notifier.expect_send().once().returning(|_, _| Ok(()));
        let verifications = verifications(Setup { people, logins, notifier, ..Setup::default() });
        let client = ClientInfo { address: address.map(|address| address.parse().unwrap()), agent: None };
        let context = Context { client, ..context(2) };
        run(verifications.send_code(&context, Address::Phone)).unwrap();
    }
}

#[test]
fn only_the_right_code_verifies_an_email_or_phone() {
    let phone = (Address::Phone, Purpose::Phone, TokenHash([2; 32]));
    let email = (Address::Email, Purpose::Email, TokenHash([1; 32]));
    for ((address, purpose, hash), judged, kind) in [
        (email, AnswerOutcome::Right, SecurityEventKind::EmailVerified),
        (phone, AnswerOutcome::Right, SecurityEventKind::PhoneVerified),
        (email, AnswerOutcome::Wrong, SecurityEventKind::CodeRefused),
        (email, AnswerOutcome::Over, SecurityEventKind::CodeRefused),
    ] {
        let mut logins = MockLogins::new();
        logins
            .expect_answer()
            .withf(move |who, what, presented, at| {
                // Under each key, and as an earlier version stored it.
                let all: Vec<TokenHash> =
                    keyed(hash.0[0]).iter().copied().chain([TokenHash([9; 32])]).collect();
                (*who, *what, *at) == (user(2), purpose, now()) && *presented == all
            })
            .once()
            .returning(move |_, _, _, _| Ok(judged));
        let setup = Setup { people: people_with(true), logins, noted: Some(kind), ..Setup::default() };
        let code = Token("042137".to_owned());
        match run(verifications(setup).verify(&context(2), address, &code)) {
            Ok(profile) => {
                assert_eq!(judged, AnswerOutcome::Right);
                assert_eq!(profile.user.email_verified, address == Address::Email);
                assert_eq!(profile.user.phone_verified, address == Address::Phone);
            }
            Err(refused) => {
                assert!(
                    matches!(refused, CommandError::Refused(VerifyRefusal::InvalidCode))
                        && judged != AnswerOutcome::Right,
                    "{refused:?}"
                );
            }
        }
    }
}

#[test]
fn an_outage_does_not_consume_the_code() {
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| Err(Unavailable::new("the storage is away")));
    let verifications = verifications(Setup { people, ..Setup::default() });
    let code = Token("042137".to_owned());
    let refused = run(verifications.verify(&context(2), Address::Email, &code));
    assert!(matches!(refused, Err(CommandError::Failed(Failure::Unavailable(_)))), "{refused:?}");
}
