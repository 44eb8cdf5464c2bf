//! An erased user leaves no identifying text in any column of any table.

use std::net::IpAddr;

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{
    Blocks, EndpointAddition, Erased, Ids, Ledger, Logins, PasswordHash, People, Registered, SecurityLog,
    WebhookEndpoints,
};
use cuepoint_domain::security_log::{SecurityEvent, SecurityEventFilter, SecurityEventKind};
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::session::{ClientInfo, Session, TokenHash};
use cuepoint_domain::user::{Field, Kilometres, Locate, ProfileChange, User, UserStatusChange};
use cuepoint_domain::webhook::{EndpointUrl, NewEndpoint, SealedSecret};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::prelude::*;
use diesel::sql_types::Text;
use time::Duration;

use crate::fixtures::{guest, metadata, now, number, open};

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

/// Registers Ada with a session, and performs every operation that stores identifying data of hers.
async fn live(store: &SqliteStore) -> UserId {
    let (id, session) = (store.next_user().await.unwrap(), store.next_session().await.unwrap());
    let email = Email::new("Ada@Lovelace.example").unwrap();
    let user = User::registered(id, line("Ada Lovelace"), email, Some(line("+442079460000")), true, now());
    let session = Session::begin(session, id, client_info(), now(), Duration::days(1));
    let first = Some((&session, TokenHash([1; 32])));
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
    for purpose in Purpose::all() {
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

/// The columns that contain a text, ignoring case, among all columns of texts and numbers with a fraction of
/// all tables except the security log.
fn places(connection: &mut SqliteConnection, text: &str) -> Vec<String> {
    let columns = "SELECT t.name || '.' || c.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c \
        WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%' \
        AND t.name NOT IN ('security_events', '__diesel_schema_migrations') AND c.type IN ('TEXT', 'REAL')";
    let columns: Vec<String> = diesel::dsl::sql::<Text>(columns).load(connection).unwrap();
    assert!(columns.len() > 50, "{columns:?}");
    let mut places = Vec::new();
    for place in columns {
        let (table, column) = place.split_once('.').unwrap();
        let held = format!("SELECT count(*) FROM {table} WHERE instr(lower({column}), lower('{text}')) > 0");
        if number(connection, &held) > 0 {
            places.push(place);
        }
    }
    places
}

#[tokio::test(flavor = "multi_thread")]
async fn no_personal_data_is_left_after_an_erasure() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let (id, mut connection) = (live(&store).await, directory.connection());
    for text in PERSONAL_TEXTS.into_iter().chain(["192.0.2.77"]) {
        assert!(!places(&mut connection, text).is_empty(), "{text} was never there");
    }
    // Until then, the account has a restorable address.
    let late = now().plus(Purpose::EmailRestore.valid_for());
    assert_eq!(store.erase(id, late, late).await.unwrap(), Erased::Done);
    for text in PERSONAL_TEXTS.into_iter().chain(["192.0.2.77"]) {
        assert_eq!(places(&mut connection, text), Vec::<String>::new(), "{text}");
    }
    let about = SecurityEventFilter { user: Some(id), kind: None };
    let events = store.events(about, PageRequest::new(1, 15)).await.unwrap();
    assert_eq!(events.total, 3, "the security log keeps what it has");
    assert_eq!(events.rows.first().map(|(_, event)| event.client.clone()), Some(client_info()));
}

/// A receipt from before suspensions existed is read as one of a user who was never suspended.
#[tokio::test(flavor = "multi_thread")]
async fn receipts_of_earlier_versions_can_be_read() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 0).await;
    let plan = plans::change_profile(metadata(&store, user), user, ProfileChange::default());
    let first = store.apply(plan.clone()).await.unwrap();
    let mut connection = directory.connection();
    diesel::sql_query("DROP TRIGGER operations_are_never_changed").execute(&mut connection).unwrap();
    let older = "UPDATE operations SET receipt = json_remove(receipt, '$.profile.user.suspended_at', \
        '$.profile.user.standing_at', '$.profile.user.erased_at')";
    assert_eq!(diesel::sql_query(older).execute(&mut connection).unwrap(), 1);
    assert_eq!(store.apply(plan).await.unwrap().receipt(), first.receipt());
}
