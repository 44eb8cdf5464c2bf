//! Webhook endpoints and the sessions of their owners, and the idempotency keys of their creations.

use std::sync::Arc;

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::operation::{KeyRecord, KeyScope};
use cuepoint_domain::ports::{EndpointAddition, EndpointUpdate, ExchangeOutcome, Store};
use cuepoint_domain::user::session::{Candidates, TokenHash};
use cuepoint_domain::webhook::{
    DisabledReason, EndpointChange, EndpointSettings, EndpointState, EndpointUrl, NewEndpoint,
    PresentedCreation, SealedSecret, SettingsAuthor, WebhookEndpoint,
};

use crate::harness::scenario::{Scenario, at, at_once};
use crate::subjects::sessions::{end, hash, log_in, successor};
use crate::subjects::webhook_endpoints::{add, added, new_endpoint, pause, stored, try_to_add};

promises! { ($) endpoint_security as endpoint_security_promises {
    ending_all_sessions_disables_only_active_endpoints_of_the_users_own_feed,
    a_reused_refresh_token_disables_own_feed_endpoints_with_urls_from_its_session,
    an_ended_session_cannot_add_or_change_an_endpoint,
    an_idempotency_key_creates_only_one_endpoint,
}}

const DISABLED: fn(i64) -> EndpointState =
    |seconds| EndpointState::Disabled { at: at(seconds), reason: DisabledReason::Security };

async fn set_in(scenario: &Scenario, owner: UserId, feed: Feed, session: SessionId) -> WebhookEndpoint {
    let new = NewEndpoint { session: Some(session), ..new_endpoint(owner, feed) };
    added(scenario, &new).await.unwrap()
}

async fn states<const N: usize>(scenario: &Scenario, endpoints: [&WebhookEndpoint; N]) -> [EndpointState; N] {
    let mut states = [EndpointState::Paused; N];
    for (state, endpoint) in states.iter_mut().zip(endpoints) {
        *state = stored(scenario, endpoint.id).await.state;
    }
    states
}

/// The end of all sessions disables the active endpoints of the user for the user's own events, and no others.
pub async fn ending_all_sessions_disables_only_active_endpoints_of_the_users_own_feed(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (owner, other) = (scenario.guest(0).await, scenario.guest(0).await);
    let own = add(&scenario, owner, Feed::Own).await;
    let paused = add(&scenario, owner, Feed::Own).await;
    pause(&scenario, paused.id, true).await;
    let (all, stranger) = (add(&scenario, owner, Feed::All).await, add(&scenario, other, Feed::Own).await);
    scenario.store.end_sessions(owner, None, at(5)).await.unwrap();
    assert_eq!(
        states(&scenario, [&own, &paused, &all, &stranger]).await,
        [DISABLED(5), EndpointState::Paused, EndpointState::Active, EndpointState::Active]
    );
}

/// A reused refresh token disables the endpoints with a URL that its session set, at their creation or later.
///
/// Attack API2: a webhook endpoint of a session with a stolen refresh token.
pub async fn a_reused_refresh_token_disables_own_feed_endpoints_with_urls_from_its_session(
    store: Arc<dyn Store>,
) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let mine = log_in(&scenario.store, owner, 1, at(0)).await.id;
    let stolen = log_in(&scenario.store, owner, 2, at(0)).await.id;
    let kept = set_in(&scenario, owner, Feed::Own, mine).await;
    let moved = set_in(&scenario, owner, Feed::Own, mine).await;
    let (created, all) = (
        set_in(&scenario, owner, Feed::Own, stolen).await,
        set_in(&scenario, owner, Feed::All, stolen).await,
    );
    let url = EndpointUrl::new("https://thief.example/").unwrap();
    let settings = EndpointSettings { url: Some(url), ..EndpointSettings::default() };
    let by = SettingsAuthor { user: owner, session: Some(stolen), has_password: true };
    let change = EndpointChange::Settings { settings, by };
    scenario.store.change_endpoint(moved.id, &change).await.unwrap();
    assert_eq!(stored(&scenario, moved.id).await.set_in, Some(stolen));
    scenario.store.exchange(&hash(2), &successor(20), None, end(), at(1)).await.unwrap();
    let reused = scenario.store.exchange(&hash(2), &successor(21), None, end(), at(900)).await.unwrap();
    assert_eq!(reused, ExchangeOutcome::SessionEnded(owner, stolen));
    assert_eq!(
        states(&scenario, [&kept, &moved, &created, &all]).await,
        [EndpointState::Active, DISABLED(900), DISABLED(900), EndpointState::Active]
    );
}

/// An ended session neither adds nor changes an endpoint. An endpoint that it adds concurrently does not outlive its
/// end.
pub async fn an_ended_session_cannot_add_or_change_an_endpoint(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let mut sessions = Vec::new();
    for number in 1..=4 {
        sessions.push(log_in(&scenario.store, owner, number, at(0)).await.id);
    }
    let tasks = sessions.iter().map(|session| {
        let (scenario, session) = (scenario.clone(), *session);
        async move {
            let new = NewEndpoint { session: Some(session), ..new_endpoint(owner, Feed::Own) };
            drop(try_to_add(&scenario, &new).await);
        }
    });
    let ending = async {
        scenario.store.end_sessions(owner, None, at(5)).await.unwrap();
    };
    futures_util::future::join(at_once(tasks), ending).await;
    for endpoint in scenario.store.endpoints_after(None, 100).await.unwrap() {
        assert_eq!(endpoint.state, DISABLED(5));
    }
    let (user, session) = (owner, Some(sessions[0]));
    let new = NewEndpoint { session, ..new_endpoint(owner, Feed::All) };
    assert_eq!(try_to_add(&scenario, &new).await, EndpointAddition::SessionEnded);
    let endpoint = add(&scenario, owner, Feed::All).await;
    let settings = EndpointSettings { is_paused: Some(true), ..EndpointSettings::default() };
    let by = SettingsAuthor { user, session, has_password: true };
    let change = EndpointChange::Settings { settings, by };
    let refused = scenario.store.change_endpoint(endpoint.id, &change).await.unwrap();
    assert_eq!((refused, stored(&scenario, endpoint.id).await), (EndpointUpdate::SessionEnded, endpoint));
}

/// Repeated creations with the same key add one endpoint, even concurrently. The key is free after seven days, and
/// after the removal of its endpoint.
pub async fn an_idempotency_key_creates_only_one_endpoint(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let key = |scope: u8, body: u8| {
        let bodies = Candidates { current: TokenHash([body; 32]), others: vec![TokenHash([99; 32])] };
        PresentedCreation { scope: KeyScope([scope; 32]), bodies }
    };
    let keyed = |scope, body, seconds| NewEndpoint {
        key: Some(key(scope, body)),
        secret: SealedSecret(format!("sealed-{seconds}")),
        at: at(seconds),
        ..new_endpoint(owner, Feed::Own)
    };
    let tasks = (0..6).map(|_| {
        let (scenario, new) = (scenario.clone(), keyed(1, 7, 1));
        async move { try_to_add(&scenario, &new).await }
    });
    let mut first = None;
    for answer in at_once(tasks).await {
        match answer {
            EndpointAddition::Added(endpoint) => assert_eq!(first.replace(*endpoint), None),
            EndpointAddition::Known(_) => {}
            other => panic!("{other:?}"),
        }
    }
    let first = first.unwrap();
    assert_eq!(stored(&scenario, first.id).await, first);
    let add = async |new: &NewEndpoint| try_to_add(&scenario, new).await;
    let last = 1 + KeyRecord::RETENTION.whole_seconds();
    assert_eq!(add(&keyed(1, 7, last - 1)).await, EndpointAddition::Known(Box::new(first.clone())));
    assert_eq!(add(&keyed(1, 8, 2)).await, EndpointAddition::KeyReused);
    let EndpointAddition::Added(other) = add(&keyed(2, 8, 3)).await else { panic!("another key") };
    let EndpointAddition::Added(later) = add(&keyed(1, 8, last)).await else {
        panic!("the key is free again")
    };
    assert!(later.id > other.id && stored(&scenario, first.id).await.creation.is_none());
    assert!(scenario.store.remove_endpoint(other.id).await.unwrap());
    assert!(matches!(add(&keyed(2, 8, 4)).await, EndpointAddition::Added(_)), "removed with its endpoint");
}
