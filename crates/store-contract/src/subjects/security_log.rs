//! The security log: all added events in order, including those of operators' changes.

use std::sync::Arc;

use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Entity, OperationMetadata, Step, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::security_log::{SecurityEvent, SecurityEventFilter, SecurityEventKind};
use cuepoint_domain::text::Line;
use cuepoint_domain::user::session::ClientInfo;
use cuepoint_domain::user::{Role, UserStatusChange};
use time::Duration;

use crate::harness::scenario::{Scenario, at, at_once, key, line};

promises! { ($) security_log as security_log_promises {
    security_events_round_trip_and_the_last_added_is_listed_first,
    security_events_are_filtered_by_user_and_kind,
    concurrently_added_security_events_are_all_stored,
    each_operator_change_with_a_reason_records_one_security_event,
    an_operator_change_sent_concurrently_records_one_security_event,
    a_purge_deletes_security_events_older_than_a_year,
}}

/// The events that match a filter, newest first, on one page.
async fn events(scenario: &Scenario, filter: SecurityEventFilter) -> Vec<SecurityEvent> {
    let rows = scenario.store.events(filter, PageRequest::new(1, 100)).await.unwrap();
    assert_eq!(u64::try_from(rows.rows.len()).unwrap(), rows.total);
    let numbers: Vec<i64> = rows.rows.iter().map(|(number, _)| *number).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] > pair[1]) && numbers.iter().all(|number| *number > 0));
    rows.rows.into_iter().map(|(_, event)| event).collect()
}

fn about(user: UserId) -> SecurityEventFilter {
    SecurityEventFilter { user: Some(user), kind: None }
}

/// Events read back unchanged, the last added first, regardless of their times, in pages.
pub async fn security_events_round_trip_and_the_last_added_is_listed_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, actor) = (scenario.guest(0).await, scenario.guest(0).await);
    let client = ClientInfo { address: Some("2001:db8::ff".parse().unwrap()), agent: Some(line("cürl/8")) };
    let full = SecurityEvent {
        kind: SecurityEventKind::AccessDenied,
        user: Some(user),
        actor: Some(actor),
        session: Some(scenario.ids.next_session().await.unwrap()),
        client,
        detail: Some(Line::from_stored("é".repeat(1_024))),
        at: at(9).plus(Duration::MICROSECOND),
    };
    let mut added = vec![full];
    for (seconds, kind) in (0..).zip(SecurityEventKind::all()) {
        added.push(SecurityEvent::about(kind, None, ClientInfo::default(), at(-seconds)));
    }
    for event in &added {
        scenario.store.append(event).await.unwrap();
    }
    added.reverse();
    assert_eq!(events(&scenario, SecurityEventFilter::default()).await, added);
    let second = scenario.store.events(SecurityEventFilter::default(), PageRequest::new(2, 5)).await.unwrap();
    assert_eq!(second.rows.into_iter().map(|(_, event)| event).collect::<Vec<_>>(), added[5..10]);
    let beyond =
        scenario.store.events(SecurityEventFilter::default(), PageRequest::new(u64::MAX, 5)).await.unwrap();
    assert_eq!((beyond.rows.len(), beyond.total), (0, u64::try_from(added.len()).unwrap()));
}

/// Events are filtered by user, by kind, or by both.
pub async fn security_events_are_filtered_by_user_and_kind(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (ada, bob) = (scenario.guest(0).await, scenario.guest(0).await);
    let mut added = Vec::new();
    for (user, kind) in [
        (Some(ada), SecurityEventKind::LoggedIn),
        (Some(bob), SecurityEventKind::LoggedIn),
        (None, SecurityEventKind::LoginFailed),
        (Some(ada), SecurityEventKind::LoginFailed),
    ] {
        let event = SecurityEvent::about(kind, user, ClientInfo::default(), at(1));
        scenario.store.append(&event).await.unwrap();
        added.push(event);
    }
    let of = |places: &[usize]| places.iter().map(|place| added[*place].clone()).collect::<Vec<_>>();
    let kind = |kind| SecurityEventFilter { user: None, kind: Some(kind) };
    assert_eq!(events(&scenario, about(ada)).await, of(&[3, 0]));
    assert_eq!(events(&scenario, kind(SecurityEventKind::LoginFailed)).await, of(&[3, 2]));
    let both = SecurityEventFilter { user: Some(ada), kind: Some(SecurityEventKind::LoggedIn) };
    assert_eq!(events(&scenario, both).await, of(&[0]));
    assert_eq!(events(&scenario, kind(SecurityEventKind::DataErased)).await, []);
}

/// Concurrently added events are all stored.
pub async fn concurrently_added_security_events_are_all_stored(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = scenario.guest(0).await;
    let tasks = (0..50).map(|seconds| {
        let scenario = scenario.clone();
        let event = SecurityEvent::about(
            SecurityEventKind::LoginFailed,
            Some(user),
            ClientInfo::default(),
            at(seconds),
        );
        async move { scenario.store.append(&event).await.unwrap() }
    });
    at_once(tasks).await;
    let mut times: Vec<_> = events(&scenario, about(user)).await.into_iter().map(|event| event.at).collect();
    times.sort_unstable();
    assert_eq!(times, (0..50).map(at).collect::<Vec<_>>());
}

/// An operator's change with a reason is an event in the same commit; a repeated or refused one, or one
/// without a reason, is not.
pub async fn each_operator_change_with_a_reason_records_one_security_event(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, operator) = (scenario.guest(100).await, scenario.guest(0).await);
    let session = scenario.ids.next_session().await.unwrap();
    let caller = Principal { user: operator, role: Role::Operator, is_dj: false, session };
    let client = ClientInfo { address: Some("2001:db8::ff".parse().unwrap()), agent: Some(line("cürl/8")) };
    let metadata = || {
        let key = Some(key(operator, "k", "body"));
        let called = OperationMetadata::called(&caller, client.clone(), scenario.ids.operation(), at(1));
        OperationMetadata { reason: Some(line("a mistake")), key, ..called }
    };
    let adjust = scenario.adjust_plan(metadata(), user, -40).await;
    let Step::Open(Entity::Adjustment(adjusted)) = adjust.step() else { panic!("{adjust:?}") };
    let adjusted = adjusted.id;
    scenario.fresh(adjust.clone()).await;
    assert!(matches!(scenario.apply(adjust).await, Ok(Applied::Replayed(_))));
    let same_key = scenario.adjust_plan(metadata(), user, -40).await;
    assert!(matches!(scenario.apply(same_key).await, Ok(Applied::Replayed(_))));
    let refused = OperationMetadata { key: None, ..metadata() };
    assert!(scenario.apply(scenario.adjust_plan(refused, user, -500).await).await.is_err());
    scenario.change_status(operator, user, UserStatusChange::Role(Role::Auditor), at(2)).await;
    scenario.withdraw(user, 10, at(3)).await.unwrap();

    let found = events(&scenario, about(user)).await;
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(events(&scenario, SecurityEventFilter::default()).await, found);
    let unknown = (None, ClientInfo::default());
    let role = format!("role: user {user} member → auditor: a reason");
    let adjust = format!("adjust: adjustment {adjusted} of user {user}: a mistake");
    for (event, (detail, moment, client)) in
        found.into_iter().zip([(role, at(2), unknown), (adjust, at(1), (Some(session), client.clone()))])
    {
        assert_eq!(
            (event.kind, event.actor, event.at),
            (SecurityEventKind::OperatorAction, Some(operator), moment)
        );
        assert_eq!((event.detail, (event.session, event.client)), (Some(line(&detail)), client));
    }
}

/// An operation sent many times concurrently leaves one event.
pub async fn an_operator_change_sent_concurrently_records_one_security_event(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, operator) = (scenario.guest(0).await, scenario.guest(0).await);
    let metadata = OperationMetadata { reason: Some(line("a reason")), ..scenario.by(operator, at(1)) };
    let plan = plans::change_user_status(metadata, user, UserStatusChange::Suspend);
    let tasks = (0..50).map(|_| {
        let (scenario, plan) = (scenario.clone(), plan.clone());
        async move { scenario.apply(plan).await.unwrap() }
    });
    let answers = at_once(tasks).await;
    assert_eq!(answers.iter().filter(|applied| matches!(applied, Applied::Fresh(_))).count(), 1);
    assert_eq!(events(&scenario, about(user)).await.len(), 1);
}

/// A purge deletes events older than a year, and no others.
pub async fn a_purge_deletes_security_events_older_than_a_year(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    // In the distant past, so that they are old by every clock.
    let (old, young) = (at(0).minus(Duration::days(3_000)), at(1).minus(Duration::days(3_000)));
    for moment in [young, old] {
        let event = SecurityEvent::about(SecurityEventKind::LoginFailed, None, ClientInfo::default(), moment);
        scenario.store.append(&event).await.unwrap();
    }
    scenario.store.purge_expired(old.plus(SecurityEvent::RETENTION)).await.unwrap();
    let left = events(&scenario, SecurityEventFilter::default()).await;
    assert_eq!(left.iter().map(|event| event.at).collect::<Vec<_>>(), [young]);
}
