//! Sessions of browsers: each has one cookie, lives on while it is used, and ends like any other session.

use std::sync::Arc;

use cuepoint_domain::authorization::{CredentialEnd, FoundCookie};
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{
    BeginOutcome, Erased, ExchangeOutcome, GuestClaim, PasswordHash, Registered, Store,
};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::cookie_session::CookieSession;
use cuepoint_domain::user::guest_account::Claimed;
use cuepoint_domain::user::session::{ClientInfo, Session, SessionSecret};
use cuepoint_domain::user::{Role, User, UserStatusChange};
use futures_util::future::join_all;
use time::Duration;

use crate::harness::confirmed_erasure::erase_at;
use crate::harness::scenario::{Scenario, at};
use crate::subjects::guest_accounts::{claim, guest};
use crate::subjects::sessions::{alive, exchange, hash, log_in, refresh};

promises! { ($) cookies as cookies_promises {
    a_session_with_a_cookie_has_no_refresh_token,
    a_cookie_belongs_to_one_session,
    a_use_is_recorded_with_its_network_at_most_once_an_hour,
    simultaneous_uses_are_recorded_once,
    a_session_of_staff_ends_twelve_hours_after_its_login,
    a_cookie_ends_with_its_session,
    a_surplus_of_sessions_ends_the_least_recently_used_cookies,
    a_claim_replaces_the_cookie,
    simultaneous_guest_accounts_with_one_cookie_are_one,
    unused_guest_accounts_are_deleted_with_their_cookies,
    a_purge_deletes_sessions_with_cookies,
}}

const HOUR: i64 = 3_600;

fn cookie(number: u8) -> SessionSecret {
    SessionSecret::Cookie(hash(number))
}

fn valid_for() -> Duration {
    Duration::days(90)
}

/// A login of a user with this role at this time, with the cookie `hash(number)`.
async fn log_in_browser(
    store: &Arc<dyn Store>,
    user: UserId,
    role: Role,
    number: u8,
    now: Timestamp,
) -> Session {
    let id = store.next_session().await.unwrap();
    let lifetime = CookieSession::lifetime(role, valid_for());
    let session = Session::begin(id, user, ClientInfo::default(), now, lifetime);
    let password = store.credentials_of(user).await.unwrap().unwrap().password;
    assert_eq!(store.begin(&session, cookie(number), &password).await.unwrap(), BeginOutcome::Done);
    session
}

/// A store with a member whose browser logged in once, with the cookie `hash(1)`.
async fn browsing(store: Arc<dyn Store>) -> (Arc<dyn Store>, UserId, SessionId) {
    let user = Scenario::new(Arc::clone(&store)).guest(0).await;
    let session = log_in_browser(&store, user, Role::Member, 1, at(0)).await.id;
    (store, user, session)
}

async fn use_at(store: &Arc<dyn Store>, number: u8, now: Timestamp) -> FoundCookie {
    store.use_cookie(&hash(number), None, valid_for(), now).await.unwrap().unwrap()
}

/// The cookie is no refresh token, and a refresh token is no cookie; both kinds of sessions are listed.
pub async fn a_session_with_a_cookie_has_no_refresh_token(store: Arc<dyn Store>) {
    let (store, user, session) = browsing(store).await;
    assert_eq!(store.owner(cookie(1)).await.unwrap(), Some((user, session)));
    assert_eq!(store.owner(refresh(1)).await.unwrap(), None);
    assert_eq!(exchange(&store, 1, 9).await, ExchangeOutcome::Refused);
    assert_eq!(store.end(&hash(1), at(1)).await.unwrap(), None);
    let phone = log_in(&store, user, 2, at(1)).await.id;
    assert_eq!(store.owner(cookie(2)).await.unwrap(), None);
    assert_eq!(store.use_cookie(&hash(2), None, valid_for(), at(2)).await.unwrap(), None);
    assert_eq!(alive(&store, user, at(2)).await, [phone, session]);
    let found = use_at(&store, 1, at(2)).await;
    assert_eq!((found.credential.0.id, found.ended_at), (session, None));
    let principal = found.principal(at(2)).unwrap();
    assert_eq!((principal.user, principal.session, principal.role), (user, session, Role::Member));
}

/// Another session with the cookie is refused; the login that is repeated with its session succeeds.
pub async fn a_cookie_belongs_to_one_session(store: Arc<dyn Store>) {
    let (store, user, session) = browsing(store).await;
    let password = store.credentials_of(user).await.unwrap().unwrap().password;
    let begin = |id: SessionId, secret| {
        let (store, password) = (Arc::clone(&store), password.clone());
        async move {
            let session = Session::begin(id, user, ClientInfo::default(), at(0), valid_for());
            store.begin(&session, secret, &password).await
        }
    };
    assert_eq!(begin(session, cookie(1)).await.unwrap(), BeginOutcome::Done);
    assert!(begin(session, cookie(2)).await.is_err(), "another cookie for the session");
    assert!(begin(session, refresh(2)).await.is_err(), "a refresh token for the session");
    let other = store.next_session().await.unwrap();
    assert!(begin(other, cookie(1)).await.is_err(), "another session for the cookie");
    assert_eq!(store.owner(cookie(1)).await.unwrap(), Some((user, session)));
    assert_eq!(alive(&store, user, at(1)).await, [session]);
}

/// A use within an hour of the last record writes nothing; a later one extends the session.
pub async fn a_use_is_recorded_with_its_network_at_most_once_an_hour(store: Arc<dyn Store>) {
    let (store, user, _) = browsing(store).await;
    let scenario = Scenario::new(Arc::clone(&store));
    let email = scenario.user(user).await.email.folded();
    let network = ClientNetwork::of("198.51.100.9".parse().unwrap());
    for (second, used, is_known) in [
        (HOUR - 1, 0, false),
        (HOUR, HOUR, true),
        (2 * HOUR - 1, HOUR, true),
        (1_000 * HOUR, 1_000 * HOUR, true),
    ] {
        let found =
            store.use_cookie(&hash(1), Some(network), valid_for(), at(second)).await.unwrap().unwrap();
        let Session { used_at, expires_at, .. } = found.credential.0;
        assert_eq!((used_at, expires_at), (at(used), at(used).plus(valid_for())), "{second}");
        let listed = store.sessions(user, at(second), PageRequest::new(1, 10)).await;
        assert_eq!(listed.unwrap().rows, [found.credential.0], "{second}");
        let known = store.is_known_network(&email, network, at(0)).await.unwrap();
        assert_eq!(known, is_known, "{second}");
    }
    let end = at(1_000 * HOUR).plus(valid_for());
    let late = use_at(&store, 1, end).await;
    assert_eq!(
        (late.principal(end), late.credential.0.used_at),
        (Err(CredentialEnd::Expired), at(1_000 * HOUR))
    );
    assert_eq!(alive(&store, user, end).await, []);
}

/// Any number of simultaneous requests find a valid session.
pub async fn simultaneous_uses_are_recorded_once(store: Arc<dyn Store>) {
    let (store, user, session) = browsing(store).await;
    let network = Some(ClientNetwork::of("198.51.100.9".parse().unwrap()));
    let uses = join_all((0..10).map(|more| {
        let store = Arc::clone(&store);
        async move { store.use_cookie(&hash(1), network, valid_for(), at(HOUR + more)).await }
    }));
    for found in uses.await {
        assert!(found.unwrap().unwrap().principal(at(HOUR + 10)).is_ok());
    }
    let used = use_at(&store, 1, at(HOUR + 10)).await.credential.0;
    assert!(at(HOUR) <= used.used_at && used.used_at < at(HOUR + 10), "{used:?}");
    assert_eq!(alive(&store, user, at(HOUR + 10)).await, [session]);
}

/// No use extends a session of staff, also one that began before its owner became staff.
pub async fn a_session_of_staff_ends_twelve_hours_after_its_login(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let (operator, user) = (scenario.operator().await, scenario.guest(0).await);
    log_in_browser(&store, operator, Role::Operator, 1, at(0)).await;
    log_in_browser(&store, user, Role::Member, 2, at(0)).await;
    scenario.change_status(operator, user, UserStatusChange::Role(Role::Auditor), at(1)).await;
    let end = at(12 * HOUR);
    for number in [1, 2] {
        let found = use_at(&store, number, at(11 * HOUR)).await;
        assert_eq!((found.credential.0.used_at, found.credential.0.expires_at), (at(11 * HOUR), end));
        assert!(found.principal(end.minus(Duration::MICROSECOND)).is_ok(), "{number}");
        assert_eq!(use_at(&store, number, end).await.principal(end), Err(CredentialEnd::Expired), "{number}");
    }
    assert_eq!(alive(&store, operator, end).await, []);
}

/// Whatever ends a session ends its cookie, and the revocation list names the session.
pub async fn a_cookie_ends_with_its_session(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let operator = scenario.operator().await;
    for (number, way) in (1..).zip(["one", "all", "others", "password", "reset", "suspension", "erasure"]) {
        let user = scenario.guest(0).await;
        let session = log_in_browser(&store, user, Role::Member, number, at(0)).await.id;
        let phone = log_in(&store, user, 100 + number, at(0)).await.id;
        let now = at(5);
        let before = store.credentials_of(user).await.unwrap().unwrap().password;
        let after = PasswordHash("another".to_owned());
        match way {
            "one" => assert!(store.end_session(user, session, now).await.unwrap()),
            "all" => assert_eq!(store.end_sessions(user, None, now).await.unwrap(), 2),
            "others" => assert_eq!(store.end_sessions(user, Some(phone), now).await.unwrap(), 1),
            "password" => {
                assert!(store.change_password(user, &before, &after, Some(phone), now).await.unwrap());
            }
            "reset" => {
                let reset = Challenge::issue(&scenario.user(user).await, Purpose::Password, hash(200), at(4));
                store.issue(&reset.unwrap(), None).await.unwrap();
                assert_eq!(store.reset_password(&hash(200), &after, now).await.unwrap(), Some(user));
            }
            "suspension" => {
                scenario.change_status(operator, user, UserStatusChange::Suspend, now).await;
            }
            _ => assert_eq!(erase_at(&*store, user, now, now).await, Erased::Done),
        }
        let found = use_at(&store, number, at(2 * HOUR)).await;
        assert_eq!((found.ended_at, found.credential.0.used_at), (Some(now), at(0)), "{way}");
        let expected = if way == "suspension" { CredentialEnd::Suspended } else { CredentialEnd::Ended };
        assert_eq!(found.principal(at(6)), Err(expected), "{way}");
        assert!(store.revoked_since(now).await.unwrap().sessions.contains(&session), "{way}");
        assert!(!alive(&store, user, at(6)).await.contains(&session), "{way}");
    }
}

/// Sessions with and without cookies share one limit.
pub async fn a_surplus_of_sessions_ends_the_least_recently_used_cookies(store: Arc<dyn Store>) {
    let (store, user, oldest) = browsing(store).await;
    let used = log_in_browser(&store, user, Role::Member, 2, at(1)).await.id;
    use_at(&store, 2, at(HOUR + 1)).await;
    for number in 3..=u8::try_from(Session::MAX_LIVE).unwrap() {
        log_in(&store, user, number, at(i64::from(number))).await;
    }
    assert_eq!(alive(&store, user, at(HOUR)).await.len(), Session::MAX_LIVE);
    log_in_browser(&store, user, Role::Member, 150, at(HOUR + 2)).await;
    let live = alive(&store, user, at(HOUR + 2)).await;
    assert!(live.len() == Session::MAX_LIVE && live.contains(&used) && !live.contains(&oldest), "{live:?}");
    assert_eq!(use_at(&store, 1, at(HOUR + 3)).await.ended_at, Some(at(HOUR + 2)));
}

/// The cookie from before the claim is unknown afterwards, as is that of the session's other kind of secret.
pub async fn a_claim_replaces_the_cookie(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let (user, session) = guest_in_browser(&scenario, 1, at(0)).await;
    let elsewhere = guest(&scenario, 50, at(0)).await.1;
    let by_cookie = GuestClaim {
        secret: cookie(2),
        expires_at: at(5).plus(valid_for()),
        ..claim(&user, &session, "ada@example.com", 9, at(5))
    };
    assert!(matches!(store.claim(&by_cookie).await.unwrap(), Claimed::Done(_)));
    assert_eq!(store.use_cookie(&hash(1), None, valid_for(), at(6)).await.unwrap(), None, "the thief's");
    let found = use_at(&store, 2, at(6)).await;
    assert_eq!((found.credential.0.id, found.owner.role), (session.id, Role::Member));
    assert_eq!((found.credential.0.used_at, found.expires_at()), (at(5), at(5).plus(valid_for())));
    assert_eq!(store.owner(refresh(1)).await.unwrap(), None);
    assert!(store.owner(refresh(50)).await.unwrap().is_some(), "{elsewhere:?}");
}

/// A guest account whose browser has the cookie `hash(number)`.
async fn guest_in_browser(scenario: &Scenario, number: u8, now: Timestamp) -> (User, Session) {
    let (user, session, registered) = create(scenario, number, now).await;
    assert_eq!(registered, Some(Registered::Done));
    (user, session)
}

async fn create(scenario: &Scenario, number: u8, now: Timestamp) -> (User, Session, Option<Registered>) {
    let (id, session) =
        (scenario.ids.next_user().await.unwrap(), scenario.store.next_session().await.unwrap());
    let user = User::guest(id, None, now);
    let session = Session::begin(session, id, ClientInfo::default(), now, valid_for());
    let first = Some((&session, cookie(number)));
    let registered = scenario.store.register(&user, &PasswordHash::none(), first).await.ok();
    (user, session, registered)
}

/// Of simultaneous posts of one form, one creates an account, and nothing of the others remains.
pub async fn simultaneous_guest_accounts_with_one_cookie_are_one(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let created = join_all((0..5).map(|_| {
        let scenario = scenario.clone();
        async move { create(&scenario, 1, at(0)).await }
    }));
    let created = created.await;
    let done: Vec<_> = created.iter().filter(|(.., done)| *done == Some(Registered::Done)).collect();
    let [(user, session, _)] = done.as_slice() else { panic!("{created:?}") };
    assert_eq!(store.owner(cookie(1)).await.unwrap(), Some((user.id, session.id)));
    for (other, ..) in created.iter().filter(|(other, ..)| other.id != user.id) {
        assert!(store.profile(other.id).await.unwrap().is_none());
    }
}

/// A recorded use keeps an account.
pub async fn unused_guest_accounts_are_deleted_with_their_cookies(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let (unused, _) = guest_in_browser(&scenario, 1, at(0)).await;
    let (used, _) = guest_in_browser(&scenario, 2, at(0)).await;
    let day = at(24 * HOUR);
    use_at(&store, 2, day).await;
    assert!(!store.delete_guest(used.id, day).await.unwrap());
    assert!(store.delete_guest(unused.id, day).await.unwrap());
    assert_eq!(store.use_cookie(&hash(1), None, valid_for(), day).await.unwrap(), None);
    assert_eq!(store.owner(cookie(1)).await.unwrap(), None);
    assert!(use_at(&store, 2, day).await.principal(day).is_ok());
}

/// A session is deleted with its cookie some time after its end, and not before.
pub async fn a_purge_deletes_sessions_with_cookies(store: Arc<dyn Store>) {
    let (store, user, session) = browsing(store).await;
    log_in_browser(&store, user, Role::Member, 2, at(0)).await;
    assert!(store.end_session(user, session, at(1)).await.unwrap());
    let gone = at(1).plus(Session::RETENTION);
    store.purge_expired(gone.minus(Duration::SECOND)).await.unwrap();
    assert_eq!(use_at(&store, 1, at(2)).await.ended_at, Some(at(1)));
    store.purge_expired(gone).await.unwrap();
    assert_eq!(store.use_cookie(&hash(1), None, valid_for(), gone).await.unwrap(), None);
    assert!(use_at(&store, 2, gone).await.principal(gone).is_ok());
}
