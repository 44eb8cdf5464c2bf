//! Logins: passwords under concurrent changes, and challenges that are counted exactly.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::plans;
use cuepoint_domain::ports::{Credentials, IssueOutcome, PasswordHash, Registered, Store};
use cuepoint_domain::text::Email;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::{
    AnswerOutcome, Challenge, ISSUE_WINDOW, MAX_ATTEMPTS, MAX_ISSUED, Purpose,
};
use cuepoint_domain::user::code_quotas::{CodeQuota, TooMany};
use cuepoint_domain::user::session::TokenHash;
use cuepoint_domain::user::{Field, ProfileChange};
use time::Duration;

use crate::harness::scenario::{Scenario, at, at_once, line};
use crate::subjects::sessions::{alive, log_in};

promises! { ($) logins as logins_promises {
    credentials_are_found_by_the_folded_email,
    a_rehash_does_not_overwrite_a_new_password,
    a_password_change_ends_other_sessions_and_reset_tokens,
    one_of_many_concurrent_password_changes_succeeds,
    the_right_code_verifies_an_email_or_phone_only_once,
    only_the_newest_unexpired_challenge_can_be_answered,
    codes_for_previous_phone_numbers_verify_nothing,
    concurrent_wrong_codes_are_counted_exactly,
    one_of_many_concurrent_right_codes_succeeds,
    challenges_per_user_purpose_and_hour_are_limited,
    users_with_the_same_phone_share_its_hourly_limit_of_challenges,
    a_password_reset_ends_every_session_of_the_user,
    one_of_many_concurrent_password_resets_succeeds,
}}

/// The refusal of a challenge whose hourly quota is used up.
fn too_many(until: Timestamp) -> IssueOutcome {
    let most = u32::try_from(MAX_ISSUED).unwrap();
    IssueOutcome::TooMany(TooMany { quota: CodeQuota::Hour, most, until })
}

fn secret(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

fn hash(text: &str) -> PasswordHash {
    PasswordHash(text.to_owned())
}

/// A registered user with a phone number, whose password hash is `old`.
async fn person(scenario: &Scenario) -> UserId {
    let mut user = scenario.stranger(false, at(0)).await;
    user.phone = Some(line("+15550100"));
    let registered = scenario.store.register(&user, &hash("old"), None).await.unwrap();
    assert_eq!(registered, Registered::Done);
    user.id
}

/// Issues a challenge with the secret of this number to a user with their current addresses.
async fn issue(
    scenario: &Scenario,
    user: UserId,
    purpose: Purpose,
    number: u8,
    now: Timestamp,
) -> IssueOutcome {
    let user = scenario.user(user).await;
    let challenge = Challenge::issue(&user, purpose, secret(number), now).unwrap();
    scenario.store.issue(&challenge, None).await.unwrap()
}

async fn answer(
    scenario: &Scenario,
    user: UserId,
    purpose: Purpose,
    number: u8,
    now: Timestamp,
) -> AnswerOutcome {
    scenario.store.answer(user, purpose, &[secret(250), secret(number)], now).await.unwrap()
}

async fn password(scenario: &Scenario, user: UserId) -> PasswordHash {
    scenario.store.credentials_of(user).await.unwrap().unwrap().password
}

/// Credentials are found by the folded address or by the user, with the registered hash.
pub async fn credentials_are_found_by_the_folded_email(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let mut user = scenario.stranger(false, at(1)).await;
    user.email = Email::new("Ada.Lovelace@Example.com").unwrap();
    let password = hash("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA");
    assert_eq!(scenario.store.register(&user, &password, None).await.unwrap(), Registered::Done);
    let expected = Some(Credentials { user: user.id, role: user.role, password });
    assert_eq!(scenario.store.credentials(&user.email.folded()).await.unwrap(), expected);
    assert_eq!(scenario.store.credentials_of(user.id).await.unwrap(), expected);
    assert_eq!(scenario.store.credentials("bob@example.com").await.unwrap(), None);
    let nobody = scenario.ids.next_user().await.unwrap();
    assert_eq!(scenario.store.credentials_of(nobody).await.unwrap(), None);
}

/// A rehash replaces the verified hash, never that of a password changed in the meantime.
pub async fn a_rehash_does_not_overwrite_a_new_password(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    scenario.store.rehash(user, &hash("old"), &hash("stronger")).await.unwrap();
    assert_eq!(password(&scenario, user).await, hash("stronger"));
    scenario.store.rehash(user, &hash("old"), &hash("late")).await.unwrap();
    assert_eq!(password(&scenario, user).await, hash("stronger"));
}

/// A change of the password keeps the user's own session; all others end, and so does every open challenge
/// for a reset.
pub async fn a_password_change_ends_other_sessions_and_reset_tokens(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    let here = log_in(&scenario.store, user, 1, at(0)).await.id;
    log_in(&scenario.store, user, 2, at(0)).await;
    issue(&scenario, user, Purpose::Password, 7, at(1)).await;
    issue(&scenario, user, Purpose::Email, 8, at(1)).await;
    let change = async |before: &str, after: &str| {
        scenario.store.change_password(user, &hash(before), &hash(after), Some(here), at(2)).await.unwrap()
    };
    assert!(!change("another", "new").await, "not the stored password");
    assert_eq!(alive(&scenario.store, user, at(3)).await.len(), 2);
    assert!(change("old", "new").await);
    assert_eq!(password(&scenario, user).await, hash("new"));
    assert_eq!(alive(&scenario.store, user, at(3)).await, [here]);
    assert_eq!(scenario.store.reset_password(&secret(7), &hash("newer"), at(3)).await.unwrap(), None);
    assert_eq!(
        answer(&scenario, user, Purpose::Email, 8, at(3)).await,
        AnswerOutcome::Right,
        "no password depends on it"
    );
    assert_eq!(password(&scenario, user).await, hash("new"));
}

/// Of twenty concurrent changes of one password one succeeds.
pub async fn one_of_many_concurrent_password_changes_succeeds(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    let tasks = (0..20).map(|number| {
        let scenario = scenario.clone();
        async move {
            let after = hash(&format!("new {number}"));
            let won = scenario.store.change_password(user, &hash("old"), &after, None, at(1)).await.unwrap();
            won.then_some(after)
        }
    });
    let won: Vec<PasswordHash> = at_once(tasks).await.into_iter().flatten().collect();
    assert_eq!(won, [password(&scenario, user).await]);
}

/// The right answer verifies the address, once; each address is independent.
pub async fn the_right_code_verifies_an_email_or_phone_only_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    assert_eq!(
        answer(&scenario, user, Purpose::Email, 1, at(0)).await,
        AnswerOutcome::Over,
        "nothing was sent"
    );
    issue(&scenario, user, Purpose::Email, 1, at(0)).await;
    issue(&scenario, user, Purpose::Phone, 2, at(0)).await;
    assert_eq!(
        answer(&scenario, user, Purpose::Phone, 1, at(1)).await,
        AnswerOutcome::Wrong,
        "for another address"
    );
    assert_eq!(answer(&scenario, user, Purpose::Email, 1, at(1)).await, AnswerOutcome::Right);
    let proven = scenario.user(user).await;
    assert_eq!((proven.email_verified, proven.phone_verified), (true, false));
    assert_eq!(answer(&scenario, user, Purpose::Email, 1, at(2)).await, AnswerOutcome::Over);
    assert_eq!(answer(&scenario, user, Purpose::Phone, 2, at(2)).await, AnswerOutcome::Right);
    assert!(scenario.user(user).await.phone_verified);
}

/// A challenge can be answered until it expires, to the microsecond, and not once a newer one was issued.
pub async fn only_the_newest_unexpired_challenge_can_be_answered(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    let end = at(0).plus(Purpose::Email.valid_for());
    issue(&scenario, user, Purpose::Email, 1, at(0)).await;
    assert_eq!(answer(&scenario, user, Purpose::Email, 1, end).await, AnswerOutcome::Over);
    issue(&scenario, user, Purpose::Email, 2, at(0)).await;
    assert_eq!(
        answer(&scenario, user, Purpose::Email, 1, at(1)).await,
        AnswerOutcome::Wrong,
        "it was replaced"
    );
    let in_time = end.minus(Duration::MICROSECOND);
    assert_eq!(answer(&scenario, user, Purpose::Email, 2, in_time).await, AnswerOutcome::Right);
}

/// A code for an address that was changed in the meantime verifies nothing.
pub async fn codes_for_previous_phone_numbers_verify_nothing(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    issue(&scenario, user, Purpose::Phone, 1, at(0)).await;
    let phone = Field::Set(Some(line("+15550199")));
    let change = ProfileChange { phone, ..ProfileChange::default() };
    scenario.fresh(plans::change_profile(scenario.by(user, at(1)), user, change)).await;
    assert_eq!(answer(&scenario, user, Purpose::Phone, 1, at(2)).await, AnswerOutcome::Over);
    assert!(!scenario.user(user).await.phone_verified);
}

/// Of many concurrent wrong answers exactly the limit is judged, and the right one comes too late.
pub async fn concurrent_wrong_codes_are_counted_exactly(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    issue(&scenario, user, Purpose::Email, 1, at(0)).await;
    let tasks = (0..40_u8).map(|number| {
        let scenario = scenario.clone();
        async move { answer(&scenario, user, Purpose::Email, 100 + number, at(1)).await }
    });
    let answers = at_once(tasks).await;
    let wrong = answers.iter().filter(|judged| **judged == AnswerOutcome::Wrong).count();
    assert_eq!(wrong, usize::try_from(MAX_ATTEMPTS).unwrap());
    assert!(answers.iter().all(|judged| *judged != AnswerOutcome::Right));
    assert_eq!(answer(&scenario, user, Purpose::Email, 1, at(2)).await, AnswerOutcome::Over);
    assert!(!scenario.user(user).await.email_verified);
}

/// Of many concurrent right answers one succeeds.
pub async fn one_of_many_concurrent_right_codes_succeeds(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    issue(&scenario, user, Purpose::Email, 1, at(0)).await;
    let tasks = (0..20).map(|_| {
        let scenario = scenario.clone();
        async move { answer(&scenario, user, Purpose::Email, 1, at(1)).await }
    });
    let answers = at_once(tasks).await;
    assert_eq!(answers.iter().filter(|judged| **judged == AnswerOutcome::Right).count(), 1);
    assert_eq!(answers.iter().filter(|judged| **judged == AnswerOutcome::Over).count(), 19);
}

/// A limited number of challenges is issued within an hour, per purpose and also under concurrency.
pub async fn challenges_per_user_purpose_and_hour_are_limited(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    let tasks = (0..20_u8).map(|number| {
        let scenario = scenario.clone();
        async move { issue(&scenario, user, Purpose::Email, number, at(0)).await }
    });
    let answers = at_once(tasks).await;
    let later = at(0).plus(ISSUE_WINDOW);
    assert_eq!(answers.iter().filter(|issued| **issued == IssueOutcome::Done).count(), MAX_ISSUED);
    let refused = answers.iter().filter(|issued| **issued == too_many(later)).count();
    assert_eq!(refused, 20 - MAX_ISSUED);
    assert_eq!(issue(&scenario, user, Purpose::Phone, 50, at(1)).await, IssueOutcome::Done);
    let before = later.minus(Duration::MICROSECOND);
    assert_eq!(issue(&scenario, user, Purpose::Email, 51, before).await, too_many(later));
    scenario.store.purge_expired(before).await.unwrap();
    assert_eq!(issue(&scenario, user, Purpose::Email, 51, before).await, too_many(later), "still counted");
    assert_eq!(issue(&scenario, user, Purpose::Email, 51, later).await, IssueOutcome::Done);
}

/// Users with one phone number share its quota, also under concurrency; a challenge is replaced only by the
/// next one of the same user.
pub async fn users_with_the_same_phone_share_its_hourly_limit_of_challenges(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (ada, bob) = (person(&scenario).await, person(&scenario).await);
    let tasks = (0..10_u8).flat_map(|number| [(ada, number), (bob, number)]).map(|(user, number)| {
        let scenario = scenario.clone();
        async move { issue(&scenario, user, Purpose::Phone, number, at(0)).await }
    });
    let answers = at_once(tasks).await;
    assert_eq!(answers.iter().filter(|issued| **issued == IssueOutcome::Done).count(), MAX_ISSUED);
    let later = at(0).plus(ISSUE_WINDOW);
    for user in [ada, bob] {
        assert_eq!(issue(&scenario, user, Purpose::Phone, 50, at(1)).await, too_many(later));
        assert_eq!(
            issue(&scenario, user, Purpose::Email, 51, at(1)).await,
            IssueOutcome::Done,
            "another address"
        );
    }
    assert_eq!(issue(&scenario, ada, Purpose::Phone, 52, later).await, IssueOutcome::Done);
    assert_eq!(issue(&scenario, bob, Purpose::Phone, 53, later).await, IssueOutcome::Done);
    assert_eq!(answer(&scenario, ada, Purpose::Phone, 52, later).await, AnswerOutcome::Right);
}

/// A password reset by e-mail verifies the address and ends every session of the user; the token is used up.
pub async fn a_password_reset_ends_every_session_of_the_user(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, other) = (person(&scenario).await, person(&scenario).await);
    log_in(&scenario.store, user, 1, at(0)).await;
    let theirs = log_in(&scenario.store, other, 2, at(0)).await.id;
    for (purpose, number) in [(Purpose::Password, 6), (Purpose::Password, 7), (Purpose::Email, 8)] {
        issue(&scenario, user, purpose, number, at(0)).await;
    }
    let reset = async |number, after: &str, now| {
        scenario.store.reset_password(&secret(number), &hash(after), now).await.unwrap()
    };
    assert_eq!(reset(9, "stolen", at(1)).await, None, "an unknown token");
    assert_eq!(reset(8, "stolen", at(1)).await, None, "a code for another purpose");
    assert_eq!(reset(6, "stolen", at(1)).await, None, "a token that was replaced");
    assert_eq!(reset(7, "late", at(0).plus(Purpose::Password.valid_for())).await, None);
    assert_eq!(password(&scenario, user).await, hash("old"));
    assert_eq!(reset(7, "new", at(1)).await, Some(user));
    assert_eq!(password(&scenario, user).await, hash("new"));
    let after = scenario.user(user).await;
    assert!(after.email_verified);
    assert_eq!(after.login_changed_at, Some(at(1)));
    assert_eq!(alive(&scenario.store, user, at(2)).await, []);
    assert_eq!(alive(&scenario.store, other, at(2)).await, [theirs]);
    assert_eq!(reset(7, "again", at(2)).await, None);
    assert_eq!(
        (password(&scenario, user).await, password(&scenario, other).await),
        (hash("new"), hash("old"))
    );
}

/// Of many concurrent resets with one token one succeeds.
pub async fn one_of_many_concurrent_password_resets_succeeds(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = person(&scenario).await;
    issue(&scenario, user, Purpose::Password, 7, at(0)).await;
    let tasks = (0..20).map(|number| {
        let scenario = scenario.clone();
        async move {
            let after = hash(&format!("new {number}"));
            let won = scenario.store.reset_password(&secret(7), &after, at(1)).await.unwrap();
            won.map(|_| after)
        }
    });
    let won: Vec<PasswordHash> = at_once(tasks).await.into_iter().flatten().collect();
    assert_eq!(won, [password(&scenario, user).await]);
}
