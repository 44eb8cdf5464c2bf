//! Turns of webhook endpoints: their leases, the endpoints with work, failed deliveries and attempts.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuepoint_domain::event::{EventType, Feed};
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::operation::plans;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::Store;
use cuepoint_domain::provider_message::Excerpt;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{Role, UserStatusChange};
use cuepoint_domain::webhook::{
    Attempt, AttemptError, AttemptOutcome, DisabledReason, EndpointChange, EndpointState, FailedDelivery,
    Lease, Replay, Turn, WebhookEndpoint,
};
use time::Duration;

use crate::harness::scenario::{Scenario, at, at_once};
use crate::subjects::webhook_endpoints::{add, change, lease_of, pause, position, stored, take_turn};

promises! { ($) webhook_turns as webhook_turns_promises {
    an_endpoint_is_leased_by_one_server_at_a_time,
    a_lease_taken_with_a_clock_far_ahead_does_not_block_an_endpoint,
    results_under_a_replaced_lease_are_discarded,
    endpoints_have_work_for_operations_in_their_feed,
    endpoints_have_work_only_while_their_owner_has_access,
    endpoints_have_work_for_event_replays_and_due_deliveries,
    failed_deliveries_due_for_a_retry_are_listed_longest_due_first,
    abandoned_deliveries_are_repeated_on_demand,
    only_the_newest_ten_thousand_abandoned_deliveries_are_kept,
    attempts_are_listed_newest_first,
    only_the_newest_thousand_attempts_of_an_endpoint_are_kept,
    only_active_endpoints_are_disabled_by_failures,
}}

/// The disabled state that a turn records.
const GONE: DisabledReason = DisabledReason::Gone;

async fn lease(scenario: &Scenario, id: WebhookEndpointId, now: i64, until: i64) -> Option<Lease> {
    scenario.store.lease_endpoint(id, at(now), at(until)).await.unwrap()
}

async fn working(scenario: &Scenario, seconds: i64, limit: u32) -> Vec<WebhookEndpointId> {
    scenario.store.endpoints_with_work(at(seconds), limit).await.unwrap()
}

fn failed(number: i64, next_at: Option<Timestamp>, failed_at: i64) -> FailedDelivery {
    FailedDelivery { position: position(number), attempts: 1, next_at, failed_at: at(failed_at) }
}

fn attempt(number: u32, outcome: AttemptOutcome) -> Attempt {
    Attempt {
        position: Some(position(4)),
        event_type: Some(EventType::TopupCreated),
        number,
        outcome,
        milliseconds: 17,
        answer: Some(Excerpt::of("no such thing")),
        at: at(3),
    }
}

const fn answered(status: u16, retry_after: Option<Duration>) -> AttemptOutcome {
    AttemptOutcome::Answered { status, retry_after }
}

/// One of several servers leases an endpoint; another one takes it over once the lease has expired or its turn
/// has ended.
pub async fn an_endpoint_is_leased_by_one_server_at_a_time(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let endpoint = add(&scenario, owner, Feed::Own).await;
    let id = endpoint.id;
    let tasks = (0..10).map(|_| {
        let scenario = scenario.clone();
        async move { lease(&scenario, id, 1, 61).await }
    });
    let leases: Vec<Lease> = at_once(tasks).await.into_iter().flatten().collect();
    let [first] = leases[..] else { panic!("{leases:?}") };
    let user = scenario.user(owner).await;
    assert_eq!(scenario.store.leased_endpoint(first).await.unwrap(), Some((endpoint, user)));
    assert_eq!(lease(&scenario, id, 60, 99).await, None);
    let second = lease(&scenario, id, 61, 99).await.unwrap();
    assert!(second.number > first.number);
    assert!(scenario.store.end_turn(second, at(62), &Turn::default()).await.unwrap());
    assert!(lease(&scenario, id, 62, 99).await.is_some());
    let unknown = WebhookEndpointId::new(i64::MAX).unwrap();
    assert_eq!(lease(&scenario, unknown, 62, 99).await, None);
}

/// A lease that a clock gave that was ahead does not keep an endpoint waiting once the clock is right again.
pub async fn a_lease_taken_with_a_clock_far_ahead_does_not_block_an_endpoint(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let id = add(&scenario, owner, Feed::Own).await.id;
    let turn = Turn { failed: vec![failed(1, Some(at(1)), 1)], ..Turn::default() };
    take_turn(&scenario, id, 300, &turn).await;
    assert_eq!((working(&scenario, 1, 9).await, lease(&scenario, id, 1, 61).await), (vec![], None));
    take_turn(&scenario, id, 604_800, &turn).await;
    assert_eq!(working(&scenario, 301, 9).await, [id]);
    assert!(lease(&scenario, id, 301, 361).await.is_some());
}

/// A turn whose lease was replaced, or whose endpoint was removed, changes nothing.
pub async fn results_under_a_replaced_lease_are_discarded(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let endpoint = add(&scenario, owner, Feed::Own).await;
    let old = lease(&scenario, endpoint.id, 1, 2).await.unwrap();
    let new = lease(&scenario, endpoint.id, 2, 62).await.unwrap();
    let turn = Turn {
        cursor: Some(position(7)),
        attempts: vec![attempt(1, answered(500, None))],
        failed: vec![failed(7, Some(at(0)), 0)],
        disabled: Some(EndpointState::Disabled { at: at(3), reason: GONE }),
        failing_since: Some(Some(at(3))),
        ..Turn::default()
    };
    let store = &scenario.store;
    assert!(!store.end_turn(old, at(3), &turn).await.unwrap());
    assert_eq!(store.leased_endpoint(old).await.unwrap(), None);
    assert_eq!(stored(&scenario, endpoint.id).await, endpoint);
    assert_eq!(store.due_deliveries(endpoint.id, at(9), 9).await.unwrap(), []);
    assert_eq!(store.attempts(endpoint.id, PageRequest::new(1, 15)).await.unwrap().total, 0);
    assert_eq!(lease(&scenario, endpoint.id, 3, 63).await, None, "the newer lease goes on");
    assert!(store.remove_endpoint(endpoint.id).await.unwrap());
    assert!(!store.end_turn(new, at(3), &turn).await.unwrap());
}

/// An endpoint has work exactly if an operation after its cursor concerns its owner, or is in the feed of all;
/// not while it is leased or paused.
pub async fn endpoints_have_work_for_operations_in_their_feed(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, stranger) = (scenario.guest(100).await, scenario.dj(10).await, scenario.guest(5).await);
    let operator = scenario.operator().await;
    let mut endpoints = Vec::new();
    for (owner, feed) in [(guest, Feed::Own), (dj, Feed::Own), (stranger, Feed::Own), (operator, Feed::All)] {
        endpoints.push(add(&scenario, owner, feed).await.id);
    }
    let [guests, djs, _, all] = endpoints[..] else { panic!("{endpoints:?}") };
    assert_eq!(working(&scenario, 2, 9).await, []);
    scenario.request(guest, dj, at(2)).await;
    assert_eq!(working(&scenario, 2, 9).await, [guests, djs, all]);
    assert_eq!(working(&scenario, 2, 2).await, [guests, djs]);
    pause(&scenario, djs, true).await;
    let leased = lease(&scenario, guests, 2, 62).await.unwrap();
    assert_eq!(working(&scenario, 2, 9).await, [all]);
    assert_eq!(working(&scenario, 62, 9).await, [all, guests], "the longest without a turn first");
    let newest = scenario.store.operations(None, position(0), 1).await.unwrap().newest;
    let done = Turn { cursor: Some(newest), ..Turn::default() };
    assert!(scenario.store.end_turn(leased, at(3), &done).await.unwrap());
    take_turn(&scenario, all, 4, &done).await;
    assert_eq!(working(&scenario, 62, 9).await, []);
    pause(&scenario, djs, false).await;
    assert_eq!(working(&scenario, 62, 9).await, [djs]);
    // The cursor never goes back.
    take_turn(&scenario, all, 63, &Turn { cursor: Some(position(1)), ..Turn::default() }).await;
    assert_eq!(stored(&scenario, all).await.cursor, newest);
    // A change of a profile is no event, but an operation of the feed of all.
    scenario.fresh(plans::change_profile(scenario.by(guest, at(5)), guest, Default::default())).await;
    assert_eq!(working(&scenario, 64, 9).await, [djs, all]);
}

/// Endpoints have work exactly while their owners may receive their feeds, as the domain decides.
pub async fn endpoints_have_work_only_while_their_owner_has_access(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (first, second) = (scenario.operator().await, scenario.operator().await);
    let mut owners = vec![(second, Vec::new())];
    for changes in [
        vec![],
        vec![UserStatusChange::Suspend],
        vec![UserStatusChange::Suspend, UserStatusChange::Restore],
        vec![UserStatusChange::Role(Role::Operator)],
        vec![UserStatusChange::Role(Role::Auditor)],
        vec![UserStatusChange::Role(Role::Operator), UserStatusChange::Suspend],
        vec![UserStatusChange::Role(Role::Operator), UserStatusChange::Role(Role::Member)],
    ] {
        owners.push((scenario.guest(0).await, changes));
    }
    let mut expected = BTreeSet::new();
    for (owner, changes) in owners {
        let both = [add(&scenario, owner, Feed::Own).await, add(&scenario, owner, Feed::All).await];
        scenario.fund(owner, 1).await;
        for change in changes {
            scenario.change_status(first, owner, change, at(1)).await;
        }
        let user = scenario.user(owner).await;
        expected
            .extend(both.iter().filter(|endpoint| endpoint.may_deliver(&user)).map(|endpoint| endpoint.id));
    }
    assert_eq!(
        expected.len(),
        8,
        "operators for both feeds, others for their own, unless they are suspended"
    );
    assert_eq!(working(&scenario, 2, 99).await.into_iter().collect::<BTreeSet<_>>(), expected);
}

/// A replay and a failed delivery that is due are work.
pub async fn endpoints_have_work_for_event_replays_and_due_deliveries(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let (replayed, repeated) =
        (add(&scenario, owner, Feed::Own).await.id, add(&scenario, owner, Feed::Own).await.id);
    change(&scenario, replayed, EndpointChange::Replay(Replay { after: position(0), until: position(5) }))
        .await;
    take_turn(&scenario, repeated, 1, &Turn { failed: vec![failed(3, Some(at(9)), 1)], ..Turn::default() })
        .await;
    assert_eq!(working(&scenario, 8, 9).await, [replayed]);
    assert_eq!(working(&scenario, 9, 9).await, [replayed, repeated]);
    take_turn(&scenario, replayed, 9, &Turn { replayed_to: Some(position(5)), ..Turn::default() }).await;
    take_turn(&scenario, repeated, 9, &Turn { settled: vec![position(3)], ..Turn::default() }).await;
    assert_eq!(working(&scenario, 99, 9).await, []);
}

/// Failed deliveries are due at their times, the longest due first; a later failure of the same position
/// replaces an earlier one, and a success removes it. The oldest of active endpoints is known.
pub async fn failed_deliveries_due_for_a_retry_are_listed_longest_due_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let (id, other) = (add(&scenario, owner, Feed::Own).await.id, add(&scenario, owner, Feed::Own).await.id);
    let due = async |seconds, limit| scenario.store.due_deliveries(id, at(seconds), limit).await.unwrap();
    let oldest = async || scenario.store.oldest_failed_delivery().await.unwrap();
    assert_eq!(oldest().await, None);
    let one = failed(1, Some(at(30)), 3);
    let two = failed(2, Some(at(20)), 4);
    let third = failed(3, Some(at(20)), 5);
    take_turn(&scenario, id, 5, &Turn { failed: vec![one, third, two], ..Turn::default() }).await;
    take_turn(&scenario, other, 5, &Turn { failed: vec![failed(1, Some(at(8)), 2)], ..Turn::default() })
        .await;
    assert_eq!(due(19, 9).await, []);
    assert_eq!(due(30, 9).await, [two, third, one]);
    assert_eq!(due(30, 2).await, [two, third]);
    assert_eq!(oldest().await, Some(at(2)));
    pause(&scenario, other, true).await;
    assert_eq!(oldest().await, Some(at(3)));
    let again = FailedDelivery { attempts: 2, next_at: Some(at(40)), ..one };
    let turn = Turn { failed: vec![again], settled: vec![position(2)], ..Turn::default() };
    take_turn(&scenario, id, 31, &turn).await;
    assert_eq!(due(40, 9).await, [third, again]);
}

/// A delivery that was given up is not due until its owner has it repeated, as if it had not been attempted.
pub async fn abandoned_deliveries_are_repeated_on_demand(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let id = add(&scenario, owner, Feed::Own).await.id;
    let (given_up, waiting) = (failed(1, None, 3), failed(2, Some(at(90)), 4));
    take_turn(&scenario, id, 5, &Turn { failed: vec![given_up, waiting], ..Turn::default() }).await;
    let due = async || scenario.store.due_deliveries(id, at(80), 9).await.unwrap();
    assert_eq!((due().await, working(&scenario, 80, 9).await), (vec![], vec![]));
    assert_eq!(scenario.store.oldest_failed_delivery().await.unwrap(), Some(at(4)));
    assert_eq!(scenario.store.repeat_given_up(id, at(70)).await.unwrap(), 1);
    let repeated = FailedDelivery { attempts: 0, next_at: Some(at(70)), ..given_up };
    assert_eq!((due().await, working(&scenario, 80, 9).await), (vec![repeated], vec![id]));
    assert_eq!(scenario.store.repeat_given_up(id, at(71)).await.unwrap(), 0);
    let unknown = WebhookEndpointId::new(i64::MAX).unwrap();
    assert_eq!(scenario.store.repeat_given_up(unknown, at(71)).await.unwrap(), 0);
}

/// Of the deliveries that were given up, the ten thousand with the greatest positions are kept; those that wait are
/// kept as well.
pub async fn only_the_newest_ten_thousand_abandoned_deliveries_are_kept(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let id = add(&scenario, owner, Feed::Own).await.id;
    let waiting = failed(1, Some(at(2)), 1);
    let given_up = (2..=10_003).map(|position| failed(position, None, 1));
    let turn = Turn { failed: [waiting].into_iter().chain(given_up).collect(), ..Turn::default() };
    take_turn(&scenario, id, 1, &turn).await;
    let due = async || {
        let due = scenario.store.due_deliveries(id, at(3), 2).await.unwrap();
        due.iter().map(|failed| failed.position.get()).collect::<Vec<_>>()
    };
    assert_eq!(due().await, [1]);
    assert_eq!(scenario.store.repeat_given_up(id, at(3)).await.unwrap(), 10_000);
    assert_eq!(due().await, [1, 4]);
}

/// Attempts read back newest first, without the time that an endpoint asked for.
pub async fn attempts_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let (id, other) = (add(&scenario, owner, Feed::Own).await.id, add(&scenario, owner, Feed::Own).await.id);
    let asks = attempt(1, answered(503, Some(Duration::seconds(5))));
    let unanswered = attempt(2, AttemptOutcome::Unanswered(AttemptError::TimedOut));
    let turn = Turn { attempts: vec![asks.clone(), unanswered.clone()], ..Turn::default() };
    take_turn(&scenario, id, 1, &turn).await;
    let test = Attempt { position: None, event_type: None, answer: None, ..attempt(1, answered(204, None)) };
    scenario.store.add_attempt(id, &test).await.unwrap();
    scenario.store.add_attempt(other, &test).await.unwrap();
    let expected = [test.clone(), unanswered, Attempt { outcome: answered(503, None), ..asks }];
    let page =
        async |number, size| scenario.store.attempts(id, PageRequest::new(number, size)).await.unwrap();
    assert_eq!((page(1, 15).await.rows, page(1, 15).await.total), (expected.to_vec(), 3));
    assert_eq!(page(2, 2).await.rows, expected[2..]);
    assert_eq!(page(9, 2).await.total, 3);
    assert!(scenario.store.remove_endpoint(id).await.unwrap());
    scenario.store.add_attempt(id, &test).await.unwrap();
    assert_eq!(page(1, 15).await.total, 0);
}

/// The newest thousand attempts of an endpoint are kept.
pub async fn only_the_newest_thousand_attempts_of_an_endpoint_are_kept(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let id = add(&scenario, owner, Feed::Own).await.id;
    let attempts = |numbers: std::ops::Range<u32>| numbers.map(|number| attempt(number, answered(500, None)));
    take_turn(&scenario, id, 1, &Turn { attempts: attempts(1..991).collect(), ..Turn::default() }).await;
    take_turn(&scenario, id, 2, &Turn { attempts: attempts(991..1_005).collect(), ..Turn::default() }).await;
    scenario.store.add_attempt(id, &attempt(1_005, answered(200, None))).await.unwrap();
    let last = scenario.store.attempts(id, PageRequest::new(10, 100)).await.unwrap();
    assert_eq!((last.total, last.rows.len()), (1_000, 100));
    assert_eq!(last.rows.last().map(|attempt| attempt.number), Some(6));
}

/// A turn disables an active endpoint, and leaves a paused one paused; its owner enables it again.
pub async fn only_active_endpoints_are_disabled_by_failures(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let endpoint = add(&scenario, owner, Feed::Own).await;
    let disabled = EndpointState::Disabled { at: at(3), reason: GONE };
    let turn = Turn { disabled: Some(disabled), failing_since: Some(Some(at(2))), ..Turn::default() };
    let leased = lease(&scenario, endpoint.id, 1, 61).await.unwrap();
    pause(&scenario, endpoint.id, true).await;
    assert!(scenario.store.end_turn(leased, at(3), &turn).await.unwrap());
    let failing = WebhookEndpoint { failing_since: Some(at(2)), ..endpoint.clone() };
    let paused = WebhookEndpoint { state: EndpointState::Paused, ..failing.clone() };
    assert_eq!(stored(&scenario, endpoint.id).await, paused);
    assert_eq!(pause(&scenario, endpoint.id, false).await, endpoint);
    take_turn(&scenario, endpoint.id, 4, &turn).await;
    assert_eq!(stored(&scenario, endpoint.id).await, WebhookEndpoint { state: disabled, ..failing });
    assert_eq!(pause(&scenario, endpoint.id, false).await, endpoint);
    assert_eq!(scenario.store.leased_endpoint(lease_of(endpoint.id, 1)).await.unwrap(), None);
}
