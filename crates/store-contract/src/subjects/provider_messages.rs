//! Messages of providers that contradict the ledger: each stored once, up to a bound, and resolved once.

use std::sync::Arc;

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::{ProviderMessageId, UserId};
use cuepoint_domain::operation::{Entity, OperationMetadata, Plan, Receipt, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, Recorded, Store};
use cuepoint_domain::provider_message::{
    Contradiction, Excerpt, MessageFilter, MessageRecord, MessageSource, PresentedPayment, ProviderMessage,
    Resolution, WebhookId,
};
use cuepoint_domain::security_log::{SecurityEventFilter, SecurityEventKind};
use time::Duration;

use crate::harness::scenario::{Scenario, at, at_once, key, line};

promises! { ($) provider_messages as provider_messages_promises {
    provider_messages_round_trip,
    a_repeated_message_is_stored_only_once,
    a_message_sent_concurrently_is_stored_once,
    unresolved_messages_are_limited,
    only_concurrent_messages_can_exceed_the_limit,
    messages_are_listed_unresolved_first,
    a_message_can_be_resolved_only_once,
    only_one_of_many_concurrent_resolutions_of_a_message_succeeds,
}}

/// A bound that no test here reaches.
const MAX: u32 = ProviderMessage::MAX_UNRESOLVED;

fn message(source: MessageSource, webhook_id: &str) -> MessageRecord {
    MessageRecord {
        source,
        webhook_id: WebhookId::new(webhook_id).unwrap(),
        kind: Excerpt::of("payout.completed"),
        contradiction: Contradiction::UnknownReference,
        reference: Excerpt::of("0193a5f0-1c2d-7abc-8def-00112233aabb"),
        stated_id: None,
        row: None,
        presented: PresentedPayment::default(),
        received_at: at(1),
    }
}

fn payout(webhook_id: &str) -> MessageRecord {
    message(MessageSource::Payouts, webhook_id)
}

/// A page of the messages that match a filter.
async fn page(scenario: &Scenario, resolved: Option<bool>, page: PageRequest) -> (Vec<ProviderMessage>, u64) {
    let rows = scenario.store.provider_messages(MessageFilter { resolved }, page).await.unwrap();
    (rows.rows, rows.total)
}

/// All messages that match a filter.
async fn listed(scenario: &Scenario, resolved: Option<bool>) -> Vec<ProviderMessage> {
    let (rows, total) = page(scenario, resolved, PageRequest::new(1, 100)).await;
    assert_eq!(u64::try_from(rows.len()).unwrap(), total);
    rows
}

async fn keep(scenario: &Scenario, record: &MessageRecord) -> ProviderMessage {
    assert_eq!(scenario.store.record_message(record, MAX).await.unwrap(), Recorded::Added);
    let kept = listed(scenario, Some(false)).await;
    kept.into_iter().max_by_key(|message| message.id).unwrap()
}

/// The plan of an operator that resolves a message at this time.
fn resolution(scenario: &Scenario, message: &ProviderMessage, operator: UserId, seconds: i64) -> Plan {
    let metadata = scenario.by(operator, at(seconds));
    plans::resolve_message(metadata, message, operator, line("paid back by hand")).unwrap()
}

fn message_of(receipt: &Receipt) -> ProviderMessage {
    match &receipt.outcome.entity {
        Entity::ProviderMessage(message) => message.clone(),
        other => panic!("no message: {other:?}"),
    }
}

/// A message reads back unchanged, at its full length and without its optional fields.
pub async fn provider_messages_round_trip(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let full = MessageRecord {
        source: MessageSource::Topups,
        webhook_id: WebhookId::new(&"~".repeat(255)).unwrap(),
        kind: Excerpt::of(&"é".repeat(100)),
        contradiction: Contradiction::AmountMismatch,
        reference: Excerpt::of(&"é".repeat(100)),
        stated_id: Some(i64::MIN),
        row: Some(i64::MAX),
        presented: PresentedPayment {
            amount: Some(Excerpt::of(&"9".repeat(100))),
            currency: Some(Excerpt::of("a\u{0}b")),
            txid: Some(Excerpt::of(&"\u{1F3B5}".repeat(200))),
        },
        received_at: at(1).plus(Duration::MICROSECOND),
    };
    let later = MessageRecord {
        contradiction: Contradiction::stored("a_code_of_a_newer_version").unwrap(),
        ..payout("1")
    };
    for record in [full, payout("0"), later] {
        let kept = keep(&scenario, &record).await;
        assert_eq!((&kept.record, &kept.resolution), (&record, &None));
        assert_eq!(scenario.stored(kept.id).await, Some(kept));
    }
    let unknown = ProviderMessageId::new(i64::MAX).unwrap();
    assert_eq!(scenario.stored(unknown).await, None);
}

/// A repeated message adds nothing, whatever its content; ids are scoped to their source.
pub async fn a_repeated_message_is_stored_only_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let operator = scenario.guest(0).await;
    let first = keep(&scenario, &payout("1")).await;
    let changed = MessageRecord { reference: Excerpt::of("5"), received_at: at(2), ..payout("1") };
    let record = async |record| scenario.store.record_message(&record, MAX).await.unwrap();
    assert_eq!(record(payout("1")).await, Recorded::Known);
    assert_eq!(record(changed).await, Recorded::Known);
    assert_eq!(listed(&scenario, None).await, std::slice::from_ref(&first));
    assert_eq!(record(message(MessageSource::Topups, "1")).await, Recorded::Added);
    assert_eq!(record(payout("2")).await, Recorded::Added);
    scenario.fresh(resolution(&scenario, &first, operator, 3)).await;
    assert_eq!(record(payout("1")).await, Recorded::Known, "it is known after it was resolved");
    assert_eq!(listed(&scenario, None).await.len(), 3);
}

/// Of one message that arrives many times concurrently, one is stored.
pub async fn a_message_sent_concurrently_is_stored_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let answers = at_once((0..32).map(|number: i32| {
        let (scenario, record) = (scenario.clone(), payout(&(number % 2).to_string()));
        async move { scenario.store.record_message(&record, MAX).await.unwrap() }
    }))
    .await;
    assert_eq!(answers.iter().filter(|answer| **answer == Recorded::Added).count(), 2, "{answers:?}");
    assert!(!answers.contains(&Recorded::NotKept), "{answers:?}");
    assert_eq!(listed(&scenario, None).await.len(), 2);
}

/// At the bound of unresolved messages, no more are stored until one is resolved; a known message stays
/// known.
pub async fn unresolved_messages_are_limited(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let operator = scenario.guest(0).await;
    let record = async |id: &str| scenario.store.record_message(&payout(id), 2).await.unwrap();
    assert_eq!([record("1").await, record("2").await], [Recorded::Added, Recorded::Added]);
    assert_eq!([record("3").await, record("2").await], [Recorded::NotKept, Recorded::Known]);
    assert_eq!(scenario.store.unresolved_messages().await.unwrap(), 2);
    let oldest = listed(&scenario, None).await.pop().unwrap();
    scenario.fresh(resolution(&scenario, &oldest, operator, 2)).await;
    assert_eq!(scenario.store.unresolved_messages().await.unwrap(), 1);
    assert_eq!([record("3").await, record("4").await], [Recorded::Added, Recorded::NotKept]);
    assert_eq!(scenario.store.record_message(&payout("4"), 0).await.unwrap(), Recorded::NotKept);
    assert_eq!(listed(&scenario, None).await.len(), 3);
}

/// The bound is exceeded by at most the number of messages recorded concurrently.
pub async fn only_concurrent_messages_can_exceed_the_limit(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (most, crowd) = (20, 8);
    for round in 0..10 {
        at_once((0..crowd).map(|number| {
            let (scenario, record) = (scenario.clone(), payout(&format!("{round}-{number}")));
            async move { scenario.store.record_message(&record, most).await.unwrap() }
        }))
        .await;
    }
    let kept = scenario.store.unresolved_messages().await.unwrap();
    assert!((u64::from(most)..u64::from(most) + crowd).contains(&kept), "{kept}");
}

/// Unresolved messages come first, then resolved ones, each group by id descending, in pages and by a filter.
pub async fn messages_are_listed_unresolved_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let operator = scenario.guest(0).await;
    let mut kept = Vec::new();
    for number in 0..7 {
        // The order is independent of their times.
        let record = MessageRecord { received_at: at(9 - number), ..payout(&number.to_string()) };
        kept.push(keep(&scenario, &record).await);
    }
    for place in [5, 0, 3] {
        let receipt = scenario.fresh(resolution(&scenario, &kept[place], operator, 20)).await;
        kept[place] = message_of(&receipt);
    }
    let of = |places: &[usize]| places.iter().map(|place| kept[*place].clone()).collect::<Vec<_>>();
    let all = of(&[6, 4, 2, 1, 5, 3, 0]);
    assert_eq!(listed(&scenario, None).await, all);
    assert_eq!(listed(&scenario, Some(false)).await, of(&[6, 4, 2, 1]));
    assert_eq!(listed(&scenario, Some(true)).await, of(&[5, 3, 0]));
    assert_eq!(page(&scenario, None, PageRequest::new(2, 3)).await, (all[3..6].to_vec(), 7));
    assert_eq!(page(&scenario, None, PageRequest::new(u64::MAX, 3)).await, (Vec::new(), 7));
}

/// A message is resolved once, with an event in the same commit, and no wallet changes; the repeated plan
/// gets its first receipt, and a second resolution is stale.
pub async fn a_message_can_be_resolved_only_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let operator = scenario.guest(100).await;
    let before = scenario.balance(operator).await;
    let kept = keep(&scenario, &payout("1")).await;
    let keyed = |plan: Plan| {
        let metadata = OperationMetadata { key: Some(key(operator, "k", "body")), ..plan.metadata().clone() };
        plans::resolve_message(metadata, &kept, operator, line("paid back by hand")).unwrap()
    };
    let plan = keyed(resolution(&scenario, &kept, operator, 2));
    let receipt = scenario.fresh(plan.clone()).await;
    let resolved = message_of(&receipt);
    let expected = Resolution { at: at(2), by: operator, reason: line("paid back by hand") };
    assert_eq!(resolved, ProviderMessage { resolution: Some(expected), ..kept.clone() });
    assert_eq!(scenario.stored(kept.id).await, Some(resolved.clone()));
    assert_eq!(scenario.apply(plan).await, Ok(Applied::Replayed(receipt.clone())));
    let same_key = keyed(resolution(&scenario, &kept, operator, 3));
    assert_eq!(scenario.apply(same_key).await, Ok(Applied::Replayed(receipt)));
    let again = resolution(&scenario, &kept, operator, 4);
    assert_eq!(scenario.apply(again).await, Err(Rejection::Stale));
    assert_eq!(scenario.stored(kept.id).await, Some(resolved));
    assert_eq!(scenario.balance(operator).await, before);
    let events =
        scenario.store.events(SecurityEventFilter::default(), PageRequest::new(1, 10)).await.unwrap().rows;
    let [(_, event)] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(
        (event.kind, event.actor, event.at),
        (SecurityEventKind::OperatorAction, Some(operator), at(2))
    );
    let detail =
        format!("resolve_message: provider message {} unresolved → resolved: paid back by hand", kept.id);
    assert_eq!(event.detail, Some(line(&detail)));

    let missing = ProviderMessage { id: ProviderMessageId::new(i64::MAX).unwrap(), ..kept };
    let plan = resolution(&scenario, &missing, operator, 5);
    assert_eq!(scenario.apply(plan).await, Err(Rejection::Missing(EntityKind::ProviderMessage)));
}

/// Of many operators who resolve one message concurrently, one succeeds.
pub async fn only_one_of_many_concurrent_resolutions_of_a_message_succeeds(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let kept = keep(&scenario, &payout("1")).await;
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let operator = scenario.guest(0).await;
        let (scenario, plan) = (scenario.clone(), resolution(&scenario, &kept, operator, 2));
        tasks.push(async move { scenario.apply(plan).await });
    }
    let answers = at_once(tasks).await;
    let done: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
    let [Applied::Fresh(receipt)] = done.as_slice() else { panic!("{answers:?}") };
    assert_eq!(answers.iter().filter(|answer| **answer == Err(Rejection::Stale)).count(), 7);
    assert_eq!(scenario.stored(kept.id).await, Some(message_of(receipt)));
}
