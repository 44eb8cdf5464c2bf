//! Plans: atomic, applied once, on the state that they were decided on.

use std::sync::Arc;

use cuepoint_domain::entity_ref::{EntityKind, EntityRef};
use cuepoint_domain::ids::{RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{Balance, ChainHash, Entry, EntryKind, PostingRules};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{Move, RequestState, RequestStatus};
use cuepoint_domain::operation::{Actor, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::{DjChange, Field, ProfileChange, ProfileRefusal};
use cuepoint_domain::withdrawal::{self, WithdrawalFilter};
use futures_util::FutureExt;

use crate::harness::scenario::{
    Refused, Scenario, amount, at, balance, line, money, request_of, withdrawal_of,
};

promises! { ($) ledger as ledger_promises {
    a_refused_plan_changes_nothing,
    a_plan_refused_at_its_second_transfer_changes_nothing,
    a_plan_refused_at_its_last_transfer_changes_nothing,
    no_balance_falls_below_zero,
    an_operation_is_applied_once,
    a_plan_decided_on_an_outdated_state_is_stale,
    a_plan_decided_on_a_state_with_another_acceptance_time_is_stale,
    a_plan_that_refers_to_a_missing_row_is_refused,
    entities_are_found_by_their_ids,
    a_refused_profile_change_changes_nothing,
    entries_are_numbered_and_chained,
    entry_times_never_decrease,
    a_free_request_has_no_entries,
    income_pays_debt_first,
    released_money_pays_debt_first,
    operations_are_audited_with_their_own_posting_rules,
    retrying_an_abandoned_plan_applies_it_once,
}}

/// All entries of a short wallet history, oldest first.
pub(crate) async fn entries(scenario: &Scenario, user: UserId) -> Vec<Entry> {
    let page = scenario.store.entries(user, PageRequest::new(1, PageRequest::MAX_SIZE)).await.unwrap();
    assert_eq!(u64::try_from(page.rows.len()).unwrap(), page.total, "more entries than fit a page");
    page.rows.into_iter().rev().collect()
}

/// A withdrawal refused for insufficient funds leaves no withdrawal, no entry and the same balance.
pub async fn a_refused_plan_changes_nothing(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(500).await;
    let before = entries(&scenario, guest).await;

    let plan = scenario.withdrawal_plan(scenario.by(guest, at(1)), guest, 501).await.unwrap();
    let refused = Rejection::InsufficientFunds { available: money(500) };
    assert_eq!(scenario.apply(plan.clone()).await, Err(refused));
    assert_eq!(scenario.balance(guest).await, balance(500, 0));
    assert_eq!(entries(&scenario, guest).await, before);
    assert_eq!(scenario.withdrawals_of(guest, PageRequest::new(1, 15)).await.total, 0);

    scenario.fund(guest, 1).await;
    let again = scenario.apply(plan).await.unwrap();
    assert!(matches!(again, Applied::Fresh(_)), "a refused operation can be applied later");
}

/// A capture whose second leg is refused takes nothing from the guest and changes neither request nor
/// counter.
pub async fn a_plan_refused_at_its_second_transfer_changes_nothing(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(300).await);
    let request = scenario.request(guest, dj, at(1)).await;
    let full =
        scenario.adjust_plan(scenario.metadata(Actor::System, at(2)), dj, Money::MAX_BALANCE.minor()).await;
    scenario.fresh(full).await;
    let before = (entries(&scenario, guest).await, entries(&scenario, dj).await);

    let refused = scenario.move_request(request.id, Move::Play, at(3)).await;
    assert_eq!(refused, Err(Refused::Rejected(Rejection::OutOfRange)));
    assert_eq!(scenario.balance(guest).await, balance(700, 300));
    assert_eq!(scenario.balance(dj).await, balance(Money::MAX_BALANCE.minor(), 0));
    assert_eq!((entries(&scenario, guest).await, entries(&scenario, dj).await), before);
    assert_eq!(scenario.stored_request(request.id).await, request);
    assert_eq!(scenario.user(dj).await.dj.unwrap().played, 0);
    scenario.audit().await;
}

/// A refund whose last leg is refused returns nothing and takes nothing from the DJ.
pub async fn a_plan_refused_at_its_last_transfer_changes_nothing(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(1_000).await);
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Play, at(2)).await.unwrap();
    let room_for_one_leg = Money::MAX_BALANCE.minor().checked_sub(950).unwrap();
    let full = scenario.adjust_plan(scenario.metadata(Actor::System, at(3)), guest, room_for_one_leg).await;
    scenario.fresh(full).await;

    let refused = scenario.move_request(request.id, Move::Refund, at(4)).await;
    assert_eq!(refused, Err(Refused::Rejected(Rejection::OutOfRange)));
    assert_eq!(scenario.balance(dj).await, balance(900, 0));
    assert_eq!(scenario.balance(guest).await, balance(room_for_one_leg, 0));
    assert_eq!(scenario.stored_request(request.id).await.state.status(), RequestStatus::Played);
    scenario.audit().await;
}

/// The last cent can be spent, and no more: by a withdrawal, a request and an adjustment alike.
pub async fn no_balance_falls_below_zero(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(500).await, scenario.dj(501).await);
    let refused = Rejection::InsufficientFunds { available: money(500) };
    let withdrawal = scenario.withdraw(guest, 501, at(1)).await;
    assert_eq!(withdrawal, Err(Refused::Rejected(refused)));
    let adjustment = scenario.adjust_plan(scenario.metadata(Actor::System, at(1)), guest, -501).await;
    assert_eq!(scenario.apply(adjustment).await, Err(refused));
    let kind = cuepoint_domain::user::ArtistType::Popular;
    let request = scenario.request_plan(scenario.by(guest, at(1)), guest, dj, kind, None).await.unwrap();
    assert_eq!(scenario.apply(request).await, Err(refused));

    scenario.withdraw(guest, 500, at(2)).await.unwrap();
    assert_eq!(scenario.balance(guest).await, balance(0, 500));
    let empty = Rejection::InsufficientFunds { available: Money::ZERO };
    assert_eq!(scenario.withdraw(guest, 1, at(3)).await, Err(Refused::Rejected(empty)));
}

/// A repeated operation gets its first receipt, even if it could no longer be applied.
pub async fn an_operation_is_applied_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(500).await;
    let plan = scenario.withdrawal_plan(scenario.by(guest, at(1)), guest, 400).await.unwrap();
    let receipt = scenario.fresh(plan.clone()).await;
    assert_eq!(withdrawal_of(&receipt).state, withdrawal::WithdrawalState::Pending);
    let approve = withdrawal::Move::Approve { by: None, second_above: None };
    scenario.move_withdrawal(withdrawal_of(&receipt).id, &approve, at(2)).await.unwrap();

    for _ in 0..3 {
        assert_eq!(scenario.apply(plan.clone()).await, Ok(Applied::Replayed(receipt.clone())));
    }
    assert_eq!(scenario.balance(guest).await, balance(100, 400));
    assert_eq!(entries(&scenario, guest).await.len(), 2);
}

/// A move decided on an outdated state is refused, for every kind of entity.
pub async fn a_plan_decided_on_an_outdated_state_is_stale(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(100).await);
    let system = |seconds| scenario.metadata(Actor::System, at(seconds));

    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let late = plans::move_request(system(3), &request, Move::Cancel, &scenario.requests).unwrap();
    assert_eq!(scenario.apply(late).await, Err(Rejection::Stale));

    let withdrawal = withdrawal_of(&scenario.withdraw(guest, 100, at(4)).await.unwrap());
    let approve = withdrawal::Move::Approve { by: None, second_above: None };
    scenario.move_withdrawal(withdrawal.id, &approve, at(5)).await.unwrap();
    let cancel = withdrawal::Move::Cancel;
    let late = plans::move_withdrawal(system(6), &withdrawal, cancel).unwrap();
    assert_eq!(scenario.apply(late).await, Err(Rejection::Stale));

    let id = scenario.ids.next_topup().await.unwrap();
    let open = Charge::Pending;
    let receipt = scenario.fresh(plans::open_topup(system(7), id, guest, amount(100), open)).await;
    let topup = crate::harness::scenario::topup_of(&receipt);
    scenario.fresh(plans::settle_topup(system(8), &topup, false)).await;
    let late = plans::settle_topup(system(9), &topup, true);
    assert_eq!(scenario.apply(late).await, Err(Rejection::Stale));
    assert_eq!(scenario.balance(guest).await, balance(800, 200));
}

/// A request accepted twice is not in the same state: the deadline to play it differs.
pub async fn a_plan_decided_on_a_state_with_another_acceptance_time_is_stale(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(100).await);
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let mut other = scenario.stored_request(request.id).await;
    other.state = RequestState::Accepted { at: at(1), play_by: at(3_601) };
    let metadata = scenario.metadata(Actor::System, at(3));
    let plan = plans::move_request(metadata, &other, Move::Play, &scenario.requests).unwrap();
    assert_eq!(scenario.apply(plan).await, Err(Rejection::Stale));
}

/// A request, a top-up, a withdrawal and a user are found by their ids as by the reads of their ports.
pub async fn entities_are_found_by_their_ids(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(300).await);
    let request = scenario.request(guest, dj, at(1)).await;
    let topup = scenario.confirmed_topup(guest, 100).await;
    let withdrawal = withdrawal_of(&scenario.withdraw(guest, 200, at(2)).await.unwrap());
    assert_eq!(scenario.stored(request.id).await, scenario.find_request(request.id).await);
    assert_eq!(scenario.stored(topup.id).await, scenario.find_topup(topup.id).await);
    assert_eq!(scenario.stored(withdrawal.id).await, scenario.find_withdrawal(withdrawal.id).await);
    assert_eq!(scenario.stored(guest).await, Some(scenario.user(guest).await));

    assert_eq!(scenario.stored(RequestId::new(i64::MAX).unwrap()).await, None);
    assert_eq!(scenario.stored(TopupId::new(i64::MAX).unwrap()).await, None);
    assert_eq!(scenario.stored(WithdrawalId::new(i64::MAX).unwrap()).await, None);
    assert_eq!(scenario.stored(UserId::new(i64::MAX).unwrap()).await, None);
}

/// A plan that refers to a missing row is an error, never a zero or a silent success.
pub async fn a_plan_that_refers_to_a_missing_row_is_refused(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(100).await);
    let nobody = scenario.ids.next_user().await.unwrap();
    let system = |seconds| scenario.metadata(Actor::System, at(seconds));

    let plan = scenario.adjust_plan(system(1), nobody, 100).await;
    assert_eq!(scenario.apply(plan).await, Err(Rejection::Missing(EntityKind::Wallet)));
    let plan = plans::change_profile(scenario.by(nobody, at(1)), nobody, ProfileChange::default());
    assert_eq!(scenario.apply(plan).await, Err(Rejection::Missing(EntityKind::User)));

    let mut request = scenario.request(guest, dj, at(1)).await;
    request.id = scenario.ids.next_request().await.unwrap();
    let plan = plans::move_request(system(2), &request, Move::Play, &scenario.requests).unwrap();
    assert_eq!(scenario.apply(plan).await, Err(Rejection::Missing(EntityKind::MusicRequest)));

    let mut withdrawal = withdrawal_of(&scenario.withdraw(guest, 100, at(3)).await.unwrap());
    withdrawal.id = scenario.ids.next_withdrawal().await.unwrap();
    let cancel = withdrawal::Move::Cancel;
    let plan = plans::move_withdrawal(system(4), &withdrawal, cancel).unwrap();
    assert_eq!(scenario.apply(plan).await, Err(Rejection::Missing(EntityKind::Withdrawal)));
    assert_eq!(scenario.balance(guest).await, balance(800, 200));
}

/// The store refuses an invalid change of a profile with the domain's reason, and leaves the profile
/// unchanged.
pub async fn a_refused_profile_change_changes_nothing(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let before = scenario.user(guest).await;
    let change = ProfileChange {
        city: Field::Set(Some(line("Oslo"))),
        dj: DjChange { online: Field::Set(true), ..DjChange::default() },
        ..Default::default()
    };
    let refused = scenario.apply(plans::change_profile(scenario.by(guest, at(1)), guest, change)).await;
    assert_eq!(refused, Err(Rejection::Profile(ProfileRefusal::NotADj)));
    assert_eq!(scenario.user(guest).await, before);
}

/// The entries of each wallet are numbered 1, 2, 3…, lead from one balance to the next and are linked by
/// their hash.
pub async fn entries_are_numbered_and_chained(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(300).await);
    let request = scenario.request(guest, dj, at(1)).await;
    let played = scenario.move_request(request.id, Move::Play, at(2)).await.unwrap();
    scenario.move_request(request.id, Move::Refund, at(3)).await.unwrap();

    let of_guest = entries(&scenario, guest).await;
    let kinds: Vec<EntryKind> = of_guest.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Topup, EntryKind::Hold, EntryKind::Capture, EntryKind::Refund]);
    let changes: Vec<Balance> = of_guest.iter().map(|entry| entry.change).collect();
    assert_eq!(changes, [balance(1_000, 0), balance(-300, 300), balance(0, -300), balance(300, 0)]);
    let capture = &of_guest[2];
    assert_eq!(capture.operation, played.receipt().operation);
    assert_eq!(capture.reference, EntityRef::MusicRequest(request.id));
    assert_eq!(capture.at, at(2));

    let of_dj = entries(&scenario, dj).await;
    let kinds: Vec<EntryKind> = of_dj.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Earning, EntryKind::Reversal]);
    for (user, entries) in [(guest, of_guest), (dj, of_dj)] {
        follow(&entries);
        assert_eq!(entries.last().unwrap().after, scenario.balance(user).await);
    }
    scenario.audit().await;
}

fn follow(entries: &[Entry]) {
    let (mut head, mut seq) = (ChainHash::START, 0);
    for entry in entries {
        seq += 1;
        assert_eq!(entry.seq, seq);
        assert_eq!(entry.previous, head);
        assert_eq!(entry.hash, entry.link());
        head = entry.hash;
    }
}

/// The times of a wallet's entries never decrease, even if the clocks of two servers differ.
pub async fn entry_times_never_decrease(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(1_000).await;
    for seconds in [50, 10, 60, 20] {
        scenario.withdraw(guest, 100, at(seconds)).await.unwrap();
    }
    let times: Vec<_> = entries(&scenario, guest).await.iter().map(|entry| entry.at).collect();
    assert_eq!(times, [at(0), at(50), at(50), at(60), at(60)]);
    scenario.audit().await;
}

/// A free request has the same life cycle, moves no money, has no entries and counts as played.
pub async fn a_free_request_has_no_entries(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let (guest, dj) = (scenario.guest(0).await, scenario.dj(0).await);
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let played = scenario.move_request(request.id, Move::Play, at(3)).await.unwrap();
    assert_eq!(request_of(played.receipt()).state.status(), RequestStatus::Played);
    scenario.move_request(request.id, Move::Refund, at(4)).await.unwrap();
    assert_eq!(entries(&scenario, guest).await, []);
    assert_eq!(entries(&scenario, dj).await, []);
    assert_eq!(scenario.user(dj).await.dj.unwrap().played, 1);
    scenario.audit().await;
}

/// A guest with 1000 and a DJ with nothing available, 250 held for a withdrawal and 250 owed for a refund.
async fn indebted(scenario: &Scenario) -> (UserId, UserId) {
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(300).await);
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Play, at(2)).await.unwrap();
    scenario.withdraw(dj, 250, at(3)).await.unwrap();
    scenario.move_request(request.id, Move::Refund, at(4)).await.unwrap();
    assert_eq!(scenario.balance(dj).await, owing(0, 250));
    assert_eq!(scenario.balance(guest).await, balance(1_000, 0));
    (guest, dj)
}

/// The balance of the [`indebted`] DJ.
fn owing(available: i128, owed: i128) -> Balance {
    Balance { owed: money(owed), ..balance(available, 250) }
}

/// Top-ups, adjustments and earnings pay a debt before any of them becomes available.
pub async fn income_pays_debt_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = indebted(&scenario).await;
    scenario.fund(dj, 10).await;
    assert_eq!(scenario.balance(dj).await, owing(0, 240), "a top-up");
    scenario.fresh(scenario.adjust_plan(scenario.by(guest, at(5)), dj, 15).await).await;
    assert_eq!(scenario.balance(dj).await, owing(0, 225), "a correction upwards");
    let next = scenario.request(guest, dj, at(6)).await;
    scenario.move_request(next.id, Move::Play, at(7)).await.unwrap();
    assert_eq!(scenario.balance(dj).await, owing(75, 0), "an earning");
    scenario.audit().await;
}

/// Released money pays the debt first, so that an owner in debt cannot hold money back from it.
pub async fn released_money_pays_debt_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (_, dj) = indebted(&scenario).await;
    let filter = WithdrawalFilter::of(dj);
    let withdrawal = scenario.store.withdrawals(&filter, PageRequest::new(1, 1)).await.unwrap().rows[0].id;
    scenario.move_withdrawal(withdrawal, &withdrawal::Move::Cancel, at(5)).await.unwrap();
    assert_eq!(scenario.balance(dj).await, Balance { owed: Money::ZERO, ..balance(0, 0) });
    scenario.audit().await;
}

/// Operations stay bound to the rules that posted them: those of the first version, in which only earnings
/// paid a debt, are audited by its rules.
pub async fn operations_are_audited_with_their_own_posting_rules(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = indebted(&scenario).await;
    for (rules, expected) in [
        (PostingRules::EarningsPayOwed, owing(15, 250)),
        (PostingRules::IncomePaysOwed, owing(15, 235)),
        (PostingRules::ReleasesPayOwed, owing(15, 220)),
    ] {
        let id = scenario.ids.next_topup().await.unwrap();
        let topup = plans::open_topup(scenario.by(dj, at(5)), id, dj, amount(10), Charge::Confirmed);
        let receipt = scenario.fresh(topup.clone().posted_by(rules)).await;
        assert_eq!(receipt.rules, rules);
        assert_eq!(scenario.apply(topup).await, Ok(Applied::Replayed(receipt)));
        scenario.fresh(scenario.adjust_plan(scenario.by(guest, at(5)), dj, 5).await.posted_by(rules)).await;
        assert_eq!(scenario.balance(dj).await, expected);
        scenario.audit().await;
    }
}

/// A plan is applied once, whether or not its caller awaits the answer.
pub async fn retrying_an_abandoned_plan_applies_it_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(1_000).await;
    let mut plans = Vec::new();
    for _ in 0..20 {
        plans.push(scenario.withdrawal_plan(scenario.by(guest, at(1)), guest, 10).await.unwrap());
    }
    for plan in &plans {
        // Polled once and dropped: the plan may be in progress, or never have been submitted.
        drop(scenario.store.apply(plan.clone()).now_or_never());
    }
    for plan in plans {
        scenario.apply(plan).await.unwrap();
    }
    assert_eq!(scenario.balance(guest).await, balance(800, 200));
    assert_eq!(entries(&scenario, guest).await.len(), 21);
}
