//! Codes by phone: counted exactly for number, network and deployment, across all users, including erased
//! ones.

use std::num::NonZeroU32;
use std::sync::Arc;

use cuepoint_domain::ports::{Erased, IssueOutcome, Store};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::code_quotas::{CodeQuota, CountedCode, PER_NETWORK, PER_NUMBER, TooMany, WINDOW};
use cuepoint_domain::user::session::{Candidates, TokenHash};
use time::Duration;

use crate::harness::scenario::{Scenario, at, at_once, line};

promises! { ($) code_quotas as code_quotas_promises {
    codes_per_phone_number_and_day_are_limited,
    codes_per_network_and_day_are_limited,
    codes_per_deployment_and_day_are_limited,
    concurrent_codes_are_counted_exactly,
    an_erasure_resets_no_code_quota,
    codes_sent_before_a_key_rotation_count_and_the_longest_wait_is_reported,
}}

/// The hash of a number or network under the signing key, and under no other.
fn under_one_key(number: u8) -> Candidates<TokenHash> {
    Candidates { current: TokenHash([number; 32]), others: Vec::new() }
}

/// A code to this number, requested from this network.
fn code(number: u8, network: u8, most_of_deployment: u32, at: Timestamp) -> CountedCode {
    CountedCode {
        number: under_one_key(number),
        network: under_one_key(network),
        most_of_deployment: NonZeroU32::new(most_of_deployment),
        at,
    }
}

/// The n-th of several different codes, sent at this time.
type CodeOf = fn(u8, Timestamp) -> CountedCode;

/// A registered user with a unique phone number.
async fn registered_user(scenario: &Scenario) -> User {
    let mut user = scenario.stranger(false, at(0)).await;
    user.phone = Some(line(&format!("+4930{:08}", user.id.get())));
    scenario.register(&user).await;
    user
}

/// Sends a code to a new user.
async fn send(scenario: &Scenario, code: &CountedCode) -> IssueOutcome {
    send_to(scenario, &registered_user(scenario).await, code).await
}

async fn send_to(scenario: &Scenario, user: &User, code: &CountedCode) -> IssueOutcome {
    let challenge = Challenge::issue(user, Purpose::Phone, TokenHash([1; 32]), code.at).unwrap();
    scenario.store.issue(&challenge, Some(code)).await.unwrap()
}

fn refused(quota: CodeQuota, most: u32, until: Timestamp) -> IssueOutcome {
    IssueOutcome::TooMany(TooMany { quota, most, until })
}

/// Sends one code a minute until a quota is full, and returns the time of the first.
async fn fill(scenario: &Scenario, many: u32, code: impl Fn(u32, Timestamp) -> CountedCode) -> Timestamp {
    for number in 0..many {
        let sent_at = at(60 * i64::from(number));
        assert_eq!(send(scenario, &code(number, sent_at)).await, IssueOutcome::Done, "code {number}");
    }
    at(0)
}

/// Checks that a full quota refuses another code until a day after the first, and then accepts a single one.
async fn is_full_for_a_day(
    scenario: &Scenario,
    quota: CodeQuota,
    most: u32,
    code: impl Fn(Timestamp) -> CountedCode,
) {
    let room = at(0).plus(WINDOW);
    let too_early = room.minus(Duration::MICROSECOND);
    for now in [at(7_200), too_early] {
        assert_eq!(send(scenario, &code(now)).await, refused(quota, most, room), "{now:?}");
    }
    // Counted codes survive a purge.
    scenario.store.purge_expired(too_early).await.unwrap();
    assert_eq!(send(scenario, &code(too_early)).await, refused(quota, most, room));
    assert_eq!(send(scenario, &code(room)).await, IssueOutcome::Done);
    let next = refused(quota, most, at(60).plus(WINDOW));
    assert_eq!(send(scenario, &code(room)).await, next, "the second one still counts");
}

fn number_of(number: u32) -> u8 {
    u8::try_from(number).unwrap()
}

/// A number is sent a limited number of codes within a day, to the microsecond, across all users and
/// networks.
pub async fn codes_per_phone_number_and_day_are_limited(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    fill(&scenario, PER_NUMBER, |number, now| code(200, number_of(number), 0, now)).await;
    assert_eq!(send(&scenario, &code(201, 90, 0, at(900))).await, IssueOutcome::Done, "another number");
    is_full_for_a_day(&scenario, CodeQuota::Number, PER_NUMBER, |now| code(200, 100, 0, now)).await;
}

/// A network requests a limited number of codes within a day, across all numbers.
pub async fn codes_per_network_and_day_are_limited(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    fill(&scenario, PER_NETWORK, |number, now| code(number_of(number), 200, 0, now)).await;
    assert_eq!(send(&scenario, &code(90, 201, 0, at(1_900))).await, IssueOutcome::Done, "another network");
    is_full_for_a_day(&scenario, CodeQuota::Network, PER_NETWORK, |now| code(100, 200, 0, now)).await;
}

/// A deployment sends a limited number of codes within a day, and any number without a limit.
pub async fn codes_per_deployment_and_day_are_limited(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    fill(&scenario, 7, |number, now| code(number_of(number), number_of(number), 7, now)).await;
    is_full_for_a_day(&scenario, CodeQuota::Deployment, 7, |now| code(100, 100, 7, now)).await;
    for number in 0..10 {
        assert_eq!(send(&scenario, &code(150 + number, 150, 0, at(100_000))).await, IssueOutcome::Done);
    }
}

/// Concurrent requests never exceed a quota.
pub async fn concurrent_codes_are_counted_exactly(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let cases: [(i64, CodeQuota, u32, CodeOf); 3] = [
        (0, CodeQuota::Number, 5, |number, now| code(1, number, 0, now)),
        (25, CodeQuota::Network, 20, |number, now| code(number, 2, 0, now)),
        (50, CodeQuota::Deployment, 9, |number, now| code(number, number, 9, now)),
    ];
    for (hour, quota, most, code) in cases {
        let now = at(3_600 * hour);
        let tasks = (0..30).map(|number| {
            let scenario = scenario.clone();
            async move { send(&scenario, &code(100 + number, now)).await }
        });
        let answers = at_once(tasks).await;
        let sent = answers.iter().filter(|issued| **issued == IssueOutcome::Done).count();
        assert_eq!(sent, usize::try_from(most).unwrap(), "{quota:?}");
        let full = refused(quota, most, now.plus(WINDOW));
        assert_eq!(answers.iter().filter(|issued| **issued == full).count(), 30 - sent, "{quota:?}");
    }
}

/// An erasure leaves sent codes counted: a new user resets no quota.
pub async fn an_erasure_resets_no_code_quota(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    for number in 0..PER_NUMBER {
        let user = registered_user(&scenario).await;
        let sent = send_to(&scenario, &user, &code(200, 200, 0, at(i64::from(number)))).await;
        assert_eq!(sent, IssueOutcome::Done);
        assert_eq!(scenario.erase(user.id, 60).await, Erased::Done);
    }
    let full = refused(CodeQuota::Number, PER_NUMBER, at(0).plus(WINDOW));
    assert_eq!(send(&scenario, &code(200, 200, 0, at(120))).await, full);
}

/// Codes counted under another key count as well, and of several full quotas the one with the longest wait is
/// reported.
pub async fn codes_sent_before_a_key_rotation_count_and_the_longest_wait_is_reported(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    fill(&scenario, PER_NUMBER, |number, now| code(200, number_of(number), 0, now)).await;
    let rotated = CountedCode {
        number: Candidates { current: TokenHash([201; 32]), others: vec![TokenHash([200; 32])] },
        ..code(201, 100, 0, at(3_600))
    };
    assert_eq!(send(&scenario, &rotated).await, refused(CodeQuota::Number, PER_NUMBER, at(0).plus(WINDOW)));
    // The deployment's single code was sent last.
    assert_eq!(send(&scenario, &code(210, 210, 0, at(3_700))).await, IssueOutcome::Done);
    let both = code(200, 100, 1, at(3_800));
    assert_eq!(send(&scenario, &both).await, refused(CodeQuota::Deployment, 1, at(3_700).plus(WINDOW)));
    // The user's own hour has passed by then.
    let user = registered_user(&scenario).await;
    for network in 0..5 {
        let sent = send_to(&scenario, &user, &code(220 + network, 220, 0, at(4_000))).await;
        assert_eq!(sent, IssueOutcome::Done);
    }
    let hour = refused(CodeQuota::Hour, 5, at(4_000 + 3_600));
    assert_eq!(send_to(&scenario, &user, &code(230, 230, 0, at(4_001))).await, hour);
    let day = refused(CodeQuota::Number, PER_NUMBER, at(0).plus(WINDOW));
    assert_eq!(send_to(&scenario, &user, &code(200, 230, 0, at(4_001))).await, day);
}
