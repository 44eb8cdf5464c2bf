//! Registrations, logins, refreshes, blocks and new webhook endpoints with a lost COMMIT or a lost reply to it: the
//! transaction is repeated, and recognizes its own earlier commit as success.

use std::time::{Duration, Instant};

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::operation::KeyScope;
use cuepoint_domain::ports::{
    BeginOutcome, Blocks, EndpointAddition, ExchangeOutcome, Ids, Logins, PasswordHash, People, Registered,
    Sessions, WebhookEndpoints,
};
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::user::User;
use cuepoint_domain::user::session::{Candidates, ClientInfo, Session, SessionSecret, TokenHash};
use cuepoint_domain::webhook::{EndpointUrl, NewEndpoint, PresentedCreation, SealedSecret};
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use time::Duration as Span;

use crate::proxy::{Proxy, ProxyMode};
use crate::scenario::{client, guest, now, open};

/// The ways in which the outcome of a COMMIT becomes unknown.
const LOSSES: [ProxyMode; 3] =
    [ProxyMode::LosesCommit, ProxyMode::LosesCommitAnswer, ProxyMode::HoldsCommitAnswer];

struct Scene {
    database: TestDatabase,
    proxy: Proxy,
    store: PostgresStore,
}

impl Scene {
    async fn set() -> Self {
        let database = TestDatabase::create().await;
        let proxy = Proxy::before(database.url()).await;
        let store = open(&proxy.url(database.url())).await;
        Self { database, proxy, store }
    }

    /// The number of rows in this table and condition.
    async fn count(&self, what: &str) -> i64 {
        let statement = format!("SELECT count(*) FROM {what}");
        client(self.database.url()).await.query_one(&statement, &[]).await.unwrap().get(0)
    }

    /// A session of this user that begins now.
    async fn session(&self, user: UserId) -> Session {
        let id: SessionId = self.store.next_session().await.unwrap();
        Session::begin(id, user, ClientInfo::default(), now(), Span::days(30))
    }

    /// Registers a user in this state of the network, and returns the session that should begin with the result.
    async fn register(&self, token: u8, mode: ProxyMode) -> (Session, Registered) {
        let id = self.store.next_user().await.unwrap();
        let email = Email::new("ada@example.com").unwrap();
        let user = User::registered(id, Line::new("Ada").unwrap(), email, None, false, now());
        let session = self.session(id).await;
        self.proxy.turn(mode);
        let first = Some((&session, refresh(token)));
        let registered = self.store.register(&user, &PasswordHash("hash".to_owned()), first).await.unwrap();
        (session, registered)
    }
}

fn refresh(number: u8) -> SessionSecret {
    SessionSecret::RefreshToken(hash(number))
}

fn hash(number: u8) -> TokenHash {
    TokenHash([number; 32])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_with_an_unknown_commit_outcome_adds_one_user() {
    for loss in LOSSES {
        let scene = Scene::set().await;
        let (Session { id: session, user: id, .. }, registered) = scene.register(1, loss).await;
        assert_eq!(registered, Registered::Done, "{loss:?}");
        assert_eq!(scene.count(&format!("users WHERE id = {id}")).await, 1, "{loss:?}");
        assert_eq!(scene.count(&format!("wallets WHERE user_id = {id}")).await, 1, "{loss:?}");
        assert_eq!(scene.count(&format!("sessions WHERE id = {session}")).await, 1, "{loss:?}");
        assert_eq!(scene.count("refresh_tokens").await, 1, "{loss:?}");
        assert_eq!(scene.store.owner(refresh(1)).await.unwrap(), Some((id, session)), "{loss:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_with_an_unknown_commit_outcome_starts_one_session() {
    for loss in LOSSES {
        let scene = Scene::set().await;
        let user = guest(&scene.store, 0).await;
        let password = scene.store.credentials_of(user).await.unwrap().unwrap().password;
        let session = scene.session(user).await;
        scene.proxy.turn(loss);
        let begun = scene.store.begin(&session, refresh(1), &password).await.unwrap();
        assert_eq!(begun, BeginOutcome::Done, "{loss:?}");
        assert_eq!(scene.count("sessions").await, 1, "{loss:?}");
        assert_eq!(scene.count("refresh_tokens").await, 1, "{loss:?}");
        assert_eq!(scene.store.owner(refresh(1)).await.unwrap(), Some((user, session.id)), "{loss:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_with_an_unknown_commit_outcome_keeps_one_successor() {
    for loss in LOSSES {
        let scene = Scene::set().await;
        let user = guest(&scene.store, 0).await;
        let password = scene.store.credentials_of(user).await.unwrap().unwrap().password;
        let session = scene.session(user).await;
        assert_eq!(scene.store.begin(&session, refresh(1), &password).await.unwrap(), BeginOutcome::Done);
        let (successors, end) = (Candidates { current: hash(2), others: Vec::new() }, session.expires_at);
        scene.proxy.turn(loss);
        let exchanged = scene.store.exchange(&hash(1), &successors, None, end, now()).await.unwrap();
        let expected = match loss {
            ProxyMode::LosesCommit => ExchangeOutcome::Done(user, session.id),
            _ => ExchangeOutcome::Repeated(user, session.id, hash(2)),
        };
        assert_eq!(exchanged, expected, "{loss:?}");
        assert_eq!(scene.count("sessions WHERE ended_at IS NULL").await, 1, "{loss:?}");
        assert_eq!(scene.count("refresh_tokens").await, 2, "{loss:?}");
        let next = Candidates { current: hash(3), others: Vec::new() };
        let exchanged = scene.store.exchange(&hash(2), &next, None, end, now()).await.unwrap();
        assert_eq!(exchanged, ExchangeOutcome::Done(user, session.id), "{loss:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_with_an_unknown_commit_outcome_is_stored_once() {
    for loss in LOSSES {
        let scene = Scene::set().await;
        let (dj, guest) = (guest(&scene.store, 0).await, guest(&scene.store, 0).await);
        let at = now();
        scene.proxy.turn(loss);
        let block = scene.store.block(dj, guest, at).await.unwrap();
        assert_eq!(block.map(|block| (block.guest, block.at)), Some((guest, at)), "{loss:?}");
        assert_eq!(scene.count("blocks").await, 1, "{loss:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_creation_with_an_unknown_commit_outcome_adds_one_endpoint() {
    for loss in LOSSES {
        let scene = Scene::set().await;
        let owner = guest(&scene.store, 0).await;
        let id = scene.store.next_webhook_endpoint().await.unwrap();
        let bodies = Candidates { current: hash(1), others: Vec::new() };
        let new = NewEndpoint {
            owner,
            session: None,
            key: Some(PresentedCreation { scope: KeyScope([1; 32]), bodies }),
            feed: Feed::Own,
            url: EndpointUrl::new("https://example.com").unwrap(),
            types: None,
            description: None,
            secret: SealedSecret("sealed".to_owned()),
            at: now(),
        };
        scene.proxy.turn(loss);
        let added = scene.store.add_endpoint(id, &new).await.unwrap();
        let (EndpointAddition::Added(endpoint) | EndpointAddition::Known(endpoint)) = added else {
            panic!("{loss:?}: {added:?}")
        };
        assert_eq!(endpoint.id, id, "{loss:?}");
        assert_eq!(scene.count("webhook_endpoints").await, 1, "{loss:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registration_of_a_taken_email_is_not_mistaken_for_a_repetition() {
    let scene = Scene::set().await;
    assert_eq!(scene.register(1, ProxyMode::Fair).await.1, Registered::Done);
    assert_eq!(scene.register(2, ProxyMode::LosesCommitAnswer).await.1, Registered::EmailTaken);
    assert_eq!(scene.count("users").await, 1);
    assert_eq!(scene.count("refresh_tokens").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_during_an_outage_times_out_and_can_be_repeated() {
    let scene = Scene::set().await;
    let user = guest(&scene.store, 0).await;
    let password = scene.store.credentials_of(user).await.unwrap().unwrap().password;
    let session = scene.session(user).await;
    for mode in [ProxyMode::Cut, ProxyMode::Silent] {
        scene.proxy.turn(mode);
        let start = Instant::now();
        assert!(scene.store.begin(&session, refresh(1), &password).await.is_err(), "{mode:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{mode:?}: {:?}", start.elapsed());
    }
    scene.proxy.turn(ProxyMode::Fair);
    assert_eq!(scene.store.begin(&session, refresh(1), &password).await.unwrap(), BeginOutcome::Done);
}
