//! Money that arrives for a top-up after its owner was erased, and pending top-ups that prevent an erasure.

use std::sync::Arc;

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::event::{Event, EventType};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::operation::{Actor, Position, Rejection, plans};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Applied, Erased, Store};
use cuepoint_domain::privacy::ErasureRefusal;
use cuepoint_domain::topup::{Charge, SuspenseRefusal, SuspenseSettlement, Topup, TopupStatus};

use crate::harness::confirmed_erasure::erase_at;
use crate::harness::races::one_of_sixteen_is_applied;
use crate::harness::scenario::{Scenario, TOPUPS_PENDING_FOR, amount, at, at_once, line, topup_of};
use crate::subjects::reversals::events;
use crate::subjects::wallets::PAST_THE_END;

promises! { ($) suspense as suspense_promises {
    topups_pending_for_less_than_a_week_prevent_an_erasure,
    an_erasure_is_pending_until_the_topups_of_the_user_have_failed,
    erased_users_cannot_create_topups,
    late_money_goes_into_suspense_once,
    a_pending_topup_of_an_erased_user_fails_when_its_money_goes_into_suspense,
    money_in_suspense_is_settled_only_once,
    unsettled_money_in_suspense_is_listed_first,
}}

/// The time for which the money of a pending top-up may arrive, in seconds.
const WEEK: i64 = TOPUPS_PENDING_FOR.whole_seconds();

/// A top-up of this many cents that failed when its owner was erased.
async fn late(scenario: &Scenario, cents: i128) -> Topup {
    let guest = scenario.guest(0).await;
    let topup = scenario.pending_topup(guest, cents, 0).await;
    assert_eq!(scenario.erase(guest, WEEK).await, Erased::Done);
    scenario.stored_topup(topup.id).await
}

/// Takes the money of a top-up into suspense.
async fn suspend(scenario: &Scenario, topup: &Topup, seconds: i64) -> Topup {
    let plan = plans::suspend_topup(scenario.metadata(Actor::System, at(seconds)), topup);
    topup_of(&scenario.fresh(plan).await)
}

/// Settles money in suspense, as this operator.
async fn settle(scenario: &Scenario, operator: UserId, topup: &Topup, seconds: i64) -> Topup {
    let metadata = scenario.by(operator, at(seconds));
    let plan = plans::settle_suspense(metadata, topup, operator, line("sent back")).unwrap();
    topup_of(&scenario.fresh(plan).await)
}

/// No user is erased while the money of a top-up may still arrive; older ones fail with the erasure.
pub async fn topups_pending_for_less_than_a_week_prevent_an_erasure(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let pending = [scenario.pending_topup(guest, 100, 0).await, scenario.pending_topup(guest, 200, 10).await];
    let settled = scenario.pending_topup(guest, 300, 20).await;
    scenario.fresh(plans::settle_topup(scenario.metadata(Actor::System, at(30)), &settled, false)).await;
    for seconds in [30, WEEK, WEEK + 9] {
        assert_eq!(scenario.erase(guest, seconds).await, Erased::Refused(ErasureRefusal::TopupPending));
        for topup in &pending {
            assert_eq!(scenario.stored_topup(topup.id).await, *topup, "both stay while one may be paid");
        }
    }
    assert_eq!(scenario.erase(guest, WEEK + 10).await, Erased::Done);
    for topup in pending {
        let failed = scenario.stored_topup(topup.id).await;
        assert_eq!((failed.status, failed.updated_at), (TopupStatus::Failed, at(WEEK + 10)));
    }
    assert_eq!(scenario.stored_topup(settled.id).await.updated_at, at(30));
    scenario.audit().await;
}

/// The pending top-ups of an erased user stay pending until each fails by an operation, which has an event. The
/// erasure is pending until then.
pub async fn an_erasure_is_pending_until_the_topups_of_the_user_have_failed(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (present, other, guest) = (scenario.guest(0).await, scenario.guest(0).await, scenario.guest(0).await);
    let kept = scenario.pending_topup(present, 100, 0).await;
    let pending = [scenario.pending_topup(guest, 100, 5).await, scenario.pending_topup(guest, 200, 0).await];
    for confirmed in [true, false] {
        let settled = scenario.pending_topup(other, 300, 0).await;
        scenario
            .fresh(plans::settle_topup(scenario.metadata(Actor::System, at(1)), &settled, confirmed))
            .await;
    }
    let theirs = scenario.pending_topup(other, 400, 0).await;
    let back = scenario.adjust_plan(scenario.by(present, at(2)), other, -300).await;
    scenario.fresh(back).await;
    for user in [guest, other] {
        let erased = erase_at(&*scenario.store, user, at(10), at(10)).await;
        assert_eq!(erased, Erased::Done);
    }
    scenario.store.finish_erasures().await.unwrap();

    let store = &scenario.store;
    let erasures = async |after, limit| store.pending_erasures(after, limit).await.unwrap();
    let [first, last] = [other.min(guest), other.max(guest)];
    assert_eq!(erasures(None, 9).await, [first, last]);
    assert_eq!(erasures(None, 1).await, [first]);
    assert_eq!(erasures(Some(first), 9).await, [last]);
    assert_eq!(erasures(Some(last), 9).await, []);
    let found = async |user, limit| store.pending_topups(user, limit).await.unwrap();
    assert_eq!(found(guest, 9).await, [pending[1].clone(), pending[0].clone()], "oldest first");
    assert_eq!(found(guest, 1).await, [pending[1].clone()]);
    assert_eq!(found(other, 9).await, std::slice::from_ref(&theirs), "neither confirmed nor failed ones");
    scenario.audit().await;

    scenario.fail_topups(guest, at(20)).await;
    store.finish_erasures().await.unwrap();
    assert_eq!((found(guest, 9).await, erasures(None, 9).await), (vec![], vec![other]));
    scenario.fail_topups(other, at(20)).await;
    store.finish_erasures().await.unwrap();
    assert_eq!(erasures(None, 9).await, []);
    let operations = store.operations(Some(guest), Position::START, 100).await.unwrap().operations;
    let types = operations.into_iter().filter_map(Event::of).map(|event| event.event_type);
    let (created, failed) = (EventType::TopupCreated, EventType::TopupFailed);
    assert_eq!(types.collect::<Vec<_>>(), [created, created, failed, failed]);
    for topup in pending.into_iter().chain([theirs]) {
        let failed = scenario.stored_topup(topup.id).await;
        assert_eq!((failed.status, failed.updated_at), (TopupStatus::Failed, at(20)));
    }
    assert_eq!(found(present, 9).await, [kept]);
    scenario.audit().await;
}

/// An erased user opens no top-up, also when both happen concurrently: the money would reach a wallet without
/// an owner.
///
/// Attack API6: a top-up concurrent with an erasure.
pub async fn erased_users_cannot_create_topups(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    for _ in 0..8 {
        let guest = scenario.guest(0).await;
        let open = async || {
            let id = scenario.ids.next_topup().await.unwrap();
            plans::open_topup(scenario.by(guest, at(1)), id, guest, amount(100), Charge::Confirmed)
        };
        let (racing, late) = (open().await, open().await);
        let (opening, erasing) = (scenario.clone(), scenario.clone());
        let (opened, erased) = tokio::join!(
            tokio::spawn(async move { opening.apply(racing).await }),
            tokio::spawn(async move { erasing.erase(guest, 2).await })
        );
        match (opened.unwrap(), erased.unwrap()) {
            (Ok(_), Erased::Refused(ErasureRefusal::MoneyLeft)) => {}
            (Err(Rejection::Missing(EntityKind::User)), Erased::Done) => {
                assert_eq!(scenario.apply(late).await, Err(Rejection::Missing(EntityKind::User)));
                assert_eq!(scenario.balance(guest).await, Balance::default());
            }
            other => panic!("{other:?}"),
        }
    }
    scenario.audit().await;
}

/// Money that arrives for a top-up of an erased user goes into suspense once, also on repeated updates.
pub async fn late_money_goes_into_suspense_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let topup = late(&scenario, 700).await;
    one_of_sixteen_is_applied(&scenario, || {
        plans::suspend_topup(scenario.metadata(Actor::System, at(WEEK + 1)), &topup)
    })
    .await;
    let suspended = scenario.stored_topup(topup.id).await;
    let suspense = suspended.suspense.clone().unwrap();
    assert_eq!((suspense.arrived_at, &suspense.settlement), (at(WEEK + 1), &None));
    assert_eq!((suspended.status, suspended.updated_at), (TopupStatus::Failed, topup.updated_at));
    assert_eq!(suspend(&scenario, &suspended, WEEK + 2).await, suspended, "nothing changes any more");
    assert_eq!(scenario.balance(topup.user).await, Balance::default());
    // Into suspense, from the external account.
    let summary = scenario.audit().await;
    assert_eq!((summary.entries, summary.postings, summary.entities), (0, 2, 1));
}

/// A top-up that is still pending after its owner's erasure, as an earlier version allowed, fails when its
/// late money arrives.
pub async fn a_pending_topup_of_an_erased_user_fails_when_its_money_goes_into_suspense(
    store: Arc<dyn Store>,
) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let topup = scenario.pending_topup(guest, 100, 0).await;
    let suspended = suspend(&scenario, &topup, 5).await;
    assert_eq!((suspended.status, suspended.updated_at), (TopupStatus::Failed, at(5)));
    assert_eq!(scenario.stored_topup(topup.id).await, suspended);
    scenario.audit().await;
}

/// Money leaves suspense once, by one operator, recorded with the reason.
///
/// Attack API6: settling money in suspense concurrently.
pub async fn money_in_suspense_is_settled_only_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let operators = [scenario.guest(0).await, scenario.guest(0).await];
    let topup = late(&scenario, 700).await;
    let refused =
        plans::settle_suspense(scenario.by(operators[0], at(WEEK)), &topup, operators[0], line("x"));
    assert_eq!(refused, Err(SuspenseRefusal::NothingThere));
    let suspended = suspend(&scenario, &topup, WEEK + 5).await;
    let tasks = operators.into_iter().cycle().take(16).map(|operator| {
        let metadata = scenario.by(operator, at(WEEK + 6));
        let plan = plans::settle_suspense(metadata, &suspended, operator, line("sent back")).unwrap();
        let scenario = scenario.clone();
        async move { scenario.apply(plan).await }
    });
    let answers = at_once(tasks).await;
    let winners: Vec<_> = answers.into_iter().filter_map(Result::ok).collect();
    let [Applied::Fresh(receipt)] = winners.as_slice() else { panic!("{winners:?}") };
    let settled = scenario.stored_topup(topup.id).await;
    assert_eq!(topup_of(receipt), settled);
    let settlement = settled.suspense.clone().unwrap().settlement.unwrap();
    let SuspenseSettlement { operation, at: when, by, reason } = settlement;
    assert_eq!((operation, when, reason), (receipt.operation, at(WEEK + 6), line("sent back")));
    let detail = format!("settle_suspense: top-up {} suspense → settled: sent back", topup.id);
    assert_eq!(events(&scenario, topup.user).await, [(Some(by), detail)]);
    let again = plans::settle_suspense(scenario.by(by, at(WEEK + 7)), &settled, by, line("once more"));
    assert_eq!(again, Err(SuspenseRefusal::AlreadySettled));
    let summary = scenario.audit().await;
    assert_eq!((summary.entries, summary.postings), (0, 4));
}

/// Money in suspense is listed with unsettled money first, then by its arrival, in pages without gap or
/// overlap.
pub async fn unsettled_money_in_suspense_is_listed_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let operator = scenario.guest(0).await;
    late(&scenario, 1).await;
    assert_eq!(scenario.store.topups_in_suspense(PageRequest::new(1, 15)).await.unwrap(), Rows::none(0));
    let mut all = Vec::new();
    for (seconds, settled) in
        [(5, false), (3, true), (3, false), (9, true), (9, false), (9, true), (1, false)]
    {
        let topup = late(&scenario, 100).await;
        let mut topup = suspend(&scenario, &topup, WEEK + seconds).await;
        if settled {
            // The clock of this server was set back.
            topup = settle(&scenario, operator, &topup, 0).await;
            let suspense = topup.suspense.as_ref().unwrap();
            assert_eq!(suspense.settlement.as_ref().unwrap().at, suspense.arrived_at);
        }
        all.push(topup);
    }
    all.sort_by_key(|topup| {
        let suspense = topup.suspense.as_ref().unwrap();
        (suspense.settlement.is_some(), std::cmp::Reverse((suspense.arrived_at, topup.id)))
    });
    for size in [1, 2, 3, 15] {
        let mut seen = Vec::new();
        for number in 1..=7_u64.div_ceil(u64::from(size)) {
            let rows = scenario.store.topups_in_suspense(PageRequest::new(number, size)).await.unwrap();
            assert_eq!(rows.total, 7);
            seen.extend(rows.rows);
        }
        assert_eq!(seen, all, "pages of {size}");
    }
    for number in PAST_THE_END {
        let rows = scenario.store.topups_in_suspense(PageRequest::new(number, 15)).await.unwrap();
        assert_eq!(rows, Rows::none(7), "page {number}");
    }
    scenario.audit().await;
}
