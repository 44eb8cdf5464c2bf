//! Refresh tokens: each exchanged once, and a family that ends when one is presented twice.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Exchange, Store};
use cuepoint_domain::session::{FamilyId, RefreshToken, TokenHash};
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

use crate::world::{World, at, at_once};

fn hash(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

fn end() -> Timestamp {
    at(0).plus(Duration::days(30))
}

/// A store with a registered person who logged in once, with the token `hash(1)` of family 1.
async fn logged_in(store: Arc<dyn Store>) -> (Arc<dyn Store>, UserId) {
    let user = World::new(Arc::clone(&store)).guest(0).await;
    begin(&store, user, 1, 1).await;
    (store, user)
}

async fn begin(store: &Arc<dyn Store>, user: UserId, number: u8, family: u128) {
    let token = RefreshToken {
        hash: hash(number),
        family: FamilyId(family),
        user,
        issued_at: at(0),
        expires_at: end(),
        used_at: None,
    };
    store.begin(&token).await.unwrap();
}

async fn exchange(store: &Arc<dyn Store>, presented: u8, next: u8) -> Exchange {
    store.exchange(&hash(presented), hash(next), end(), at(1)).await.unwrap()
}

/// Each token of a chain is exchanged for the next.
pub async fn a_token_is_exchanged_for_the_next(store: Arc<dyn Store>) {
    let (store, user) = logged_in(store).await;
    for number in 1..5 {
        assert_eq!(exchange(&store, number, number + 1).await, Exchange::Done(user));
    }
    assert_eq!(exchange(&store, 99, 100).await, Exchange::Refused, "an unknown token");
}

/// A used token presented again ends its family: neither it nor the newest one is worth anything any more.
pub async fn a_used_token_ends_its_family(store: Arc<dyn Store>) {
    let (store, user) = logged_in(store).await;
    begin(&store, user, 50, 2).await;
    exchange(&store, 1, 2).await;
    exchange(&store, 2, 3).await;
    assert_eq!(exchange(&store, 1, 9).await, Exchange::FamilyEnded(user));
    for presented in [3, 2, 1, 9] {
        assert_eq!(exchange(&store, presented, 10).await, Exchange::Refused, "token {presented}");
    }
    assert_eq!(exchange(&store, 50, 51).await, Exchange::Done(user), "another login goes on");
}

/// Of two that present a token at once one gets the next, the other ends the family, whoever comes first.
pub async fn of_two_racing_exchanges_one_ends_the_family(store: Arc<dyn Store>) {
    let (store, user) = logged_in(store).await;
    for round in 0..20_u8 {
        let (first, next) = (100 + round, [20 + round, 60 + round]);
        begin(&store, user, first, 100 + u128::from(round)).await;
        let tasks = next.map(|next| {
            let store = Arc::clone(&store);
            async move { exchange(&store, first, next).await }
        });
        let answers = at_once(tasks).await;
        assert!(answers.contains(&Exchange::Done(user)), "{answers:?}");
        assert!(answers.contains(&Exchange::FamilyEnded(user)), "{answers:?}");
        for next in next {
            assert_eq!(exchange(&store, next, 255).await, Exchange::Refused);
        }
    }
}

/// A token is worth something up to its end, to the microsecond, and an old one does not end its family.
pub async fn a_token_past_its_end_is_refused(store: Arc<dyn Store>) {
    let (store, user) = logged_in(store).await;
    let late = store.exchange(&hash(1), hash(2), end(), end()).await.unwrap();
    assert_eq!(late, Exchange::Refused);
    let in_time = end().minus(Duration::MICROSECOND);
    let next_end = end().plus(Duration::days(1));
    let done = store.exchange(&hash(1), hash(2), next_end, in_time).await.unwrap();
    assert_eq!(done, Exchange::Done(user));
    let next = store.exchange(&hash(2), hash(3), next_end, end()).await.unwrap();
    assert_eq!(next, Exchange::Done(user), "the next token has an end of its own");
}

/// A used token presented again ends its family even past its own end.
pub async fn a_used_token_past_its_end_still_ends_its_family(store: Arc<dyn Store>) {
    let (store, user) = logged_in(store).await;
    let next_end = end().plus(Duration::days(1));
    store.exchange(&hash(1), hash(2), next_end, at(1)).await.unwrap();
    let reused = store.exchange(&hash(1), hash(3), next_end, end()).await.unwrap();
    assert_eq!(reused, Exchange::FamilyEnded(user));
    assert_eq!(store.exchange(&hash(2), hash(3), next_end, end()).await.unwrap(), Exchange::Refused);
}

/// Ending by any token of a family ends all of it; an unknown token ends nothing and is no error.
pub async fn ending_a_session_ends_its_family(store: Arc<dyn Store>) {
    let (store, user) = logged_in(store).await;
    begin(&store, user, 50, 2).await;
    exchange(&store, 1, 2).await;
    store.end(&hash(99), at(2)).await.unwrap();
    store.end(&hash(1), at(2)).await.unwrap();
    store.end(&hash(1), at(3)).await.unwrap();
    for presented in [1, 2] {
        assert_eq!(exchange(&store, presented, 3).await, Exchange::Refused);
    }
    assert_eq!(exchange(&store, 50, 51).await, Exchange::Done(user));
}

/// Tidying deletes tokens past their end, and no other; a family that was ended stays ended.
pub async fn tidying_deletes_tokens_past_their_end(store: Arc<dyn Store>) {
    let (store, user) = logged_in(store).await;
    begin(&store, user, 50, 2).await;
    let next_end = end().plus(Duration::days(1));
    store.exchange(&hash(1), hash(2), next_end, at(1)).await.unwrap();
    store.exchange(&hash(50), hash(51), next_end, at(1)).await.unwrap();
    store.end(&hash(51), at(2)).await.unwrap();
    store.tidy(end()).await.unwrap();
    assert_eq!(exchange(&store, 1, 3).await, Exchange::Refused, "deleted, so it ends nothing");
    assert_eq!(exchange(&store, 2, 3).await, Exchange::Done(user));
    assert_eq!(exchange(&store, 51, 52).await, Exchange::Refused, "ended");
}
