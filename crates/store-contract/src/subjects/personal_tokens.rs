//! Personal access tokens: sessions that a user lists, ends and limits apart from logins.

use std::collections::BTreeSet;
use std::sync::Arc;

use cuepoint_domain::authorization::CredentialEnd;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::{PasswordHash, Store, TokenAddition};
use cuepoint_domain::privacy::personal_data::{ExportList, ExportRecord};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::personal_token::{PersonalToken, TokenScope};
use cuepoint_domain::user::session::{ClientInfo, Session};
use futures_util::future::join_all;
use time::Duration;
use tokio::task::yield_now;

use crate::harness::confirmed_erasure::erase_at;
use crate::harness::scenario::{Scenario, at, line};
use crate::subjects::sessions::{alive, hash, log_in, logged_in};

promises! { ($) personal_tokens as personal_tokens_promises {
    a_token_is_found_by_its_hash_and_marked_as_used,
    tokens_are_listed_newest_first_and_apart_from_logins,
    a_user_has_at_most_ten_live_tokens,
    a_token_is_ended_by_its_owner_alone,
    a_token_needs_a_live_session_of_its_author,
    no_token_survives_a_simultaneous_end_of_all_sessions,
    a_changed_password_keeps_tokens_and_the_end_of_all_sessions_ends_them,
    logins_do_not_displace_tokens,
    an_erasure_ends_and_removes_tokens,
    a_purge_removes_a_token_with_its_session,
}}

fn scopes() -> BTreeSet<TokenScope> {
    BTreeSet::from([TokenScope::EventsRead, TokenScope::GigsRead])
}

/// A token of a user that lives for a day, and is not stored yet.
async fn new_token(store: &Arc<dyn Store>, user: UserId, now: Timestamp) -> PersonalToken {
    let client = ClientInfo { address: Some("192.0.2.7".parse().unwrap()), agent: Some(line("curl")) };
    let id = store.next_session().await.unwrap();
    let session = Session::begin(id, user, client, now, Duration::DAY);
    PersonalToken { session, name: line("Display (Ünïx)"), scopes: scopes() }
}

/// Adds a token with the hash `hash(number)`.
async fn add(
    store: &Arc<dyn Store>,
    user: UserId,
    author: SessionId,
    number: u8,
    now: Timestamp,
) -> PersonalToken {
    let token = new_token(store, user, now).await;
    assert_eq!(store.add_token(&token, hash(number), author).await.unwrap(), TokenAddition::Added);
    token
}

async fn live(store: &Arc<dyn Store>, user: UserId, now: Timestamp) -> Vec<SessionId> {
    store.tokens(user, now).await.unwrap().iter().map(PersonalToken::id).collect()
}

/// A token keeps its name, scopes and times; an unknown hash finds nothing, and the latest use counts.
pub async fn a_token_is_found_by_its_hash_and_marked_as_used(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let token = add(&store, user, session, 2, at(1)).await;
    assert_eq!(store.tokens(user, at(2)).await.unwrap(), std::slice::from_ref(&token));
    assert_eq!(token.last_used_at(), None);
    assert_eq!(store.use_token(&hash(9), at(5)).await.unwrap(), None);
    assert_eq!(store.use_token(&hash(1), at(5)).await.unwrap(), None, "the refresh token of a login");
    let found = store.use_token(&hash(2), at(5)).await.unwrap().unwrap();
    assert_eq!(
        (found.credential.id(), &found.credential.name, &found.credential.scopes),
        (token.id(), &token.name, &scopes())
    );
    assert_eq!(found.principal(at(5)).unwrap().user, user);
    store.use_token(&hash(2), at(4)).await.unwrap();
    let used: Vec<_> =
        store.tokens(user, at(6)).await.unwrap().iter().map(PersonalToken::last_used_at).collect();
    assert_eq!(used, [Some(at(5))]);
    let end = token.session.expires_at;
    assert_eq!(
        store.use_token(&hash(2), end).await.unwrap().unwrap().principal(end),
        Err(CredentialEnd::Expired)
    );
    assert_eq!(live(&store, user, end).await, []);
}

/// Lists of sessions have no tokens, and lists of tokens no sessions.
pub async fn tokens_are_listed_newest_first_and_apart_from_logins(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let stranger = Scenario::new(Arc::clone(&store)).guest(0).await;
    let theirs = log_in(&store, stranger, 50, at(0)).await.id;
    add(&store, stranger, theirs, 51, at(1)).await;
    let (older, newer) =
        (add(&store, user, session, 2, at(1)).await, add(&store, user, session, 3, at(2)).await);
    assert_eq!(live(&store, user, at(3)).await, [newer.id(), older.id()]);
    assert_eq!(alive(&store, user, at(3)).await, [session]);
    store.end_token(user, older.id(), at(4)).await.unwrap();
    let records = store.records(user, ExportList::PersonalTokens, None, 10).await.unwrap();
    let ended = older.clone();
    assert_eq!(
        records,
        [ExportRecord::PersonalToken(newer, None), ExportRecord::PersonalToken(ended, Some(at(4)))]
    );
    let sessions = store.records(user, ExportList::Sessions, None, 10).await.unwrap();
    assert!(matches!(sessions.as_slice(), [ExportRecord::Session(only, None)] if only.id == session));
}

/// Of concurrent creations as many succeed as there is room for; ended and expired tokens leave room.
pub async fn a_user_has_at_most_ten_live_tokens(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let added = join_all((10..25).map(|number| {
        let store = Arc::clone(&store);
        async move {
            let token = new_token(&store, user, at(1)).await;
            store.add_token(&token, hash(number), session).await.unwrap()
        }
    }));
    let added = added.await;
    assert_eq!(added.iter().filter(|one| **one == TokenAddition::Added).count(), PersonalToken::MAX_LIVE);
    assert!(
        added.iter().all(|one| matches!(one, TokenAddition::Added | TokenAddition::TooMany)),
        "{added:?}"
    );
    let tokens = live(&store, user, at(2)).await;
    assert_eq!(tokens.len(), PersonalToken::MAX_LIVE);
    assert!(store.end_token(user, tokens[0], at(2)).await.unwrap());
    add(&store, user, session, 30, at(3)).await;
    let full = new_token(&store, user, at(3)).await;
    assert_eq!(store.add_token(&full, hash(31), session).await.unwrap(), TokenAddition::TooMany);
    add(&store, user, session, 31, at(3).plus(Duration::DAY)).await;
}

/// Neither another user nor the end of a session by its id ends a token, and the end of a token ends no login.
pub async fn a_token_is_ended_by_its_owner_alone(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let stranger = Scenario::new(Arc::clone(&store)).guest(0).await;
    let id = add(&store, user, session, 2, at(1)).await.id();
    assert!(!store.end_token(stranger, id, at(2)).await.unwrap());
    assert!(!store.end_session(user, id, at(2)).await.unwrap());
    assert!(!store.end_token(user, session, at(2)).await.unwrap());
    assert_eq!(
        (live(&store, user, at(3)).await, alive(&store, user, at(3)).await),
        (vec![id], vec![session])
    );
    assert!(store.end_token(user, id, at(4)).await.unwrap());
    assert!(!store.end_token(user, id, at(5)).await.unwrap());
    let found = store.use_token(&hash(2), at(6)).await.unwrap().unwrap();
    assert_eq!((found.ended_at, found.principal(at(6))), (Some(at(4)), Err(CredentialEnd::Ended)));
    assert_eq!(store.revoked_since(at(4)).await.unwrap().sessions, [id].into());
    assert_eq!(alive(&store, user, at(6)).await, [session]);
}

/// A token of an ended session would survive the end of all sessions.
pub async fn a_token_needs_a_live_session_of_its_author(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    store.end_sessions(user, None, at(1)).await.unwrap();
    let late = new_token(&store, user, at(2)).await;
    assert_eq!(store.add_token(&late, hash(2), session).await.unwrap(), TokenAddition::SessionEnded);
    assert_eq!(store.use_token(&hash(2), at(3)).await.unwrap(), None);
}

/// A creation comes before the end of all sessions, and its token is ended, or it comes afterwards and is refused.
pub async fn no_token_survives_a_simultaneous_end_of_all_sessions(store: Arc<dyn Store>) {
    let user = Scenario::new(Arc::clone(&store)).guest(0).await;
    let mut outcomes = BTreeSet::new();
    for number in 1..30 {
        let author = log_in(&store, user, number, at(0)).await.id;
        let token = new_token(&store, user, at(1)).await;
        let is_ended_first = number % 2 == 0;
        let added = async {
            if is_ended_first {
                yield_now().await;
            }
            store.add_token(&token, hash(100 + number), author).await.unwrap()
        };
        let ended = async {
            if !is_ended_first {
                yield_now().await;
            }
            store.end_sessions(user, None, at(2)).await.unwrap()
        };
        let (added, _) = tokio::join!(added, ended);
        outcomes.insert(format!("{added:?}"));
        assert_eq!(live(&store, user, at(3)).await, [], "round {number}");
    }
    assert_eq!(outcomes, ["Added", "SessionEnded"].map(str::to_owned).into());
}

/// A changed password keeps its own session and the tokens. The end of all sessions ends both.
pub async fn a_changed_password_keeps_tokens_and_the_end_of_all_sessions_ends_them(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let other = log_in(&store, user, 4, at(0)).await.id;
    let id = add(&store, user, other, 2, at(1)).await.id();
    let before = store.credentials_of(user).await.unwrap().unwrap().password;
    let after = PasswordHash("another".to_owned());
    assert!(store.change_password(user, &before, &after, Some(session), at(2)).await.unwrap());
    assert_eq!(
        (alive(&store, user, at(3)).await, live(&store, user, at(3)).await),
        (vec![session], vec![id])
    );
    assert_eq!(store.end_sessions(user, None, at(4)).await.unwrap(), 2);
    assert_eq!((alive(&store, user, at(5)).await, live(&store, user, at(5)).await), (vec![], vec![]));
    assert!(store.revoked_since(at(4)).await.unwrap().sessions.contains(&id));
}

/// The limit of sessions counts logins alone.
pub async fn logins_do_not_displace_tokens(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let id = add(&store, user, session, 200, at(1)).await.id();
    for number in 2..=u8::try_from(Session::MAX_LIVE + 1).unwrap() {
        log_in(&store, user, number, at(i64::from(number))).await;
    }
    let now = at(1_000);
    assert_eq!(
        (alive(&store, user, now).await.len(), live(&store, user, now).await),
        (Session::MAX_LIVE, vec![id])
    );
}

/// Nothing that names a token of an erased user stays.
pub async fn an_erasure_ends_and_removes_tokens(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let id = add(&store, user, session, 2, at(1)).await.id();
    erase_at(&*store, user, at(2), at(2)).await;
    assert_eq!(store.use_token(&hash(2), at(3)).await.unwrap(), None);
    assert_eq!(store.records(user, ExportList::PersonalTokens, None, 10).await.unwrap(), []);
    assert!(store.revoked_since(at(2)).await.unwrap().sessions.contains(&id));
}

/// A token is known until its session is purged, so that it is refused as ended and not as unknown.
pub async fn a_purge_removes_a_token_with_its_session(store: Arc<dyn Store>) {
    let (store, user, session) = logged_in(store).await;
    let token = add(&store, user, session, 2, at(1)).await;
    let end = token.session.expires_at;
    store.purge_expired(end).await.unwrap();
    assert!(store.use_token(&hash(2), end).await.unwrap().is_some());
    store.purge_expired(end.plus(Session::RETENTION)).await.unwrap();
    assert_eq!(store.use_token(&hash(2), end).await.unwrap(), None);
}
