//! Known networks of users: retained for a while, for their user alone.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::network::{ClientNetwork, KnownNetwork};
use cuepoint_domain::ports::{Erased, PasswordHash, Registered, Store};
use cuepoint_domain::privacy::personal_data::{ExportList, ExportRecord};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::{ClientInfo, Session};
use time::Duration;

use crate::harness::confirmed_erasure::erase_at;
use crate::harness::scenario::{Scenario, at, at_once};
use crate::subjects::sessions::{end, hash, log_in, refresh, successor, valid_for};

promises! { ($) networks as networks_promises {
    a_network_is_recognised_after_a_login_or_a_refresh,
    a_network_is_recognised_for_one_user_only,
    a_refused_refresh_adds_no_recognised_network,
    a_purge_deletes_expired_networks,
    recognised_networks_do_not_outlive_an_erasure,
}}

fn network(address: &str) -> ClientNetwork {
    ClientNetwork::of(address.parse().unwrap())
}

async fn is_known(scenario: &Scenario, user: UserId, address: &str, since: Timestamp) -> bool {
    let email = scenario.user(user).await.email.folded();
    scenario.store.is_known_network(&email, network(address), since).await.unwrap()
}

/// The known networks of a user, the last added first.
async fn known(scenario: &Scenario, user: UserId) -> Vec<KnownNetwork> {
    let records = scenario.store.records(user, ExportList::Networks, None, 100).await.unwrap();
    let known = |record| match record {
        ExportRecord::Network(_, known) => known,
        other => panic!("no network: {other:?}"),
    };
    records.into_iter().map(known).collect()
}

/// A network becomes known when a session begins there, at a registration too, or is refreshed, with its time
/// to the microsecond.
pub async fn a_network_is_recognised_after_a_login_or_a_refresh(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let user = scenario.stranger(false, at(1)).await;
    let client = ClientInfo { address: Some("2001:db8:1::1".parse().unwrap()), agent: None };
    let first = Session::begin(store.next_session().await.unwrap(), user.id, client, at(1), valid_for());
    let registered =
        store.register(&user, &PasswordHash("hash".to_owned()), Some((&first, refresh(1)))).await;
    assert_eq!(registered.unwrap(), Registered::Done);
    // From 192.0.2.7.
    log_in(&store, user.id, 2, at(2)).await;
    let refreshed = Some(network("198.51.100.9"));
    store.exchange(&hash(2), &successor(20), refreshed, end(), at(3)).await.unwrap();
    store.exchange(&hash(20), &successor(21), None, end(), at(4)).await.unwrap();
    let seen = |address, seconds| KnownNetwork { network: network(address), seen_at: at(seconds) };
    let all = [seen("198.51.100.9", 3), seen("192.0.2.7", 2), seen("2001:db8:1::", 1)];
    assert_eq!(known(&scenario, user.id).await, all);
    for (address, since, expected) in [
        ("198.51.100.9", at(3).minus(Duration::MICROSECOND), true),
        ("198.51.100.9", at(3), false),
        ("2001:db8:1:0:ffff::1", at(0), true),
        ("2001:db8:1:1::1", at(0), false),
        ("192.0.2.7", at(0), true),
        ("192.0.2.8", at(0), false),
    ] {
        assert_eq!(is_known(&scenario, user.id, address, since).await, expected, "{address}");
    }
    // Seen again, it keeps its place and is known for longer; an earlier time changes nothing.
    log_in(&store, user.id, 4, at(9)).await;
    log_in(&store, user.id, 6, at(5)).await;
    assert_eq!(known(&scenario, user.id).await, [seen("198.51.100.9", 3), seen("192.0.2.7", 9), all[2]]);
}

/// A network known for one user is not known for another, nor for an unknown address.
pub async fn a_network_is_recognised_for_one_user_only(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let (user, other) = (scenario.guest(0).await, scenario.guest(0).await);
    log_in(&store, user, 2, at(1)).await;
    assert!(is_known(&scenario, user, "192.0.2.7", at(0)).await);
    assert!(!is_known(&scenario, other, "192.0.2.7", at(0)).await);
    assert!(!store.is_known_network("nobody@example.com", network("192.0.2.7"), at(0)).await.unwrap());
    assert_eq!(known(&scenario, other).await, []);
}

/// A refused exchange makes no network known.
pub async fn a_refused_refresh_adds_no_recognised_network(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let user = scenario.guest(0).await;
    log_in(&store, user, 2, at(1)).await;
    let thief = Some(network("203.0.113.5"));
    store.exchange(&hash(2), &successor(20), None, end(), at(2)).await.unwrap();
    store.exchange(&hash(2), &successor(21), thief, end(), at(900)).await.unwrap();
    store.exchange(&hash(20), &successor(22), thief, end(), at(901)).await.unwrap();
    assert!(!is_known(&scenario, user, "203.0.113.5", at(0)).await);
}

/// A purge deletes the networks past their retention, and no others, with or without remaining sessions.
pub async fn a_purge_deletes_expired_networks(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let user = scenario.guest(0).await;
    log_in(&store, user, 2, at(0)).await;
    log_in(&store, user, 3, at(1)).await;
    assert_eq!(store.end_sessions(user, None, at(2)).await.unwrap(), 2);
    let over = at(0).plus(KnownNetwork::RETENTION);
    store.purge_expired(over.minus(Duration::MICROSECOND)).await.unwrap();
    assert_eq!(known(&scenario, user).await.len(), 2, "the sessions are gone, and their networks known");
    store.purge_expired(over).await.unwrap();
    assert_eq!(
        known(&scenario, user).await,
        [KnownNetwork { network: network("2001:db8::7"), seen_at: at(1) }]
    );
}

/// No network is known for an erased user, whatever ran concurrently with the erasure.
pub async fn recognised_networks_do_not_outlive_an_erasure(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    for round in 0..10_u8 {
        let user = scenario.guest(0).await;
        log_in(&store, user, round, at(0)).await;
        let tasks = (0..2).map(|what| {
            let store = Arc::clone(&store);
            async move {
                if what == 0 {
                    assert_eq!(erase_at(&*store, user, at(2), at(2)).await, Erased::Done);
                } else {
                    let from = Some(network("198.51.100.9"));
                    store.exchange(&hash(round), &successor(100 + round), from, end(), at(1)).await.unwrap();
                }
            }
        });
        at_once(tasks).await;
        assert_eq!(known(&scenario, user).await, []);
    }
}
