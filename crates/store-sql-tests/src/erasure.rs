//! An erased user leaves no identifying text in any column of any table.

use std::net::IpAddr;

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{EndpointAddition, Erased, PasswordHash, Registered, Store};
use cuepoint_domain::security_log::{SecurityEvent, SecurityEventFilter, SecurityEventKind};
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::session::{ClientInfo, Session, SessionSecret, TokenHash};
use cuepoint_domain::user::{Field, Kilometres, Locate, ProfileChange, User, UserStatusChange};
use cuepoint_domain::webhook::{EndpointUrl, NewEndpoint, SealedSecret};
use time::Duration;

use crate::SqlFixture;
use crate::fixtures::{erase, guest, metadata, now};

/// Texts that identify Ada.
const PERSONAL_TEXTS: [&str; 10] = [
    "lovelace",
    "countess",
    "ada@",
    "+442079460000",
    "Marylebone",
    "Middlesex",
    "England",
    "51.51",
    "argon2-of-ada",
    "AdaBrowser",
];

fn line(text: &str) -> Line {
    Line::new(text).unwrap()
}

fn client_info() -> ClientInfo {
    ClientInfo { address: Some(IpAddr::from([192, 0, 2, 77])), agent: Some(line("AdaBrowser/1")) }
}

/// Registers Ada with a session, and performs every operation that stores data identifying Ada.
async fn live(store: &dyn Store) -> UserId {
    let (id, session) = (store.next_user().await.unwrap(), store.next_session().await.unwrap());
    let email = Email::new("Ada@Lovelace.example").unwrap();
    let user = User::registered(id, line("Ada Lovelace"), email, Some(line("+442079460000")), true, now());
    let session = Session::begin(session, id, client_info(), now(), Duration::days(1));
    let first = Some((&session, SessionSecret::RefreshToken(TokenHash([1; 32]))));
    let registered = store.register(&user, &PasswordHash("argon2-of-ada".to_owned()), first).await.unwrap();
    assert_eq!(registered, Registered::Done);
    let set = |text: &str| Field::Set(Some(line(text)));
    let change = ProfileChange {
        name: Field::Set(line("Countess of Lovelace")),
        city: set("Marylebone"),
        state: set("Middlesex"),
        country: set("England"),
        place: Locate { latitude: Field::Set(Some(51.51)), longitude: Field::Set(Some(-0.15)) },
        radius: Field::Set(Kilometres::new(7.5)),
        ..ProfileChange::default()
    };
    let key =
        IdempotencyKey { scope: KeyScope::of(id, "PATCH", "/user", "k"), fingerprint: Fingerprint::of(b"") };
    let keyed = OperationMetadata { key: Some(key), ..metadata(store, id) };
    store.apply(plans::change_profile(keyed, id, change)).await.unwrap();
    let operator = guest(store, 0).await;
    for change in [UserStatusChange::Suspend, UserStatusChange::Restore] {
        let metadata = OperationMetadata { reason: Some(line("a reason")), ..metadata(store, operator) };
        store.apply(plans::change_user_status(metadata, id, change)).await.unwrap();
    }
    // Members have no wallet link.
    for purpose in Purpose::all().filter(|purpose| *purpose != Purpose::WalletLink) {
        let hash = TokenHash([2; 32]);
        let challenge = Challenge::issue(&user, purpose, hash, now());
        let moving = || Challenge::moving(id, purpose, user.email.clone(), hash, now());
        store.issue(&challenge.unwrap_or_else(moving), None).await.unwrap();
    }
    store.block(id, operator, now()).await.unwrap();
    let endpoint = NewEndpoint {
        owner: id,
        session: None,
        key: None,
        feed: Feed::Own,
        url: EndpointUrl::new("https://lovelace.example/hook").unwrap(),
        types: None,
        description: Some(line("for the Countess")),
        secret: SealedSecret("sealed".to_owned()),
        at: now(),
    };
    let endpoint_id = store.next_webhook_endpoint().await.unwrap();
    let added = store.add_endpoint(endpoint_id, &endpoint).await.unwrap();
    assert!(matches!(added, EndpointAddition::Added(_)));
    let event = SecurityEvent::about(SecurityEventKind::LoggedIn, Some(id), client_info(), now());
    store.append(&event).await.unwrap();
    id
}

/// The columns that contain a text, ignoring case. Searches all columns of texts, documents and numbers with a
/// fraction, except the columns of the security log.
async fn places(database: &dyn SqlFixture, text: &str) -> Vec<String> {
    let columns = database.texts(database.text_columns()).await;
    assert!(columns.len() > 20, "{columns:?}");
    let mut places = Vec::new();
    for place in columns.into_iter().filter(|place| !place.starts_with("security_events.")) {
        let (table, column) = place.split_once('.').unwrap();
        let query = format!(
            "SELECT count(*) FROM {table} WHERE lower(CAST({column} AS TEXT)) LIKE lower('%{text}%')"
        );
        if database.number(&query).await > 0 {
            places.push(place);
        }
    }
    places
}

/// Covers rows and receipts. The security log keeps its events.
pub async fn an_erasure_leaves_no_personal_data(database: &dyn SqlFixture) {
    let store = database.store();
    let id = live(store).await;
    for text in PERSONAL_TEXTS.into_iter().chain(["192.0.2.77"]) {
        assert!(!places(database, text).await.is_empty(), "{text} was never there");
    }
    // Before this time, the previous address can be restored, which prevents the erasure.
    let late = now().plus(Purpose::EmailRestore.valid_for());
    assert_eq!(erase(store, id, late, late).await.unwrap(), Erased::Done);
    for text in PERSONAL_TEXTS.into_iter().chain(["192.0.2.77"]) {
        assert_eq!(places(database, text).await, Vec::<String>::new(), "{text}");
    }
    let about = SecurityEventFilter { user: Some(id), kind: None };
    let events = store.events(about, PageRequest::new(1, 15)).await.unwrap();
    assert_eq!(events.total, 3, "the security log keeps what it has");
    assert_eq!(events.rows.first().map(|(_, event)| event.client.clone()), Some(client_info()));
}

/// A receipt from before suspensions existed is read as one of a user who was never suspended.
pub async fn receipts_of_older_versions_can_be_read(database: &dyn SqlFixture) {
    let store = database.store();
    let user = guest(store, 0).await;
    let plan = plans::change_profile(metadata(store, user), user, ProfileChange::default());
    let first = store.apply(plan.clone()).await.unwrap();
    let keys = "SELECT count(*) FROM operations WHERE CAST(receipt AS TEXT) LIKE '%suspended_at%'";
    assert_eq!(database.number(keys).await, 1);
    database.remove_constraints().await;
    database
        .execute(
            "UPDATE operations SET receipt = \
            {without profile.user.suspended_at profile.user.standing_at profile.user.erased_at}",
        )
        .await;
    assert_eq!(database.number(keys).await, 0);
    assert_eq!(store.apply(plan).await.unwrap().receipt(), first.receipt());
}
