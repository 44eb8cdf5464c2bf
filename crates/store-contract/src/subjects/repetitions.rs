//! Calls repeated because their first answer may have been lost: they return the same session, and change
//! nothing.

use std::sync::Arc;

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::{BeginOutcome, ExchangeOutcome, PasswordHash, Registered, Store};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::user::session::{Candidates, ClientInfo, REPEATABLE_FOR, Session, SessionSecret};
use time::Duration;

use crate::harness::scenario::{Scenario, at, at_once};
use crate::subjects::sessions::{
    alive, end, exchange, hash, log_in, logged_in, refresh, successor, valid_for,
};

promises! { ($) repetitions as repetitions_promises {
    two_concurrent_exchanges_of_a_token_return_the_same_successor,
    many_concurrent_exchanges_of_a_token_return_the_same_successor,
    an_exchange_can_be_repeated_for_a_minute,
    an_exchange_can_be_repeated_until_its_successor_is_used,
    a_repeated_exchange_returns_a_successor_derived_with_an_older_key,
    exchanges_in_ended_sessions_cannot_be_repeated,
    a_repeated_registration_adds_one_user,
    a_repeated_login_starts_one_session,
}}

/// Presents a token with this single successor at this time.
async fn present(store: &Arc<dyn Store>, presented: u8, next: u8, now: Timestamp) -> ExchangeOutcome {
    store.exchange(&hash(presented), &successor(next), None, end(), now).await.unwrap()
}

/// Presents one token many times concurrently, and returns the number of exchanges. All other calls must
/// report the same successor.
async fn race(store: &Arc<dyn Store>, user: UserId, session: SessionId, tokens: (u8, u8), many: u8) -> usize {
    let (presented, next) = tokens;
    let tasks = (0..many).map(|_| {
        let store = Arc::clone(store);
        async move { exchange(&store, presented, next).await }
    });
    let answers = at_once(tasks).await;
    let repeated = ExchangeOutcome::Repeated(user, session, hash(next));
    let (done, others): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|answer| *answer == ExchangeOutcome::Done(user, session));
    assert!(others.iter().all(|answer| *answer == repeated), "{others:?}");
    done.len()
}

/// Two concurrent exchanges of a token return the same successor, and the session stays live.
pub async fn two_concurrent_exchanges_of_a_token_return_the_same_successor(store: Arc<dyn Store>) {
    let (store, user, _) = logged_in(store).await;
    for round in 0..20_u8 {
        let (first, next) = (100 + round, 20 + round);
        let session = log_in(&store, user, first, at(0)).await.id;
        assert_eq!(race(&store, user, session, (first, next), 2).await, 1);
        assert_eq!(exchange(&store, next, 60 + round).await, ExchangeOutcome::Done(user, session));
    }
}

/// Of thirty concurrent exchanges of a token one succeeds, all return the same successor, and the session
/// stays live.
pub async fn many_concurrent_exchanges_of_a_token_return_the_same_successor(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    assert_eq!(race(&store, user, session, (1, 2), 30).await, 1);
    assert_eq!(alive(&store, user, at(2)).await, [session]);
    assert_eq!(exchange(&store, 2, 3).await, ExchangeOutcome::Done(user, session));
}

/// An exchanged token returns its successor again for a minute, to the microsecond, and ends its session from
/// then on.
pub async fn an_exchange_can_be_repeated_for_a_minute(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    assert_eq!(present(&store, 1, 2, at(1)).await, ExchangeOutcome::Done(user, session));
    let minute_over = at(1).plus(REPEATABLE_FOR);
    for now in [at(1), at(2), minute_over.minus(Duration::MICROSECOND)] {
        assert_eq!(
            present(&store, 1, 2, now).await,
            ExchangeOutcome::Repeated(user, session, hash(2)),
            "{now:?}"
        );
    }
    assert_eq!(alive(&store, user, at(1)).await, [session]);
    assert_eq!(present(&store, 1, 2, minute_over).await, ExchangeOutcome::SessionEnded(user, session));
    assert_eq!(present(&store, 2, 3, minute_over).await, ExchangeOutcome::Refused);
    assert_eq!(alive(&store, user, minute_over).await, []);
}

/// Once the successor was used, the token before it ends the session, even within the minute.
pub async fn an_exchange_can_be_repeated_until_its_successor_is_used(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    assert_eq!(exchange(&store, 1, 2).await, ExchangeOutcome::Done(user, session));
    assert_eq!(exchange(&store, 1, 2).await, ExchangeOutcome::Repeated(user, session, hash(2)));
    assert_eq!(exchange(&store, 2, 3).await, ExchangeOutcome::Done(user, session));
    assert_eq!(exchange(&store, 2, 3).await, ExchangeOutcome::Repeated(user, session, hash(3)));
    assert_eq!(exchange(&store, 1, 2).await, ExchangeOutcome::SessionEnded(user, session));
    for presented in 1..4 {
        assert_eq!(exchange(&store, presented, presented + 1).await, ExchangeOutcome::Refused, "{presented}");
    }
}

/// The stored successor is found among all candidates, whichever key derived it, and no other is stored.
pub async fn a_repeated_exchange_returns_a_successor_derived_with_an_older_key(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    assert_eq!(exchange(&store, 1, 2).await, ExchangeOutcome::Done(user, session));
    let rotated = Candidates { current: hash(20), others: vec![hash(21), hash(2)] };
    let again = store.exchange(&hash(1), &rotated, None, end(), at(2)).await.unwrap();
    assert_eq!(again, ExchangeOutcome::Repeated(user, session, hash(2)));
    for never in [20, 21] {
        assert_eq!(store.owner(refresh(never)).await.unwrap(), None);
    }
    assert_eq!(exchange(&store, 2, 3).await, ExchangeOutcome::Done(user, session));
}

/// In an ended session no exchange is repeated.
pub async fn exchanges_in_ended_sessions_cannot_be_repeated(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    assert_eq!(exchange(&store, 1, 2).await, ExchangeOutcome::Done(user, session));
    assert!(store.end_session(user, session, at(2)).await.unwrap());
    assert_eq!(present(&store, 1, 2, at(2)).await, ExchangeOutcome::Refused);
}

async fn register(
    store: &Arc<dyn Store>,
    user: &User,
    session: &Session,
    secret: SessionSecret,
) -> Registered {
    let password = PasswordHash("hash".to_owned());
    store.register(user, &password, Some((session, secret))).await.unwrap()
}

/// A registration repeated with the same session and token succeeds, and adds one user; with another session
/// the address is taken.
pub async fn a_repeated_registration_adds_one_user(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let user = scenario.stranger(false, at(1)).await;
    let first = Session::begin(
        store.next_session().await.unwrap(),
        user.id,
        ClientInfo::default(),
        at(1),
        valid_for(),
    );
    for _ in 0..2 {
        assert_eq!(register(&store, &user, &first, refresh(1)).await, Registered::Done);
    }
    assert_eq!(alive(&store, user.id, at(2)).await, [first.id]);
    // Changes of the session in between remain.
    assert_eq!(exchange(&store, 1, 2).await, ExchangeOutcome::Done(user.id, first.id));
    assert_eq!(register(&store, &user, &first, refresh(1)).await, Registered::Done);
    assert_eq!(exchange(&store, 2, 3).await, ExchangeOutcome::Done(user.id, first.id));

    let other = User { email: user.email.clone(), ..scenario.stranger(false, at(1)).await };
    let second = Session { id: store.next_session().await.unwrap(), user: other.id, ..first.clone() };
    assert_eq!(register(&store, &other, &second, refresh(9)).await, Registered::EmailTaken);
    assert_eq!(register(&store, &user, &first, refresh(9)).await, Registered::EmailTaken);
    assert_eq!(store.profile(other.id).await.unwrap(), None);
    assert_eq!(store.owner(refresh(9)).await.unwrap(), None);
}

/// A login repeated with the same session and token begins one session; another token does not get its id.
pub async fn a_repeated_login_starts_one_session(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let password = store.credentials_of(user).await.unwrap().unwrap().password;
    let kept = Session::begin(session, user, ClientInfo::default(), at(0), valid_for());
    assert_eq!(store.begin(&kept, refresh(1), &password).await.unwrap(), BeginOutcome::Done);
    assert_eq!(alive(&store, user, at(1)).await, [session]);
    // Changes of the session in between remain.
    assert_eq!(exchange(&store, 1, 2).await, ExchangeOutcome::Done(user, session));
    assert_eq!(store.begin(&kept, refresh(1), &password).await.unwrap(), BeginOutcome::Done);
    assert_eq!(exchange(&store, 2, 3).await, ExchangeOutcome::Done(user, session));
    assert!(store.begin(&kept, refresh(9), &password).await.is_err());
    assert_eq!(store.owner(refresh(9)).await.unwrap(), None);
}
