//! Webhook endpoints: their owners, settings, secrets and replays.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuepoint_domain::event::{EventType, Feed};
use cuepoint_domain::ids::{UserId, WebhookEndpointId};
use cuepoint_domain::operation::Position;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{EndpointAddition, EndpointUpdate, Erased, Store};
use cuepoint_domain::webhook::{
    EndpointChange, EndpointSecrets, EndpointSettings, EndpointState, EndpointUrl, NewEndpoint, Replay,
    SealedSecret, SettingsAuthor, Turn, WebhookEndpoint,
};

use crate::harness::scenario::{Scenario, at, at_once, line};

promises! { ($) webhook_endpoints as webhook_endpoints_promises {
    endpoints_round_trip,
    endpoints_are_limited_per_owner_and_feed,
    endpoints_are_listed_newest_first,
    only_the_given_endpoint_settings_are_changed,
    previous_secrets_still_sign_and_only_unchanged_secrets_are_reencrypted,
    an_endpoint_replays_events_of_only_one_range_at_a_time,
    endpoints_do_not_outlive_the_erasure_of_their_owner,
}}

pub(crate) fn position(number: i64) -> Position {
    Position::new(number).unwrap()
}

fn secret(text: &str) -> SealedSecret {
    SealedSecret(text.to_owned())
}

pub(crate) fn new_endpoint(owner: UserId, feed: Feed) -> NewEndpoint {
    NewEndpoint {
        owner,
        session: None,
        key: None,
        feed,
        url: EndpointUrl::new("https://example.com/hook?a=1,2").unwrap(),
        types: None,
        description: None,
        secret: secret("sealed-1"),
        at: at(1),
    }
}

/// Adds an endpoint; its owner is expected to have fewer than the maximum.
pub(crate) async fn add(scenario: &Scenario, owner: UserId, feed: Feed) -> WebhookEndpoint {
    added(scenario, &new_endpoint(owner, feed)).await.unwrap()
}

/// Adds an endpoint; `None` if there is no room for it.
pub(crate) async fn added(scenario: &Scenario, new: &NewEndpoint) -> Option<WebhookEndpoint> {
    match try_to_add(scenario, new).await {
        EndpointAddition::Added(endpoint) => Some(*endpoint),
        EndpointAddition::NoRoom => None,
        other => panic!("{other:?}"),
    }
}

/// Adds an endpoint under a new id.
pub(crate) async fn try_to_add(scenario: &Scenario, new: &NewEndpoint) -> EndpointAddition {
    let id = scenario.store.next_webhook_endpoint().await.unwrap();
    let addition = scenario.store.add_endpoint(id, new).await.unwrap();
    if let EndpointAddition::Added(added) = &addition {
        assert_eq!(added.id, id);
    }
    addition
}

pub(crate) async fn stored(scenario: &Scenario, id: WebhookEndpointId) -> WebhookEndpoint {
    scenario.store.endpoint(id).await.unwrap().unwrap()
}

/// Changes an endpoint; what is returned is what is stored.
pub(crate) async fn change(
    scenario: &Scenario,
    id: WebhookEndpointId,
    change: EndpointChange,
) -> WebhookEndpoint {
    let before = stored(scenario, id).await;
    let changed = stored_after(scenario, id, &change).await;
    let EndpointUpdate::Done { before: reported, after } = changed else { panic!("{changed:?}") };
    assert_eq!((*reported, stored(scenario, id).await), (before, *after.clone()));
    *after
}

async fn stored_after(scenario: &Scenario, id: WebhookEndpointId, change: &EndpointChange) -> EndpointUpdate {
    scenario.store.change_endpoint(id, change).await.unwrap()
}

/// A user who has presented their password, without a session.
pub(crate) const fn author(user: UserId) -> SettingsAuthor {
    SettingsAuthor { user, session: None, has_password: true }
}

/// Pauses an endpoint, or enables it.
pub(crate) async fn pause(scenario: &Scenario, id: WebhookEndpointId, is_paused: bool) -> WebhookEndpoint {
    let settings = EndpointSettings { is_paused: Some(is_paused), ..EndpointSettings::default() };
    let by = author(stored(scenario, id).await.owner);
    change(scenario, id, EndpointChange::Settings { settings, by }).await
}

/// Leases a free endpoint and ends the turn at once with these results.
pub(crate) async fn take_turn(scenario: &Scenario, id: WebhookEndpointId, seconds: i64, turn: &Turn) {
    let store = &scenario.store;
    let lease = store.lease_endpoint(id, at(seconds), at(seconds + 60)).await.unwrap().unwrap();
    assert!(store.end_turn(lease, at(seconds), turn).await.unwrap());
}

fn ids(endpoints: &[WebhookEndpoint]) -> Vec<WebhookEndpointId> {
    endpoints.iter().map(|endpoint| endpoint.id).collect()
}

/// An endpoint reads back as it was added, and its cursor begins at the newest position.
pub async fn endpoints_round_trip(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(5).await;
    scenario.fund(owner, 7).await;
    let new = NewEndpoint {
        types: Some([EventType::TopupCreated, EventType::MusicRequestPlayed].into()),
        description: Some(line("Überweisungen")),
        ..new_endpoint(owner, Feed::Own)
    };
    let added = added(&scenario, &new).await.unwrap();
    assert_eq!(added, WebhookEndpoint::new(added.id, position(2), new));
    assert_eq!(stored(&scenario, added.id).await, added);
    let all = add(&scenario, owner, Feed::All).await;
    assert_eq!(all, WebhookEndpoint::new(all.id, position(2), new_endpoint(owner, Feed::All)));
    let unknown = WebhookEndpointId::new(i64::MAX).unwrap();
    assert_eq!(scenario.store.endpoint(unknown).await.unwrap(), None);
    assert_eq!(scenario.store.leased_endpoint(lease_of(unknown, 0)).await.unwrap(), None);
}

pub(crate) const fn lease_of(endpoint: WebhookEndpointId, number: i64) -> cuepoint_domain::webhook::Lease {
    cuepoint_domain::webhook::Lease { endpoint, number }
}

/// An owner has five endpoints for each feed at most, also when they are added at once; a removed one makes
/// room, and its id is not used again.
pub async fn endpoints_are_limited_per_owner_and_feed(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (owner, other) = (scenario.guest(0).await, scenario.guest(0).await);
    let tasks = (0..8).map(|_| {
        let scenario = scenario.clone();
        async move { added(&scenario, &new_endpoint(owner, Feed::Own)).await }
    });
    let five: Vec<WebhookEndpoint> = at_once(tasks).await.into_iter().flatten().collect();
    assert_eq!(five.len(), 5);
    assert_eq!(ids(&five).into_iter().collect::<BTreeSet<_>>().len(), 5);
    add(&scenario, owner, Feed::All).await;
    let last = add(&scenario, other, Feed::Own).await;
    assert!(scenario.store.remove_endpoint(last.id).await.unwrap());
    assert!(!scenario.store.remove_endpoint(last.id).await.unwrap());
    assert!(scenario.store.remove_endpoint(five[0].id).await.unwrap());
    let next = add(&scenario, owner, Feed::Own).await;
    assert!(next.id > last.id, "{next:?}");
    assert_eq!(added(&scenario, &new_endpoint(owner, Feed::Own)).await, None);
}

/// Endpoints of one owner or of all are listed last added first, in pages, without those for the other feed;
/// all endpoints are read in the order of their ids.
pub async fn endpoints_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (one, other) = (scenario.guest(0).await, scenario.guest(0).await);
    let mut own = Vec::new();
    for owner in [one, other, one, one] {
        own.push(add(&scenario, owner, Feed::Own).await);
        add(&scenario, owner, Feed::All).await;
    }
    own.reverse();
    let list = async |owner, number, size| {
        scenario.store.endpoints(Feed::Own, owner, PageRequest::new(number, size)).await.unwrap()
    };
    assert_eq!(list(None, 1, 15).await, Rows { rows: own.clone(), total: 4 });
    assert_eq!(list(None, 2, 3).await, Rows { rows: own[3..].to_vec(), total: 4 });
    let ones: Vec<_> = own.iter().filter(|endpoint| endpoint.owner == one).cloned().collect();
    assert_eq!(list(Some(one), 1, 15).await, Rows { rows: ones.clone(), total: 3 });
    assert_eq!(list(Some(one), 2, 2).await, Rows { rows: ones[2..].to_vec(), total: 3 });
    assert_eq!(list(Some(one), u64::MAX, 2).await, Rows::none(3));
    let first = scenario.store.endpoints_after(None, 3).await.unwrap();
    let rest = scenario.store.endpoints_after(Some(first[2].id), 100).await.unwrap();
    let both: Vec<_> = ids(&first).into_iter().chain(ids(&rest)).collect();
    assert_eq!((first.len(), both.len()), (3, 8));
    assert!(both.is_sorted());
}

/// Each setting is changed or kept; who sets the URL becomes the owner; an endpoint is paused and enabled; an
/// unknown one is not changed.
pub async fn only_the_given_endpoint_settings_are_changed(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let endpoint = add(&scenario, owner, Feed::Own).await;
    let by = author(scenario.guest(1).await);
    let set =
        async |settings| change(&scenario, endpoint.id, EndpointChange::Settings { settings, by }).await;
    let url = EndpointUrl::new("https://example.org/").unwrap();
    let types = Some([EventType::AdjustmentCreated].into());
    let changed = set(EndpointSettings {
        url: Some(url.clone()),
        types: Some(types.clone()),
        description: Some(Some(line("a note"))),
        is_paused: Some(true),
    })
    .await;
    let paused = EndpointState::Paused;
    let expected = WebhookEndpoint {
        owner: by.user,
        url,
        types,
        description: Some(line("a note")),
        state: paused,
        ..endpoint.clone()
    };
    assert_eq!(changed, expected);
    assert_eq!(set(EndpointSettings::default()).await, expected);
    let removed =
        EndpointSettings { types: Some(None), description: Some(None), ..EndpointSettings::default() };
    assert_eq!(set(removed).await, WebhookEndpoint { types: None, description: None, ..expected });
    assert_eq!(pause(&scenario, endpoint.id, false).await.state, EndpointState::Active);
    let unknown = WebhookEndpointId::new(i64::MAX).unwrap();
    let nothing = EndpointChange::Settings { settings: EndpointSettings::default(), by };
    assert_eq!(stored_after(&scenario, unknown, &nothing).await, EndpointUpdate::Missing);
}

/// A new secret signs beside the previous ones; secrets are sealed anew only if they are still those that were
/// read.
pub async fn previous_secrets_still_sign_and_only_unchanged_secrets_are_reencrypted(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let endpoint = add(&scenario, owner, Feed::Own).await;
    let first = endpoint.secrets;
    let rotate = |text: &str, seconds| EndpointChange::Rotate { secret: secret(text), at: at(seconds) };
    let second = change(&scenario, endpoint.id, rotate("sealed-2", 5)).await.secrets;
    assert_eq!(second, first.rotated(secret("sealed-2"), at(5)));
    let third = change(&scenario, endpoint.id, rotate("sealed-3", 6)).await.secrets;
    assert_eq!(third.signing(at(7)).count(), 3);
    let resealed = EndpointSecrets { current: secret("again-3"), previous: third.previous.clone() };
    let reseal = |expected| EndpointChange::Reseal { expected, resealed: resealed.clone() };
    assert_eq!(change(&scenario, endpoint.id, reseal(second)).await.secrets, third);
    assert_eq!(change(&scenario, endpoint.id, reseal(third)).await.secrets, resealed);
}

/// A replay goes on until its last position, and another one cannot begin before that.
pub async fn an_endpoint_replays_events_of_only_one_range_at_a_time(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let owner = scenario.guest(0).await;
    let endpoint = add(&scenario, owner, Feed::Own).await;
    let replay = |after, until| Replay { after: position(after), until: position(until) };
    let begin = async |range| change(&scenario, endpoint.id, EndpointChange::Replay(range)).await.replay;
    assert_eq!(begin(replay(0, 9)).await, Some(replay(0, 9)));
    assert_eq!(begin(replay(3, 4)).await, Some(replay(0, 9)), "another one is going on");
    for (seconds, to, left) in
        [(1, Some(4), Some(replay(4, 9))), (2, None, Some(replay(4, 9))), (3, Some(9), None)]
    {
        let turn = Turn { replayed_to: to.map(position), ..Turn::default() };
        take_turn(&scenario, endpoint.id, seconds, &turn).await;
        assert_eq!(
            stored(&scenario, endpoint.id).await,
            WebhookEndpoint { replay: left, ..endpoint.clone() }
        );
    }
    assert_eq!(begin(replay(3, 4)).await, Some(replay(3, 4)));
}

/// An erasure removes the endpoints of the user, also those that are added at the same time; nobody adds one
/// afterwards, and an unknown user has none.
pub async fn endpoints_do_not_outlive_the_erasure_of_their_owner(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let other = scenario.guest(0).await;
    let kept = add(&scenario, other, Feed::Own).await;
    let mut owners = Vec::new();
    for _ in 0..6 {
        let owner = scenario.guest(0).await;
        add(&scenario, owner, Feed::All).await;
        owners.push(owner);
    }
    let tasks = owners.iter().flat_map(|owner| [(*owner, true), (*owner, false)]).map(|(owner, erases)| {
        let scenario = scenario.clone();
        async move {
            if erases {
                assert_eq!(scenario.erase(owner, 2).await, Erased::Done);
            } else {
                drop(added(&scenario, &new_endpoint(owner, Feed::Own)).await);
            }
        }
    });
    at_once(tasks).await;
    assert_eq!(scenario.store.endpoints_after(None, 100).await.unwrap(), [kept]);
    let unknown = scenario.ids.next_user().await.unwrap();
    for owner in [owners[0], unknown] {
        assert_eq!(added(&scenario, &new_endpoint(owner, Feed::Own)).await, None);
    }
}
