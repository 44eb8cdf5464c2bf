//! Sessions: each refresh token is exchanged once, a session ends when one is presented twice, and its owner
//! lists and ends sessions.

use std::sync::Arc;

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{BeginOutcome, Erased, ExchangeOutcome, PasswordHash, Store};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::{Candidates, ClientInfo, Session, SessionSecret, TokenHash};
use time::Duration;

use crate::harness::confirmed_erasure::erase_at;
use crate::harness::scenario::{Scenario, at, at_once, line};

promises! { ($) sessions as sessions_promises {
    tokens_are_exchanged_for_their_successors,
    a_login_with_an_outdated_password_starts_no_session,
    a_reused_refresh_token_ends_only_its_own_session,
    concurrent_exchanges_of_a_token_for_different_successors_end_the_session,
    an_expired_token_is_refused_without_ending_its_session,
    a_reused_expired_token_still_ends_its_session,
    a_session_is_ended_by_any_of_its_tokens,
    sessions_are_listed_newest_first,
    a_user_cannot_end_the_session_of_another,
    a_user_can_end_all_sessions_or_all_except_one,
    sessions_that_ended_at_or_after_a_time_are_listed,
    a_purge_deletes_expired_tokens_and_ended_sessions,
}}

pub(crate) fn hash(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

/// The refresh token `hash(number)`.
pub(crate) fn refresh(number: u8) -> SessionSecret {
    SessionSecret::RefreshToken(hash(number))
}

/// The successors of a token under a single key.
pub(crate) fn successor(number: u8) -> Candidates<TokenHash> {
    Candidates { current: hash(number), others: Vec::new() }
}

pub(crate) fn valid_for() -> Duration {
    Duration::days(30)
}

pub(crate) fn end() -> Timestamp {
    at(0).plus(valid_for())
}

/// A login of a user at this time, with the token `hash(number)`.
pub(crate) async fn log_in(store: &Arc<dyn Store>, user: UserId, number: u8, now: Timestamp) -> Session {
    let id = store.next_session().await.unwrap();
    let agent = Some(line(&format!("Browser/{number} (Ünïx)")));
    let address = Some(if number.is_multiple_of(2) { "192.0.2.7" } else { "2001:db8::7" }.parse().unwrap());
    let session = Session::begin(id, user, ClientInfo { address, agent }, now, valid_for());
    let password = store.credentials_of(user).await.unwrap().unwrap().password;
    assert_eq!(store.begin(&session, refresh(number), &password).await.unwrap(), BeginOutcome::Done);
    session
}

/// A session that is not stored yet.
pub(crate) async fn new_session(store: &Arc<dyn Store>, user: UserId, now: Timestamp) -> Session {
    Session::begin(store.next_session().await.unwrap(), user, ClientInfo::default(), now, valid_for())
}

/// A store with a registered user who logged in once, with the token `hash(1)`.
pub(crate) async fn logged_in(store: Arc<dyn Store>) -> (Arc<dyn Store>, UserId, SessionId) {
    let user = Scenario::new(Arc::clone(&store)).guest(0).await;
    let session = log_in(&store, user, 1, at(0)).await.id;
    (store, user, session)
}

pub(crate) async fn exchange(store: &Arc<dyn Store>, presented: u8, next: u8) -> ExchangeOutcome {
    store.exchange(&hash(presented), &successor(next), None, end(), at(1)).await.unwrap()
}

/// A user's live sessions on one page.
pub(crate) async fn alive(store: &Arc<dyn Store>, user: UserId, now: Timestamp) -> Vec<SessionId> {
    let rows = store.sessions(user, now, PageRequest::new(1, 100)).await.unwrap();
    assert_eq!(u64::try_from(rows.rows.len()).unwrap(), rows.total);
    rows.rows.iter().map(|session| session.id).collect()
}

/// A login whose password was changed in the meantime begins no session, nor does one of an erased user.
pub async fn a_login_with_an_outdated_password_starts_no_session(store: Arc<dyn Store>) {
    let (store, user, _) = logged_in(store).await;
    let before = store.credentials_of(user).await.unwrap().unwrap().password;
    let after = PasswordHash("another".to_owned());
    assert!(store.change_password(user, &before, &after, None, at(1)).await.unwrap());
    let id = store.next_session().await.unwrap();
    let late = Session::begin(id, user, ClientInfo::default(), at(2), valid_for());
    assert_eq!(store.begin(&late, refresh(2), &before).await.unwrap(), BeginOutcome::PasswordChanged);
    assert_eq!(store.owner(refresh(2)).await.unwrap(), None);
    assert_eq!(erase_at(&*store, user, at(3), at(3)).await, Erased::Done);
    assert_eq!(store.begin(&late, refresh(2), &after).await.unwrap(), BeginOutcome::PasswordChanged);
    assert_eq!(alive(&store, user, at(4)).await, []);
}

/// Each token of a chain is exchanged for the next, and belongs to its session and its user.
pub async fn tokens_are_exchanged_for_their_successors(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    for number in 1..5 {
        assert_eq!(exchange(&store, number, number + 1).await, ExchangeOutcome::Done(user, session));
        for known in [number, number + 1] {
            assert_eq!(store.owner(refresh(known)).await.unwrap(), Some((user, session)), "token {known}");
        }
    }
    assert_eq!(exchange(&store, 99, 100).await, ExchangeOutcome::Refused, "an unknown token");
    assert_eq!(store.owner(refresh(99)).await.unwrap(), None);
}

/// A used token presented again ends its session: neither it nor the newest one is valid any more.
pub async fn a_reused_refresh_token_ends_only_its_own_session(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let other = log_in(&store, user, 50, at(0)).await.id;
    exchange(&store, 1, 2).await;
    exchange(&store, 2, 3).await;
    assert_eq!(exchange(&store, 1, 9).await, ExchangeOutcome::SessionEnded(user, session));
    for presented in [3, 2, 1, 9] {
        assert_eq!(exchange(&store, presented, 10).await, ExchangeOutcome::Refused, "token {presented}");
    }
    assert_eq!(alive(&store, user, at(2)).await, [other]);
    assert_eq!(
        exchange(&store, 50, 51).await,
        ExchangeOutcome::Done(user, other),
        "another session continues"
    );
}

/// Of two concurrent exchanges of a token, without a common candidate, one succeeds and the other ends the
/// session.
pub async fn concurrent_exchanges_of_a_token_for_different_successors_end_the_session(store: Arc<dyn Store>) {
    let (store, user, _) = logged_in(store).await;
    for round in 0..20_u8 {
        let (first, next) = (100 + round, [20 + round, 60 + round]);
        let session = log_in(&store, user, first, at(0)).await.id;
        let tasks = next.map(|next| {
            let store = Arc::clone(&store);
            async move { exchange(&store, first, next).await }
        });
        let answers = at_once(tasks).await;
        assert!(answers.contains(&ExchangeOutcome::Done(user, session)), "{answers:?}");
        assert!(answers.contains(&ExchangeOutcome::SessionEnded(user, session)), "{answers:?}");
        for next in next {
            assert_eq!(exchange(&store, next, 255).await, ExchangeOutcome::Refused);
        }
    }
}

/// A token is valid until it expires, to the microsecond, and an expired one does not end its session.
pub async fn an_expired_token_is_refused_without_ending_its_session(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let late = store.exchange(&hash(1), &successor(2), None, end(), end()).await.unwrap();
    assert_eq!(late, ExchangeOutcome::Refused);
    let in_time = end().minus(Duration::MICROSECOND);
    let next_end = end().plus(Duration::days(1));
    let done = store.exchange(&hash(1), &successor(2), None, next_end, in_time).await.unwrap();
    assert_eq!(done, ExchangeOutcome::Done(user, session));
    let next = store.exchange(&hash(2), &successor(3), None, next_end, end()).await.unwrap();
    assert_eq!(next, ExchangeOutcome::Done(user, session), "the next token has its own expiry");
}

/// A used token presented again ends its session even after it has expired.
pub async fn a_reused_expired_token_still_ends_its_session(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let next_end = end().plus(Duration::days(1));
    store.exchange(&hash(1), &successor(2), None, next_end, at(1)).await.unwrap();
    let reused = store.exchange(&hash(1), &successor(3), None, next_end, end()).await.unwrap();
    assert_eq!(reused, ExchangeOutcome::SessionEnded(user, session));
    assert_eq!(
        store.exchange(&hash(2), &successor(3), None, next_end, end()).await.unwrap(),
        ExchangeOutcome::Refused
    );
}

/// Any token of a session ends it, once; an unknown token ends nothing and is no error.
pub async fn a_session_is_ended_by_any_of_its_tokens(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let other = log_in(&store, user, 50, at(0)).await.id;
    exchange(&store, 1, 2).await;
    assert_eq!(store.end(&hash(99), at(2)).await.unwrap(), None);
    assert_eq!(store.end(&hash(1), at(2)).await.unwrap(), Some((user, session)));
    assert_eq!(store.end(&hash(2), at(3)).await.unwrap(), None, "it was ended before");
    for presented in [1, 2] {
        assert_eq!(exchange(&store, presented, 3).await, ExchangeOutcome::Refused);
    }
    assert_eq!(store.end(&hash(50), end()).await.unwrap(), None, "it was over");
    assert_eq!(exchange(&store, 50, 51).await, ExchangeOutcome::Done(user, other));
}

/// A user's live sessions are listed newest first, with their beginning and last use, in pages, without those
/// of other users.
pub async fn sessions_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let (user, other) = (scenario.guest(0).await, scenario.guest(0).await);
    log_in(&store, other, 99, at(4)).await;
    let mut begun = Vec::new();
    for (number, seconds) in (1..).zip([5, 3, 3, 9, 3]) {
        begun.push(log_in(&store, user, number, at(seconds)).await);
    }
    let next_end = end().plus(Duration::days(1));
    store.exchange(&hash(2), &successor(20), None, next_end, at(20)).await.unwrap();
    (begun[1].used_at, begun[1].expires_at) = (at(20), next_end);
    begun.sort_by_key(|session| std::cmp::Reverse((session.began_at, session.id)));
    let page =
        async |now, number, size| store.sessions(user, now, PageRequest::new(number, size)).await.unwrap();
    assert_eq!(page(at(30), 1, 15).await, Rows { rows: begun.clone(), total: 5 });
    assert_eq!(page(at(30), 2, 2).await, Rows { rows: begun[2..4].to_vec(), total: 5 });
    assert_eq!(page(at(30), u64::MAX, 100).await, Rows::none(5));
    let used = begun.iter().find(|session| session.used_at == at(20)).unwrap().clone();
    assert_eq!(page(at(9).plus(valid_for()), 1, 15).await, Rows { rows: vec![used], total: 1 });
}

/// Ending a session leaves the user's other sessions alone, and no user can end another's.
pub async fn a_user_cannot_end_the_session_of_another(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let stranger = Scenario::new(Arc::clone(&store)).guest(0).await;
    let theirs = log_in(&store, stranger, 50, at(0)).await.id;
    let unknown = store.next_session().await.unwrap();
    assert!(!store.end_session(user, theirs, at(1)).await.unwrap());
    assert!(!store.end_session(user, unknown, at(1)).await.unwrap());
    assert!(!store.end_session(user, session, end()).await.unwrap(), "it was over");
    assert!(store.end_session(user, session, at(1)).await.unwrap());
    assert!(!store.end_session(user, session, at(2)).await.unwrap(), "it was ended before");
    assert_eq!(exchange(&store, 1, 2).await, ExchangeOutcome::Refused);
    assert_eq!(alive(&store, user, at(2)).await, []);
    assert_eq!(alive(&store, stranger, at(2)).await, [theirs]);
    assert_eq!(exchange(&store, 50, 51).await, ExchangeOutcome::Done(stranger, theirs));
}

/// Ending all others keeps the given one; ending all keeps none; other users' sessions stay live.
pub async fn a_user_can_end_all_sessions_or_all_except_one(store: Arc<dyn Store>) {
    let (store, user, first) = logged_in(store).await;
    let stranger = Scenario::new(Arc::clone(&store)).guest(0).await;
    let theirs = log_in(&store, stranger, 50, at(0)).await.id;
    log_in(&store, user, 2, at(1)).await;
    log_in(&store, user, 3, at(2)).await;
    log_in(&store, user, 4, at(0).minus(valid_for())).await;
    assert_eq!(store.end_sessions(user, Some(first), at(3)).await.unwrap(), 2, "one was over already");
    assert_eq!(alive(&store, user, at(4)).await, [first]);
    for presented in [2, 3] {
        assert_eq!(exchange(&store, presented, 9).await, ExchangeOutcome::Refused);
    }
    assert_eq!(store.end_sessions(user, None, at(5)).await.unwrap(), 1);
    assert_eq!(store.end_sessions(user, None, at(6)).await.unwrap(), 0);
    assert_eq!(alive(&store, user, at(7)).await, []);
    assert_eq!(alive(&store, stranger, at(7)).await, [theirs]);
}

/// An ended session is listed from its end on, however it ended; earlier ends are not.
pub async fn sessions_that_ended_at_or_after_a_time_are_listed(store: Arc<dyn Store>) {
    let (store, user, by_token) = logged_in(store).await;
    let mut sessions = vec![by_token];
    for number in 2..6 {
        sessions.push(log_in(&store, user, number, at(0)).await.id);
    }
    store.end(&hash(1), at(10)).await.unwrap();
    store.end_session(user, sessions[1], at(20)).await.unwrap();
    store.exchange(&hash(3), &successor(30), None, end(), at(1)).await.unwrap();
    store.exchange(&hash(3), &successor(31), None, end(), at(30)).await.unwrap();
    store.end_sessions(user, Some(sessions[4]), at(40)).await.unwrap();
    for (since, expected) in
        [(0, 0..4), (10, 0..4), (11, 1..4), (20, 1..4), (30, 2..4), (40, 3..4), (41, 4..4)]
    {
        let revoked = store.revoked_since(at(since)).await.unwrap();
        assert_eq!(revoked.sessions, sessions[expected].iter().copied().collect(), "since {since}");
        assert!(revoked.statuses.is_empty());
    }
}

/// A purge deletes expired tokens, and sessions some time after their end, and no others; ended sessions stay
/// ended.
pub async fn a_purge_deletes_expired_tokens_and_ended_sessions(store: Arc<dyn Store>) {
    let (store, user, first) = logged_in(store).await;
    let other = log_in(&store, user, 50, at(0)).await.id;
    let next_end = end().plus(Duration::days(10));
    store.exchange(&hash(1), &successor(2), None, next_end, at(1)).await.unwrap();
    store.exchange(&hash(50), &successor(51), None, next_end, at(1)).await.unwrap();
    store.end(&hash(51), end()).await.unwrap();
    store.purge_expired(end()).await.unwrap();
    assert_eq!(exchange(&store, 1, 3).await, ExchangeOutcome::Refused, "deleted, so it ends nothing");
    assert_eq!(exchange(&store, 51, 52).await, ExchangeOutcome::Refused, "ended");
    assert_eq!(store.owner(refresh(51)).await.unwrap(), Some((user, other)));
    assert_eq!(
        store.revoked_since(at(0)).await.unwrap().sessions.len(),
        1,
        "its access tokens may still live"
    );
    store.purge_expired(end().plus(Session::RETENTION)).await.unwrap();
    assert_eq!(store.owner(refresh(51)).await.unwrap(), None);
    assert!(store.revoked_since(at(0)).await.unwrap().sessions.is_empty());
    let done = store.exchange(&hash(2), &successor(3), None, next_end, end()).await.unwrap();
    assert_eq!(done, ExchangeOutcome::Done(user, first));
    store.purge_expired(next_end.plus(Session::RETENTION)).await.unwrap();
    assert_eq!(store.owner(refresh(3)).await.unwrap(), None);
}
