//! Changes of e-mail addresses, and the reserved previous ones.

use std::sync::Arc;

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Erased, FirstOperator, IssueOutcome, PasswordHash, Registered, Store};
use cuepoint_domain::privacy::ErasureRefusal;
use cuepoint_domain::text::Email;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::{AnswerOutcome, Challenge, MAX_ATTEMPTS, Purpose};
use cuepoint_domain::user::email_change::{EmailChanged, EmailRestored};
use cuepoint_domain::user::session::{Session, SessionSecret, TokenHash};
use cuepoint_domain::webhook::{DisabledReason, EndpointState};
use time::Duration;

use crate::harness::confirmed_erasure::erase_at;
use crate::harness::scenario::{Scenario, at, at_once};
use crate::subjects::sessions::{alive, log_in, new_session};
use crate::subjects::webhook_endpoints::{add, pause, stored};

promises! { ($) email_changes as email_changes_promises {
    the_right_code_changes_the_address_and_ends_other_codes,
    an_email_change_ends_after_too_many_wrong_codes_or_a_new_password,
    ended_or_expired_sessions_cannot_change_an_email_address,
    a_taken_address_is_refused_at_the_confirmation,
    restorable_addresses_are_reserved,
    a_restoration_token_restores_the_previous_address_only_once,
    concurrent_changes_give_an_address_to_one_user,
}}

const RESTORE: TokenHash = TokenHash([200; 32]);

fn secret(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

fn hash(text: &str) -> PasswordHash {
    PasswordHash(text.to_owned())
}

fn email(text: &str) -> Email {
    Email::new(text).unwrap()
}

/// A registered user with a verified address, or one that is not.
async fn person(scenario: &Scenario, address: &str, email_verified: bool) -> UserId {
    let stranger = scenario.stranger(false, at(0)).await;
    let user = User { email: email(address), email_verified, ..stranger };
    assert_eq!(scenario.store.register(&user, &hash("old"), None).await.unwrap(), Registered::Done);
    user.id
}

/// Issues the code with this number to a new address.
async fn issue(scenario: &Scenario, user: UserId, to: &str, number: u8, now: Timestamp) -> IssueOutcome {
    let challenge = Challenge::moving(user, Purpose::EmailChange, email(to), secret(number), now);
    scenario.store.issue(&challenge, None).await.unwrap()
}

/// Answers with the code of this number, in a new session.
async fn confirm(scenario: &Scenario, user: UserId, number: u8, now: Timestamp) -> EmailChanged {
    let session = new_session(&scenario.store, user, now).await;
    let mut token = [0; 32];
    token[..8].copy_from_slice(&session.id.get().to_be_bytes());
    let password = scenario.store.credentials_of(user).await.unwrap().unwrap().password;
    scenario.store.begin(&session, SessionSecret::RefreshToken(TokenHash(token)), &password).await.unwrap();
    confirm_in(scenario, &session, number, now).await
}

async fn confirm_in(scenario: &Scenario, session: &Session, number: u8, now: Timestamp) -> EmailChanged {
    let restore = TokenHash([number.wrapping_add(199); 32]);
    let presented = [secret(250), secret(number)];
    scenario.store.change_email(session.user, session.id, &presented, &restore, now).await.unwrap()
}

/// Whether this address is reserved for a user.
async fn is_reserved(scenario: &Scenario, folded: &str, now: Timestamp) -> bool {
    scenario.store.restoration(folded, now).await.unwrap().is_some()
}

/// Changes the address of a user with the code 1, whose token to restore the previous one is [`RESTORE`].
async fn moved(scenario: &Scenario, user: UserId, to: &str, now: Timestamp) -> User {
    assert_eq!(issue(scenario, user, to, 1, now).await, IssueOutcome::Done);
    match confirm(scenario, user, 1, now).await {
        EmailChanged::Done(after) => *after,
        other => panic!("{other:?}"),
    }
}

async fn restore(scenario: &Scenario, password: &str, now: Timestamp) -> EmailRestored {
    scenario.store.restore_email(&RESTORE, &hash(password), now).await.unwrap()
}

async fn register(scenario: &Scenario, address: &str, now: Timestamp) -> Registered {
    let stranger = scenario.stranger(false, now).await;
    let user = User { email: email(address), ..stranger };
    scenario.store.register(&user, &hash("other"), None).await.unwrap()
}

async fn owner(scenario: &Scenario, folded: &str) -> Option<UserId> {
    scenario.store.credentials(folded).await.unwrap().map(|credentials| credentials.user)
}

/// The right code gives the address to the user, verified, and ends all other codes and tokens. Until the previous
/// address cannot be restored any more, there is no second change.
pub async fn the_right_code_changes_the_address_and_ends_other_codes(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario, "Ada@example.com", true).await;
    let before = scenario.user(user).await;
    for (number, purpose) in [(31, Purpose::Password), (32, Purpose::Email)] {
        let challenge = Challenge::issue(&before, purpose, secret(number), at(1)).unwrap();
        assert_eq!(scenario.store.issue(&challenge, None).await.unwrap(), IssueOutcome::Done);
    }
    assert_eq!(confirm(&scenario, user, 1, at(1)).await, EmailChanged::Over, "nothing was sent");
    issue(&scenario, user, "Ada@New.example", 1, at(1)).await;
    assert_eq!(confirm(&scenario, user, 9, at(2)).await, EmailChanged::Wrong);
    assert_eq!(scenario.user(user).await, before);
    let EmailChanged::Done(after) = confirm(&scenario, user, 1, at(3)).await else { panic!("not done") };
    let expected = User { email: email("Ada@New.example"), login_changed_at: Some(at(3)), ..before.clone() };
    assert_eq!((&*after, &scenario.user(user).await), (&expected, &expected));
    let owners = (owner(&scenario, "ada@new.example").await, owner(&scenario, "ada@example.com").await);
    assert_eq!(owners, (Some(user), None));
    assert_eq!(confirm(&scenario, user, 1, at(4)).await, EmailChanged::Over, "it is used up");
    assert_eq!(scenario.store.reset_password(&secret(31), &hash("thief"), at(4)).await.unwrap(), None);
    let verified = scenario.store.answer(user, Purpose::Email, &[secret(32)], at(4)).await.unwrap();
    assert_eq!(verified, AnswerOutcome::Over);
    let until = at(3).plus(Purpose::EmailRestore.valid_for());
    assert_eq!(scenario.store.restorable_until(user, at(4)).await.unwrap(), Some(until));
    issue(&scenario, user, "ada@third.example", 2, at(5)).await;
    assert_eq!(confirm(&scenario, user, 2, at(6)).await, EmailChanged::Restorable(until));
    assert_eq!(scenario.user(user).await, expected);
    scenario.store.purge_expired(until).await.unwrap();
    issue(&scenario, user, "ada@third.example", 3, until).await;
    assert!(matches!(confirm(&scenario, user, 3, until).await, EmailChanged::Done(_)));
}

/// A request in flight whose session ended or expired meanwhile changes nothing.
pub async fn ended_or_expired_sessions_cannot_change_an_email_address(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario, "ada@example.com", true).await;
    let session = log_in(&scenario.store, user, 1, at(0)).await;
    scenario.store.end_sessions(user, None, at(1)).await.unwrap();
    issue(&scenario, user, "thief@example.com", 1, at(2)).await;
    assert_eq!(confirm_in(&scenario, &session, 1, at(2)).await, EmailChanged::Over);
    let session = log_in(&scenario.store, user, 2, at(2)).await;
    let expired = session.expires_at;
    issue(&scenario, user, "thief@example.com", 2, expired).await;
    assert_eq!(confirm_in(&scenario, &session, 2, expired).await, EmailChanged::Over);
    assert_eq!(owner(&scenario, "ada@example.com").await, Some(user));
    assert!(matches!(confirm(&scenario, user, 2, expired).await, EmailChanged::Done(_)));
}

/// Of many wrong codes exactly the limit is judged, and a new password ends the open code.
pub async fn an_email_change_ends_after_too_many_wrong_codes_or_a_new_password(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario, "ada@example.com", true).await;
    issue(&scenario, user, "ada@new.example", 1, at(0)).await;
    let tasks = (0..20_u8).map(|number| {
        let scenario = scenario.clone();
        async move { confirm(&scenario, user, 100 + number, at(1)).await }
    });
    let answers = at_once(tasks).await;
    let wrong = answers.iter().filter(|outcome| **outcome == EmailChanged::Wrong).count();
    assert_eq!(wrong, usize::try_from(MAX_ATTEMPTS).unwrap());
    assert_eq!(confirm(&scenario, user, 1, at(2)).await, EmailChanged::Over);
    issue(&scenario, user, "ada@new.example", 2, at(3)).await;
    assert!(scenario.store.change_password(user, &hash("old"), &hash("new"), None, at(4)).await.unwrap());
    assert_eq!(confirm(&scenario, user, 2, at(5)).await, EmailChanged::Over);
    issue(&scenario, user, "ada@new.example", 3, at(6)).await;
    let reset = Challenge::issue(&scenario.user(user).await, Purpose::Password, secret(31), at(6)).unwrap();
    scenario.store.issue(&reset, None).await.unwrap();
    let owner = scenario.store.reset_password(&secret(31), &hash("newer"), at(7)).await.unwrap();
    assert_eq!(owner, Some(user));
    assert_eq!(confirm(&scenario, user, 3, at(8)).await, EmailChanged::Over);
}

/// An address that another user took after the code was sent is refused at the confirmation. Nothing changes then, and
/// the code works once the address is free.
pub async fn a_taken_address_is_refused_at_the_confirmation(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario, "ada@example.com", true).await;
    let before = scenario.user(user).await;
    issue(&scenario, user, "Bob@example.com", 1, at(0)).await;
    let bob = person(&scenario, "bob@EXAMPLE.com", false).await;
    assert_eq!(confirm(&scenario, user, 1, at(1)).await, EmailChanged::Taken);
    assert_eq!(scenario.user(user).await, before);
    assert_eq!(scenario.store.restorable_until(user, at(1)).await.unwrap(), None);
    assert_eq!(scenario.erase(bob, 2).await, Erased::Done);
    assert!(matches!(confirm(&scenario, user, 1, at(3)).await, EmailChanged::Done(_)));
}

/// Nobody takes a verified previous address while it can be restored. An address that was not verified is free at once,
/// and so is each one of an erased user.
pub async fn restorable_addresses_are_reserved(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (ada, bob) =
        (person(&scenario, "Ada@example.com", true).await, person(&scenario, "bob@example.com", false).await);
    moved(&scenario, ada, "ada@new.example", at(0)).await;
    let end = at(0).plus(Purpose::EmailRestore.valid_for());
    let last = end.minus(Duration::MICROSECOND);
    for now in [at(1), last] {
        let open = scenario.store.restoration("ada@example.com", now).await.unwrap().unwrap();
        let expected =
            Challenge::moving(ada, Purpose::EmailRestore, email("Ada@example.com"), RESTORE, at(0));
        assert_eq!(open, expected);
        assert_eq!(register(&scenario, "ADA@example.com", now).await, Registered::EmailTaken);
        issue(&scenario, bob, "ada@example.com", 2, now).await;
        assert_eq!(confirm(&scenario, bob, 2, now).await, EmailChanged::Taken);
    }
    let operator = User { email: email("ada@example.com"), ..scenario.stranger(false, last).await };
    let made = scenario.store.register_first_operator(&operator, &hash("other")).await.unwrap();
    assert_eq!(made, FirstOperator::EmailTaken);
    assert!(!is_reserved(&scenario, "ada@example.com", end).await);
    assert_eq!(register(&scenario, "ada@example.com", end).await, Registered::Done);
    assert_eq!(restore(&scenario, "late", end).await, EmailRestored::Over);
    // Bob's address was not verified; the new one is.
    issue(&scenario, bob, "bob@new.example", 3, end).await;
    assert!(matches!(confirm(&scenario, bob, 3, end).await, EmailChanged::Done(_)));
    assert_eq!(scenario.store.restorable_until(bob, end).await.unwrap(), None);
    assert_eq!(register(&scenario, "bob@example.com", end).await, Registered::Done);
    issue(&scenario, bob, "bob@third.example", 4, end).await;
    assert!(matches!(confirm(&scenario, bob, 4, end).await, EmailChanged::Done(_)));
    assert!(is_reserved(&scenario, "bob@new.example", end).await);
    // A thief of the login cannot end the restoration by erasing the user.
    let until = scenario.store.restorable_until(bob, end).await.unwrap().unwrap();
    let erased = erase_at(&*scenario.store, bob, end, end).await;
    assert_eq!(erased, Erased::Refused(ErasureRefusal::EmailRestorable(until)));
    assert!(is_reserved(&scenario, "bob@new.example", end).await);
    let erased = erase_at(&*scenario.store, bob, until, until).await;
    assert_eq!(erased, Erased::Done);
    assert!(!is_reserved(&scenario, "bob@new.example", until).await);
}

/// A token restores the address once, whatever the thief of the login changed since: it sets the password, ends all
/// sessions and open codes, and disables the endpoints for the user's own events again.
pub async fn a_restoration_token_restores_the_previous_address_only_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario, "Ada@example.com", true).await;
    let endpoint = add(&scenario, user, Feed::Own).await;
    assert_eq!(restore(&scenario, "thief", at(0)).await, EmailRestored::Over);
    moved(&scenario, user, "thief@example.com", at(0)).await;
    assert!(scenario.store.change_password(user, &hash("old"), &hash("thief"), None, at(1)).await.unwrap());
    log_in(&scenario.store, user, 1, at(1)).await;
    let reset = Challenge::issue(&scenario.user(user).await, Purpose::Password, secret(31), at(2)).unwrap();
    scenario.store.issue(&reset, None).await.unwrap();
    assert_eq!(
        scenario.store.reset_password(&secret(31), &hash("thief 2"), at(3)).await.unwrap(),
        Some(user)
    );
    log_in(&scenario.store, user, 2, at(4)).await;
    pause(&scenario, endpoint.id, false).await;
    let reset = Challenge::issue(&scenario.user(user).await, Purpose::Password, secret(32), at(5)).unwrap();
    scenario.store.issue(&reset, None).await.unwrap();
    issue(&scenario, user, "thief@third.example", 2, at(5)).await;
    let late = at(6 * 86_400);
    scenario.store.purge_expired(late).await.unwrap();
    let tasks = (0..20).map(|number| {
        let scenario = scenario.clone();
        async move { restore(&scenario, &format!("mine {number}"), late).await }
    });
    let answers = at_once(tasks).await;
    let done: Vec<_> = answers.iter().filter(|outcome| **outcome != EmailRestored::Over).collect();
    let [EmailRestored::Done { before, after }] = done[..] else { panic!("{done:?}") };
    assert_eq!((before.email.as_str(), after.email.as_str()), ("thief@example.com", "Ada@example.com"));
    let user = scenario.user(user).await;
    assert_eq!((&user, user.email_verified, user.login_changed_at), (&**after, true, Some(late)));
    let credentials = scenario.store.credentials("ada@example.com").await.unwrap().unwrap();
    assert!(credentials.password.0.starts_with("mine "));
    assert_eq!(owner(&scenario, "thief@example.com").await, None);
    assert_eq!(alive(&scenario.store, user.id, late).await, []);
    let disabled = EndpointState::Disabled { at: late, reason: DisabledReason::Security };
    assert_eq!(stored(&scenario, endpoint.id).await.state, disabled);
    assert_eq!(scenario.store.restorable_until(user.id, late).await.unwrap(), None);
    assert_eq!(scenario.store.reset_password(&secret(32), &hash("thief 3"), late).await.unwrap(), None);
    assert_eq!(confirm(&scenario, user.id, 2, late).await, EmailChanged::Over);
    assert!(!is_reserved(&scenario, "thief@example.com", late).await);
}

/// Of many users who confirm one address at once, one gets it, and nobody gets the previous address of a user who
/// changes it at the same time.
pub async fn concurrent_changes_give_an_address_to_one_user(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let mut users = Vec::new();
    for number in 0..8_u8 {
        let user = person(&scenario, &format!("user{number}@example.com"), true).await;
        // Five codes are sent to one address within an hour.
        let sent = at(i64::from(number / 4) * 4_000);
        issue(&scenario, user, "wanted@example.com", number, sent).await;
        users.push((user, number, sent));
    }
    let (ada, bob) = (users[0].0, person(&scenario, "bob@example.com", true).await);
    issue(&scenario, bob, "user0@example.com", 50, at(0)).await;
    let confirmations = users.iter().copied().chain([(bob, 50, at(0))]);
    let tasks = confirmations.map(|(user, number, sent)| {
        let scenario = scenario.clone();
        async move { (user, confirm(&scenario, user, number, sent).await) }
    });
    let registrations = (0..8).map(|_| {
        let scenario = scenario.clone();
        async move { register(&scenario, "user0@example.com", at(1)).await }
    });
    let (changes, registered) = tokio::join!(at_once(tasks), at_once(registrations));
    let won: Vec<UserId> = changes
        .iter()
        .filter(|(_, outcome)| matches!(outcome, EmailChanged::Done(_)))
        .map(|(user, _)| *user)
        .collect();
    assert_eq!(won, [owner(&scenario, "wanted@example.com").await.unwrap()]);
    assert!(changes.iter().all(|(user, outcome)| won.contains(user) || *outcome == EmailChanged::Taken));
    assert!(registered.iter().all(|outcome| *outcome == Registered::EmailTaken), "{registered:?}");
    let holder = owner(&scenario, "user0@example.com").await;
    assert_eq!(holder, Some(ada).filter(|_| won != [ada]));
}
