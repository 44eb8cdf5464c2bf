//! Plans: atomic, applied once, on the state that they were decided on.

use std::sync::Arc;

use cuepoint_domain::account::{Field, ProfileChange, ProfileRefusal};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::plans;
use cuepoint_domain::ledger::{
    Actor, Balance, ChainHash, EntityKind, EntityRef, Entry, EntryKind, PostingRules, Rejection,
};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{Move, RequestState, RequestStatus};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::topup::Charge;
use cuepoint_domain::withdrawal::{self, WithdrawalFilter};
use futures_util::FutureExt;

use crate::world::{Refused, World, amount, at, balance, line, money, request_of, withdrawal_of};

/// All entries of a short wallet history, oldest first.
pub(crate) async fn entries(world: &World, user: UserId) -> Vec<Entry> {
    let page = world.store.entries(user, PageRequest::new(1, PageRequest::MAX_SIZE)).await.unwrap();
    assert_eq!(u64::try_from(page.rows.len()).unwrap(), page.total, "more entries than fit a page");
    page.rows.into_iter().rev().collect()
}

/// A withdrawal refused for insufficient funds leaves no withdrawal, no entry and the same balance.
pub async fn a_refused_plan_changes_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(500).await;
    let before = entries(&world, guest).await;

    let plan = world.withdrawal_plan(world.by(guest, at(1)), guest, 501).await.unwrap();
    let refused = Rejection::InsufficientFunds { available: money(500) };
    assert_eq!(world.apply(plan.clone()).await, Err(refused));
    assert_eq!(world.balance(guest).await, balance(500, 0));
    assert_eq!(entries(&world, guest).await, before);
    assert_eq!(
        world.store.withdrawals(&WithdrawalFilter::of(guest), PageRequest::new(1, 15)).await.unwrap().total,
        0
    );

    world.fund(guest, 1).await;
    let again = world.apply(plan).await.unwrap();
    assert!(matches!(again, Applied::Fresh(_)), "a refused operation can be applied later");
}

/// A capture whose second leg is refused takes nothing from the guest and changes neither request nor
/// counter.
pub async fn a_plan_refused_at_its_second_leg_changes_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, dj) = (world.guest(1_000).await, world.dj(300).await);
    let request = world.request(guest, dj, at(1)).await;
    let full = world.adjust_plan(world.metadata(Actor::System, at(2)), dj, Money::MAX_BALANCE.minor()).await;
    world.fresh(full).await;
    let before = (entries(&world, guest).await, entries(&world, dj).await);

    let refused = world.move_request(request.id, Move::Play, at(3)).await;
    assert_eq!(refused, Err(Refused::Rejected(Rejection::OutOfRange)));
    assert_eq!(world.balance(guest).await, balance(700, 300));
    assert_eq!(world.balance(dj).await, balance(Money::MAX_BALANCE.minor(), 0));
    assert_eq!((entries(&world, guest).await, entries(&world, dj).await), before);
    assert_eq!(world.stored_request(request.id).await, request);
    assert_eq!(world.user(dj).await.dj.unwrap().played, 0);
    world.audit().await;
}

/// A refund whose last leg is refused returns nothing and takes nothing from the DJ.
pub async fn a_plan_refused_at_its_last_leg_changes_nothing(store: Arc<dyn Store>) {
    let world = World::new(store).with_commission(1_000);
    let (guest, dj) = (world.guest(1_000).await, world.dj(1_000).await);
    let request = world.request(guest, dj, at(1)).await;
    world.move_request(request.id, Move::Play, at(2)).await.unwrap();
    let room_for_one_leg = Money::MAX_BALANCE.minor().checked_sub(950).unwrap();
    let full = world.adjust_plan(world.metadata(Actor::System, at(3)), guest, room_for_one_leg).await;
    world.fresh(full).await;

    let refused = world.move_request(request.id, Move::Refund, at(4)).await;
    assert_eq!(refused, Err(Refused::Rejected(Rejection::OutOfRange)));
    assert_eq!(world.balance(dj).await, balance(900, 0));
    assert_eq!(world.balance(guest).await, balance(room_for_one_leg, 0));
    assert_eq!(world.stored_request(request.id).await.state.status(), RequestStatus::Played);
    world.audit().await;
}

/// The last cent can be spent, and no more: by a withdrawal, a request and an adjustment alike.
pub async fn no_balance_falls_below_zero(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, dj) = (world.guest(500).await, world.dj(501).await);
    let refused = Rejection::InsufficientFunds { available: money(500) };
    let withdrawal = world.withdraw(guest, 501, at(1)).await;
    assert_eq!(withdrawal, Err(Refused::Rejected(refused)));
    let adjustment = world.adjust_plan(world.metadata(Actor::System, at(1)), guest, -501).await;
    assert_eq!(world.apply(adjustment).await, Err(refused));
    let kind = cuepoint_domain::account::ArtistType::Popular;
    let request = world.request_plan(world.by(guest, at(1)), guest, dj, kind, None).await.unwrap();
    assert_eq!(world.apply(request).await, Err(refused));

    world.withdraw(guest, 500, at(2)).await.unwrap();
    assert_eq!(world.balance(guest).await, balance(0, 500));
    let empty = Rejection::InsufficientFunds { available: Money::ZERO };
    assert_eq!(world.withdraw(guest, 1, at(3)).await, Err(Refused::Rejected(empty)));
}

/// A repeated operation gets its first receipt, even if it could no longer be applied.
pub async fn an_operation_is_applied_once(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(500).await;
    let plan = world.withdrawal_plan(world.by(guest, at(1)), guest, 400).await.unwrap();
    let receipt = world.fresh(plan.clone()).await;
    assert_eq!(withdrawal_of(&receipt).state, withdrawal::WithdrawalState::Pending);
    let approve = withdrawal::Move::Approve { by: None, second_above: None };
    world.move_withdrawal(withdrawal_of(&receipt).id, &approve, at(2)).await.unwrap();

    for _ in 0..3 {
        assert_eq!(world.apply(plan.clone()).await, Ok(Applied::Replayed(receipt.clone())));
    }
    assert_eq!(world.balance(guest).await, balance(100, 400));
    assert_eq!(entries(&world, guest).await.len(), 2);
}

/// A move decided on an outdated state is refused, for every kind of entity.
pub async fn a_plan_on_a_state_that_moved_is_stale(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, dj) = (world.guest(1_000).await, world.dj(100).await);
    let system = |seconds| world.metadata(Actor::System, at(seconds));

    let request = world.request(guest, dj, at(1)).await;
    world.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let late = plans::move_request(system(3), &request, Move::Cancel, &world.requests).unwrap();
    assert_eq!(world.apply(late).await, Err(Rejection::Stale));

    let withdrawal = withdrawal_of(&world.withdraw(guest, 100, at(4)).await.unwrap());
    let approve = withdrawal::Move::Approve { by: None, second_above: None };
    world.move_withdrawal(withdrawal.id, &approve, at(5)).await.unwrap();
    let cancel = withdrawal::Move::Cancel { by: guest };
    let late = plans::move_withdrawal(system(6), &withdrawal, cancel).unwrap();
    assert_eq!(world.apply(late).await, Err(Rejection::Stale));

    let id = world.ids.next_topup().await.unwrap();
    let open = Charge::Pending;
    let receipt = world.fresh(plans::open_topup(system(7), id, guest, amount(100), open)).await;
    let topup = crate::world::topup_of(&receipt);
    world.fresh(plans::settle_topup(system(8), &topup, false)).await;
    let late = plans::settle_topup(system(9), &topup, true);
    assert_eq!(world.apply(late).await, Err(Rejection::Stale));
    assert_eq!(world.balance(guest).await, balance(800, 200));
}

/// A request accepted twice is not in the same state: the deadline to play it differs.
pub async fn a_state_is_more_than_its_name(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, dj) = (world.guest(1_000).await, world.dj(100).await);
    let request = world.request(guest, dj, at(1)).await;
    world.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let mut other = world.stored_request(request.id).await;
    other.state = RequestState::Accepted { at: at(1), play_by: at(3_601) };
    let metadata = world.metadata(Actor::System, at(3));
    let plan = plans::move_request(metadata, &other, Move::Play, &world.requests).unwrap();
    assert_eq!(world.apply(plan).await, Err(Rejection::Stale));
}

/// A plan that refers to a missing row is an error, never a zero or a silent success.
pub async fn a_missing_row_is_an_error(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, dj) = (world.guest(1_000).await, world.dj(100).await);
    let nobody = world.ids.next_user().await.unwrap();
    let system = |seconds| world.metadata(Actor::System, at(seconds));

    let plan = world.adjust_plan(system(1), nobody, 100).await;
    assert_eq!(world.apply(plan).await, Err(Rejection::Missing(EntityKind::Wallet)));
    let plan = plans::change_profile(world.by(nobody, at(1)), nobody, ProfileChange::default());
    assert_eq!(world.apply(plan).await, Err(Rejection::Missing(EntityKind::User)));

    let mut request = world.request(guest, dj, at(1)).await;
    request.id = world.ids.next_request().await.unwrap();
    let plan = plans::move_request(system(2), &request, Move::Play, &world.requests).unwrap();
    assert_eq!(world.apply(plan).await, Err(Rejection::Missing(EntityKind::MusicRequest)));

    let mut withdrawal = withdrawal_of(&world.withdraw(guest, 100, at(3)).await.unwrap());
    withdrawal.id = world.ids.next_withdrawal().await.unwrap();
    let cancel = withdrawal::Move::Cancel { by: guest };
    let plan = plans::move_withdrawal(system(4), &withdrawal, cancel).unwrap();
    assert_eq!(world.apply(plan).await, Err(Rejection::Missing(EntityKind::Withdrawal)));
    assert_eq!(world.balance(guest).await, balance(800, 200));
}

/// The store refuses an invalid change of a profile with the domain's reason, and leaves the profile
/// unchanged.
pub async fn a_refused_profile_stays(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(0).await;
    let before = world.user(guest).await;
    let change = ProfileChange {
        city: Field::Set(Some(line("Oslo"))),
        online: Field::Set(true),
        ..Default::default()
    };
    let refused = world.apply(plans::change_profile(world.by(guest, at(1)), guest, change)).await;
    assert_eq!(refused, Err(Rejection::Profile(ProfileRefusal::NotADj)));
    assert_eq!(world.user(guest).await, before);
}

/// The entries of each wallet are numbered 1, 2, 3…, lead from one balance to the next and are linked by
/// their hash.
pub async fn entries_follow_each_other(store: Arc<dyn Store>) {
    let world = World::new(store).with_commission(1_000);
    let (guest, dj) = (world.guest(1_000).await, world.dj(300).await);
    let request = world.request(guest, dj, at(1)).await;
    let played = world.move_request(request.id, Move::Play, at(2)).await.unwrap();
    world.move_request(request.id, Move::Refund, at(3)).await.unwrap();

    let of_guest = entries(&world, guest).await;
    let kinds: Vec<EntryKind> = of_guest.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Topup, EntryKind::Hold, EntryKind::Capture, EntryKind::Refund]);
    let changes: Vec<Balance> = of_guest.iter().map(|entry| entry.change).collect();
    assert_eq!(changes, [balance(1_000, 0), balance(-300, 300), balance(0, -300), balance(300, 0)]);
    let capture = &of_guest[2];
    assert_eq!(capture.operation, played.receipt().operation);
    assert_eq!(capture.reference, EntityRef::MusicRequest(request.id));
    assert_eq!(capture.at, at(2));

    let of_dj = entries(&world, dj).await;
    let kinds: Vec<EntryKind> = of_dj.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Earning, EntryKind::Reversal]);
    for (user, entries) in [(guest, of_guest), (dj, of_dj)] {
        follow(&entries);
        assert_eq!(entries.last().unwrap().after, world.balance(user).await);
    }
    world.audit().await;
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
pub async fn times_never_go_backwards(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(1_000).await;
    for seconds in [50, 10, 60, 20] {
        world.withdraw(guest, 100, at(seconds)).await.unwrap();
    }
    let times: Vec<_> = entries(&world, guest).await.iter().map(|entry| entry.at).collect();
    assert_eq!(times, [at(0), at(50), at(50), at(60), at(60)]);
    world.audit().await;
}

/// A free request has the same life cycle, moves no money, has no entries and counts as played.
pub async fn a_price_of_nothing_has_no_entries(store: Arc<dyn Store>) {
    let world = World::new(store).with_commission(1_000);
    let (guest, dj) = (world.guest(0).await, world.dj(0).await);
    let request = world.request(guest, dj, at(1)).await;
    world.move_request(request.id, Move::Accept, at(2)).await.unwrap();
    let played = world.move_request(request.id, Move::Play, at(3)).await.unwrap();
    assert_eq!(request_of(played.receipt()).state.status(), RequestStatus::Played);
    world.move_request(request.id, Move::Refund, at(4)).await.unwrap();
    assert_eq!(entries(&world, guest).await, []);
    assert_eq!(entries(&world, dj).await, []);
    assert_eq!(world.user(dj).await.dj.unwrap().played, 1);
    world.audit().await;
}

/// A guest with 1000 and a DJ with nothing available, 250 held for a withdrawal and 250 owed for a refund.
async fn indebted(world: &World) -> (UserId, UserId) {
    let (guest, dj) = (world.guest(1_000).await, world.dj(300).await);
    let request = world.request(guest, dj, at(1)).await;
    world.move_request(request.id, Move::Play, at(2)).await.unwrap();
    world.withdraw(dj, 250, at(3)).await.unwrap();
    world.move_request(request.id, Move::Refund, at(4)).await.unwrap();
    assert_eq!(world.balance(dj).await, owing(0, 250));
    assert_eq!(world.balance(guest).await, balance(1_000, 0));
    (guest, dj)
}

/// The balance of the [`indebted`] DJ.
fn owing(available: i128, owed: i128) -> Balance {
    Balance { owed: money(owed), ..balance(available, 250) }
}

/// Top-ups, adjustments and earnings pay a debt before any of them becomes available.
pub async fn income_pays_what_is_owed_first(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, dj) = indebted(&world).await;
    world.fund(dj, 10).await;
    assert_eq!(world.balance(dj).await, owing(0, 240), "a top-up");
    world.fresh(world.adjust_plan(world.by(guest, at(5)), dj, 15).await).await;
    assert_eq!(world.balance(dj).await, owing(0, 225), "a correction upwards");
    let next = world.request(guest, dj, at(6)).await;
    world.move_request(next.id, Move::Play, at(7)).await.unwrap();
    assert_eq!(world.balance(dj).await, owing(75, 0), "an earning");
    world.audit().await;
}

/// Released money already belonged to its owner: it pays no debt.
pub async fn released_money_pays_nothing_that_is_owed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (_, dj) = indebted(&world).await;
    let filter = WithdrawalFilter::of(dj);
    let withdrawal = world.store.withdrawals(&filter, PageRequest::new(1, 1)).await.unwrap().rows[0].id;
    world.move_withdrawal(withdrawal, &withdrawal::Move::Cancel { by: dj }, at(5)).await.unwrap();
    assert_eq!(world.balance(dj).await, Balance { owed: money(250), ..balance(250, 0) });
    world.audit().await;
}

/// Operations stay bound to the rules that posted them: those of the first version, in which only earnings
/// paid a debt, are audited by its rules.
pub async fn operations_of_earlier_rules_stay_sound(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (guest, dj) = indebted(&world).await;
    for (rules, expected) in
        [(PostingRules::EarningsPayOwed, owing(15, 250)), (PostingRules::IncomePaysOwed, owing(15, 235))]
    {
        let id = world.ids.next_topup().await.unwrap();
        let topup = plans::open_topup(world.by(dj, at(5)), id, dj, amount(10), Charge::Confirmed);
        let receipt = world.fresh(topup.clone().posted_by(rules)).await;
        assert_eq!(receipt.rules, rules);
        assert_eq!(world.apply(topup).await, Ok(Applied::Replayed(receipt)));
        world.fresh(world.adjust_plan(world.by(guest, at(5)), dj, 5).await.posted_by(rules)).await;
        assert_eq!(world.balance(dj).await, expected);
        world.audit().await;
    }
}

/// A plan is applied once, whether or not its caller awaits the answer.
pub async fn a_caller_that_goes_away_loses_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let guest = world.guest(1_000).await;
    let mut plans = Vec::new();
    for _ in 0..20 {
        plans.push(world.withdrawal_plan(world.by(guest, at(1)), guest, 10).await.unwrap());
    }
    for plan in &plans {
        // Polled once and dropped: the plan may be in progress, or never have been submitted.
        drop(world.store.apply(plan.clone()).now_or_never());
    }
    for plan in plans {
        world.apply(plan).await.unwrap();
    }
    assert_eq!(world.balance(guest).await, balance(800, 200));
    assert_eq!(entries(&world, guest).await.len(), 21);
}
