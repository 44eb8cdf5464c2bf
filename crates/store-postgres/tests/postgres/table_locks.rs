//! The table locks of plans, and of the proof that plans can be committed.

use cuepoint_domain::gig::{AssignedCode, DjCode};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{
    Addressee, MusicRequest, NewRequest, RequestState, RequestTerms, Stars,
};
use cuepoint_domain::operation::{
    Entity, Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, Plan, Step, plans,
};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Gigs, Ids, Ledger, People, ProviderMessages, Recorded};
use cuepoint_domain::provider_message::{
    Contradiction, Excerpt, MessageFilter, MessageRecord, MessageSource, PresentedPayment, WebhookId,
};
use cuepoint_domain::text::{Line, ShortMessage};
use cuepoint_domain::tip::{TipTerms, TippedDj};
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::{ArtistType, Field, ProfileChange, UserStatusChange};
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use cuepoint_store_sql::LockedTable;

use crate::scenario::{amount, guest, metadata, new_gig, now, open, request, usd, withdrawal};

/// A plan that resolves a new provider message.
async fn resolution(store: &PostgresStore, operator: UserId) -> Plan {
    let record = MessageRecord {
        source: MessageSource::Payouts,
        webhook_id: WebhookId::new("message-1").unwrap(),
        kind: Excerpt::of("payout.completed"),
        contradiction: Contradiction::UnknownReference,
        reference: Excerpt::of("unknown"),
        stated_id: None,
        row: None,
        presented: PresentedPayment::default(),
        received_at: now(),
    };
    assert_eq!(store.record_message(&record, 10).await.unwrap(), Recorded::Added);
    let unresolved = MessageFilter { resolved: Some(false) };
    let messages = store.provider_messages(unresolved, PageRequest::new(1, 1)).await.unwrap();
    let reason = Line::new("paid back by hand").unwrap();
    plans::resolve_message(metadata(store, operator), &messages.rows[0], operator, reason).unwrap()
}

/// A plan that opens a gig under a new code.
async fn opening(store: &PostgresStore, dj: UserId, code: &str) -> Plan {
    let code = AssignedCode { code: DjCode::new(code).unwrap(), dj, at: now() };
    plans::open_gig(metadata(store, dj), store.next_gig().await.unwrap(), code, true, new_gig()).unwrap()
}

/// A plan that opens a request in a gig with a dedication.
async fn dedicated(store: &PostgresStore, guest: UserId, dj: UserId) -> Plan {
    let stored = store.profile(dj).await.unwrap().unwrap().user;
    let gig = store.open_gig(dj).await.unwrap().map(|gig| gig.request_terms());
    let new = NewRequest {
        dj,
        song_title: Line::new("Blue Monday").unwrap(),
        artist_name: Line::new("New Order").unwrap(),
        artist_type: ArtistType::Popular,
        music_url: None,
        fee: None,
        message: Some(ShortMessage::new("for Grace").unwrap()),
    };
    let to = Addressee { gig, ..Addressee::of(Some(&stored)) };
    let id = store.next_request().await.unwrap();
    plans::open_request(metadata(store, guest), id, guest, to, new, &RequestTerms::default()).unwrap()
}

/// A group with plans for every table.
async fn group(store: &PostgresStore) -> Vec<Plan> {
    let (user, dj, operator) = (guest(store, 100_00).await, guest(store, 0).await, guest(store, 0).await);
    let key = IdempotencyKey { scope: KeyScope([1; 32]), fingerprint: Fingerprint([2; 32]) };
    let keyed = OperationMetadata { key: Some(key), ..metadata(store, user) };
    let topup = store.next_topup().await.unwrap();
    let reason = Some(Line::new("a reason").unwrap());
    let suspension = OperationMetadata { reason, ..metadata(store, operator) };
    let becoming_dj = ProfileChange { is_dj: Field::Set(true), ..ProfileChange::default() };
    store.apply(plans::change_profile(metadata(store, dj), dj, becoming_dj)).await.unwrap();
    let other = guest(store, 100_00).await;
    let asked = request(store, other, dj).await;
    store.apply(asked.clone()).await.unwrap();
    let Step::Open(Entity::MusicRequest(asked)) = asked.step() else { panic!("{asked:?}") };
    let state = RequestState::Played { at: now(), commission: Money::ZERO };
    let played = MusicRequest { state, ..asked.clone() };
    let gig = opening(store, dj, "K7TW3M").await;
    store.apply(gig.clone()).await.unwrap();
    let Step::Open(Entity::Gig(gig)) = gig.step() else { panic!("{gig:?}") };
    let (tip, to) = (store.next_tip().await.unwrap(), TippedDj { gig, blocks_guest: false });
    let terms = TipTerms::default();
    let next_dj = guest(store, 0).await;
    let becoming_dj = ProfileChange { is_dj: Field::Set(true), ..ProfileChange::default() };
    store.apply(plans::change_profile(metadata(store, next_dj), next_dj, becoming_dj)).await.unwrap();
    vec![
        dedicated(store, other, dj).await,
        plans::tip(metadata(store, other), tip, other, to, amount(1_00), &terms).unwrap(),
        plans::end_gig(metadata(store, dj), gig),
        opening(store, next_dj, "B2C3D4").await,
        plans::rate_request(metadata(store, other), &played, None, Stars::new(5).unwrap()).unwrap(),
        plans::open_topup(keyed, topup, user, amount(1_00), Charge::Confirmed),
        request(store, user, dj).await,
        withdrawal(store, user, 5_00, "T1").await,
        resolution(store, operator).await,
        plans::change_user_status(suspension, user, UserStatusChange::Suspend),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_readiness_check_takes_the_same_table_locks_as_plans() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let plans = group(&store).await;
    let locked_by_plans = database.tables_locked_by(&plans, &usd()).await.unwrap();
    for table in LockedTable::in_lock_order() {
        assert!(locked_by_plans.contains(table.name), "{table:?}: {locked_by_plans:?}");
    }
    let locked_by_proof = database.tables_locked_by(&[], &usd()).await.unwrap();
    assert_eq!(locked_by_proof, locked_by_plans);
}
