//! Wallet links: each one moves a guest account to one browser, once.

use std::sync::Arc;

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::operation::plans;
use cuepoint_domain::ports::{Erased, ExchangeOutcome, IssueOutcome, Store};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::guest_account::Claimed;
use cuepoint_domain::user::session::{ClientInfo, Session, SessionSecret, TokenHash};
use cuepoint_domain::user::wallet_link::LinkEnd;
use cuepoint_domain::user::{User, UserStatusChange};
use time::Duration;

use crate::harness::confirmed_erasure::erase_at;
use crate::harness::scenario::{Scenario, at, at_once};
use crate::subjects::guest_accounts::{claim, guest};
use crate::subjects::sessions::{alive, exchange, hash};

promises! { ($) wallet_links as wallet_links_promises {
    the_use_of_a_link_moves_the_guest_account_to_one_session,
    a_link_is_used_once_and_a_newer_one_replaces_it,
    one_of_many_concurrent_uses_of_a_link_succeeds,
    a_link_ends_with_the_guest_account,
    only_sessions_that_a_link_ended_are_reported,
}}

/// Issues the link with the secret of this number.
async fn issue(scenario: &Scenario, user: UserId, number: u8, now: Timestamp) {
    let user = scenario.user(user).await;
    let link = Challenge::issue(&user, Purpose::WalletLink, secret(number), now).unwrap();
    assert_eq!(scenario.store.issue(&link, None).await.unwrap(), IssueOutcome::Done);
}

fn secret(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

/// A session of a browser that begins now.
async fn browser(store: &Arc<dyn Store>, user: UserId, now: Timestamp) -> Session {
    let id = store.next_session().await.unwrap();
    Session::begin(id, user, ClientInfo::default(), now, Duration::days(400))
}

/// Uses the link of this number for a new session with the cookie `hash(cookie)`.
async fn open(
    scenario: &Scenario,
    user: UserId,
    (number, cookie): (u8, u8),
    now: Timestamp,
) -> Result<(User, SessionId), LinkEnd> {
    let session = browser(&scenario.store, user, now).await;
    let used = scenario.store.use_wallet_link(&secret(number), &session, hash(cookie)).await.unwrap();
    used.map(|user| (user, session.id))
}

/// The link ends, all sessions of the guest account end, and the new one begins with its cookie; refresh tokens of the
/// sessions before are refused.
pub async fn the_use_of_a_link_moves_the_guest_account_to_one_session(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, lost) = guest(&scenario, 1, at(0)).await;
    let (other, _) = guest(&scenario, 2, at(0)).await;
    issue(&scenario, user.id, 9, at(10)).await;
    let link = scenario.store.challenge(Purpose::WalletLink, &secret(9)).await.unwrap().unwrap();
    assert_eq!((link.user, link.ended_at), (user.id, None));
    assert_eq!(alive(&scenario.store, user.id, at(10)).await, [lost.id]);

    let (moved, session) = open(&scenario, user.id, (9, 5), at(20)).await.unwrap();
    assert_eq!(moved, user);
    assert_eq!(alive(&scenario.store, user.id, at(20)).await, [session]);
    assert_eq!(scenario.store.owner(SessionSecret::Cookie(hash(5))).await.unwrap(), Some((user.id, session)));
    assert_eq!(exchange(&scenario.store, 1, 8).await, ExchangeOutcome::Refused);
    assert_eq!(alive(&scenario.store, other.id, at(20)).await.len(), 1);
    let link = scenario.store.challenge(Purpose::WalletLink, &secret(9)).await.unwrap().unwrap();
    assert_eq!(link.ended_at, Some(at(20)));
}

/// Neither a used, a replaced, an expired nor an unknown link changes a session.
pub async fn a_link_is_used_once_and_a_newer_one_replaces_it(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, _) = guest(&scenario, 1, at(0)).await;
    let (other, _) = guest(&scenario, 2, at(0)).await;
    issue(&scenario, user.id, 8, at(0)).await;
    issue(&scenario, user.id, 9, at(1)).await;
    assert_eq!(open(&scenario, user.id, (8, 5), at(2)).await.err(), Some(LinkEnd::Used));
    assert_eq!(open(&scenario, user.id, (7, 5), at(2)).await.err(), Some(LinkEnd::Unknown));
    // A session of another user.
    assert_eq!(open(&scenario, other.id, (9, 5), at(2)).await.err(), Some(LinkEnd::Unknown));
    assert_eq!(open(&scenario, user.id, (9, 5), at(3_601)).await.err(), Some(LinkEnd::Expired));
    let (_, session) = open(&scenario, user.id, (9, 5), at(3_600)).await.unwrap();
    assert_eq!(open(&scenario, user.id, (9, 6), at(3_600)).await.err(), Some(LinkEnd::Used));
    assert_eq!(alive(&scenario.store, user.id, at(3_600)).await, [session]);
}

/// Of concurrent uses, one begins its session, and the others change nothing.
pub async fn one_of_many_concurrent_uses_of_a_link_succeeds(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, _) = guest(&scenario, 1, at(0)).await;
    issue(&scenario, user.id, 9, at(0)).await;
    let uses = (10..16).map(|cookie| {
        let (store, user) = (Arc::clone(&scenario.store), user.id);
        async move {
            let session = browser(&store, user, at(1)).await;
            store.use_wallet_link(&secret(9), &session, hash(cookie)).await.unwrap().map(|_| session.id)
        }
    });
    let outcomes = at_once(uses).await;
    let begun: Vec<SessionId> = outcomes.iter().filter_map(|outcome| outcome.ok()).collect();
    assert_eq!(begun.len(), 1, "{outcomes:?}");
    assert!(outcomes.iter().filter_map(|outcome| outcome.err()).all(|end| end == LinkEnd::Used));
    assert_eq!(alive(&scenario.store, user.id, at(1)).await, begun);
}

/// A suspension keeps a link; a claim and an erasure end it.
pub async fn a_link_ends_with_the_guest_account(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, session) = guest(&scenario, 1, at(0)).await;
    issue(&scenario, user.id, 9, at(0)).await;
    for (change, expected) in
        [(UserStatusChange::Suspend, Some(LinkEnd::Suspended)), (UserStatusChange::Restore, None)]
    {
        scenario.fresh(plans::change_user_status(scenario.by(user.id, at(1)), user.id, change)).await;
        let link = scenario.store.challenge(Purpose::WalletLink, &secret(9)).await.unwrap().unwrap();
        assert_eq!(link.opens_wallet(&scenario.user(user.id).await, at(1)).err(), expected);
        if let Some(end) = expected {
            assert_eq!(open(&scenario, user.id, (9, 5), at(1)).await.err(), Some(end));
        }
    }
    let claim = claim(&user, &session, "mia@example.com", 3, at(2));
    assert!(matches!(scenario.store.claim(&claim).await.unwrap(), Claimed::Done(_)));
    assert_eq!(open(&scenario, user.id, (9, 5), at(3)).await.err(), Some(LinkEnd::Claimed));

    let (erased, _) = guest(&scenario, 2, at(0)).await;
    issue(&scenario, erased.id, 7, at(0)).await;
    assert_eq!(erase_at(&*scenario.store, erased.id, at(0), at(4)).await, Erased::Done);
    assert_eq!(scenario.store.challenge(Purpose::WalletLink, &secret(7)).await.unwrap(), None);
    assert_eq!(open(&scenario, erased.id, (7, 5), at(4)).await.err(), Some(LinkEnd::Unknown));
}

/// Sessions that a logout or a reused token ended are not reported, and neither are live sessions.
pub async fn only_sessions_that_a_link_ended_are_reported(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, lost) = guest(&scenario, 1, at(0)).await;
    let ended = |session: SessionId| {
        let store = Arc::clone(&scenario.store);
        async move { store.ended_by_wallet_link(session).await.unwrap() }
    };
    issue(&scenario, user.id, 8, at(1)).await;
    // Another link replaces the link when a session ends.
    scenario.store.end_session(user.id, lost.id, at(2)).await.unwrap();
    issue(&scenario, user.id, 9, at(2)).await;
    assert!(!ended(lost.id).await);
    let (_, first) = open(&scenario, user.id, (9, 5), at(3)).await.unwrap();
    assert!(!ended(lost.id).await && !ended(first).await);
    issue(&scenario, user.id, 7, at(4)).await;
    let (_, second) = open(&scenario, user.id, (7, 6), at(5)).await.unwrap();
    assert!(ended(first).await && !ended(second).await);
}
