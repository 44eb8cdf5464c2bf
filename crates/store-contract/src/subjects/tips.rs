//! Tips of guests to DJs.

use std::sync::Arc;

use cuepoint_domain::gig::{DjCode, Gig};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::EntryKind;
use cuepoint_domain::operation::{OperationMetadata, Rejection, StoredReceipt, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, Erased, Store};
use cuepoint_domain::privacy::personal_data::{ExportKey, ExportList, ExportRecord};
use cuepoint_domain::tip::{Tip, TipDirection, TipFilter, TipRefusal};
use cuepoint_domain::user::UserStatusChange;

use crate::harness::scenario::{Refused, Scenario, amount, at, at_once, balance, key, money, tip_of};
use crate::subjects::gigs::{ended, opened, opened_under};

promises! { ($) tips as tips_promises {
    a_tip_pays_the_dj_and_the_commission,
    a_tip_pays_the_debt_of_its_dj_first,
    no_dj_gets_a_tip_once_suspended_or_erased,
    no_dj_can_tip_themselves,
    a_replayed_tip_moves_no_money_even_if_the_dj_is_suspended_or_erased,
    concurrent_tips_never_exceed_the_balance,
    given_and_received_tips_are_listed_newest_first,
    the_first_tip_makes_a_user_a_previous_guest_of_the_dj,
    given_and_received_tips_are_exported_completely,
}}

async fn tip(scenario: &Scenario, guest: UserId, gig: &Gig, cents: i128, seconds: i64) -> Tip {
    let plan = scenario.tip_plan(scenario.by(guest, at(seconds)), guest, gig, cents).await.unwrap();
    tip_of(&scenario.fresh(plan).await)
}

async fn listed(scenario: &Scenario, user: UserId, direction: TipDirection) -> Vec<Tip> {
    let page = PageRequest::new(1, 100);
    scenario.store.tips(&TipFilter { user, direction }, page).await.unwrap().rows
}

/// A tip reads back, moves the money at once, and leaves an entry in both wallets. Its commission is rounded as of a fee.
pub async fn a_tip_pays_the_dj_and_the_commission(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(10).await);
    let gig = opened(&scenario, dj, 1).await;
    let given = tip(&scenario, guest, &gig, 345, 2).await;
    // A tenth of 345 is 34.5, which is rounded to an even number.
    let (id, gig_id) = (given.id, gig.id);
    let expected =
        Tip { id, guest, dj, gig: gig_id, amount: amount(345), commission: money(34), created_at: at(2) };
    assert_eq!(given, expected);
    assert_eq!(scenario.stored(id).await, Some(expected));
    assert_eq!(scenario.balance(guest).await, balance(655, 0));
    assert_eq!(scenario.balance(dj).await, balance(311, 0));
    let newest = |user| {
        let store = scenario.store.clone();
        async move { store.entries(user, PageRequest::new(1, 1)).await.unwrap().rows.pop().unwrap() }
    };
    for (user, kind) in [(guest, EntryKind::Tip), (dj, EntryKind::Earning)] {
        let entry = newest(user).await;
        assert_eq!((entry.kind, entry.reference), (kind, id.into()));
    }
    let gig = ended(&scenario, &gig, 3).await;
    tip(&scenario, guest, &gig, 655, 4).await;
    assert_eq!(scenario.balance(guest).await, balance(0, 0));
    let mut amounts = scenario.store.tips_in_gig(gig.id).await.unwrap();
    amounts.sort_unstable();
    assert_eq!(amounts, [amount(345), amount(655)]);
    let other = opened(&scenario, dj, 5).await;
    assert_eq!(scenario.store.tips_in_gig(other.id).await.unwrap(), []);
    scenario.audit().await;
}

/// A tip is income: it pays what the DJ owes before it becomes available. A guest who owes money cannot give one.
pub async fn a_tip_pays_the_debt_of_its_dj_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(1_000).await, scenario.dj(10).await);
    let gig = opened(&scenario, dj, 1).await;
    let topup = scenario.confirmed_topup(dj, 300).await;
    scenario.withdraw(dj, 300, at(2)).await.unwrap();
    let reversal = plans::reverse_topup(scenario.by(dj, at(3)), &topup).unwrap();
    scenario.fresh(reversal).await;
    assert_eq!(scenario.balance(dj).await.owed, money(300));
    tip(&scenario, guest, &gig, 200, 4).await;
    tip(&scenario, guest, &gig, 150, 5).await;
    let paid = scenario.balance(dj).await;
    assert_eq!((paid.available, paid.owed), (money(50), money(0)));
    scenario.audit().await;

    let topup = scenario.confirmed_topup(guest, 100).await;
    scenario.withdraw(guest, 750, at(6)).await.unwrap();
    let reversal = plans::reverse_topup(scenario.by(guest, at(7)), &topup).unwrap();
    scenario.fresh(reversal).await;
    let plan = scenario.tip_plan(scenario.by(guest, at(8)), guest, &gig, 1).await.unwrap();
    assert_eq!(scenario.apply(plan).await, Err(Rejection::WalletOwes { owed: money(100) }));
}

/// A plan of a tip that was decided before is refused. A restored DJ gets tips again.
pub async fn no_dj_gets_a_tip_once_suspended_or_erased(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, operator) =
        (scenario.guest(1_000).await, scenario.dj(10).await, scenario.operator().await);
    let gig = opened(&scenario, dj, 1).await;
    let mut decided = Vec::new();
    for _ in 0..3 {
        decided.push(scenario.tip_plan(scenario.by(guest, at(2)), guest, &gig, 5).await.unwrap());
    }
    let mut decided = decided.into_iter();
    let mut next = || decided.next().unwrap();
    scenario.change_status(operator, dj, UserStatusChange::Suspend, at(3)).await;
    assert_eq!(scenario.apply(next()).await, Err(Rejection::Inactive));
    assert_eq!(scenario.balance(guest).await, balance(1_000, 0));
    scenario.change_status(operator, dj, UserStatusChange::Restore, at(4)).await;
    scenario.fresh(next()).await;
    assert_eq!((scenario.balance(guest).await, scenario.balance(dj).await), (balance(995, 0), balance(5, 0)));
    scenario.fresh(scenario.adjust_plan(scenario.by(operator, at(5)), dj, -5).await).await;
    assert_eq!(scenario.erase(dj, 6).await, Erased::Done);
    assert_eq!(scenario.apply(next()).await, Err(Rejection::Inactive));
    assert_eq!((scenario.balance(guest).await, scenario.balance(dj).await), (balance(995, 0), balance(0, 0)));
    scenario.audit().await;
}

/// A guest cannot tip themselves as the DJ of the gig.
pub async fn no_dj_can_tip_themselves(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let dj = scenario.dj(10).await;
    scenario.fund(dj, 100).await;
    let gig = opened(&scenario, dj, 1).await;
    let refused = scenario.tip_plan(scenario.by(dj, at(6)), dj, &gig, 5).await;
    assert_eq!(refused.err(), Some(Refused::Tip(TipRefusal::Oneself)));
}

/// The first outcome is returned after the end of the gig, a new code, a suspension and an erasure of the DJ.
///
/// Attack API6: repeating a tip, so that it is paid several times.
pub async fn a_replayed_tip_moves_no_money_even_if_the_dj_is_suspended_or_erased(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let (guest, dj, operator) =
        (scenario.guest(1_000).await, scenario.dj(10).await, scenario.operator().await);
    let gig = opened(&scenario, dj, 1).await;
    let key = key(guest, "k", "a tip of 0.50");
    // Each is decided for the gig as it was: the service decides no plan for a known key.
    let repeated = async |seconds| {
        let metadata = OperationMetadata { key: Some(key), ..scenario.by(guest, at(seconds)) };
        scenario.apply(scenario.tip_plan(metadata, guest, &gig, 50).await.unwrap()).await.unwrap()
    };
    let Applied::Fresh(first) = repeated(2).await else { panic!("the first tip is no repetition") };
    let is_repeated = async |seconds| {
        assert_eq!(repeated(seconds).await, Applied::Replayed(first.clone()));
        assert_eq!(scenario.balance(guest).await, balance(950, 0));
        assert_eq!(listed(&scenario, guest, TipDirection::Given).await, [tip_of(&first)]);
        let record = scenario.store.find_key(&key.scope).await.unwrap().unwrap();
        assert_eq!(record.receipt, StoredReceipt::Whole(first.clone()));
    };
    is_repeated(3).await;
    ended(&scenario, &gig, 4).await;
    is_repeated(5).await;
    let next = opened_under(&scenario, dj, DjCode::new("ZZZZZ2").unwrap(), 6).await;
    assert_ne!(next.code, gig.code);
    is_repeated(7).await;
    scenario.change_status(operator, dj, UserStatusChange::Suspend, at(8)).await;
    is_repeated(9).await;
    assert_eq!(scenario.balance(dj).await, balance(45, 0));
    scenario.fresh(scenario.adjust_plan(scenario.by(operator, at(10)), dj, -45).await).await;
    assert_eq!(scenario.erase(dj, 11).await, Erased::Done);
    is_repeated(12).await;
    assert_eq!(scenario.balance(dj).await, balance(0, 0));
    scenario.audit().await;
}

/// Of several tips at once, as many are applied as the balance covers.
pub async fn concurrent_tips_never_exceed_the_balance(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(5_000);
    let (guest, dj) = (scenario.guest(100).await, scenario.dj(10).await);
    let gig = opened(&scenario, dj, 1).await;
    let mut decided = Vec::new();
    for _ in 0..8 {
        decided.push(scenario.tip_plan(scenario.by(guest, at(2)), guest, &gig, 30).await.unwrap());
    }
    let answers = at_once(decided.into_iter().map(|plan| {
        let scenario = scenario.clone();
        async move { scenario.apply(plan).await }
    }))
    .await;
    let applied = answers.iter().filter(|answer| matches!(answer, Ok(Applied::Fresh(_)))).count();
    let short = Err(Rejection::InsufficientFunds { available: money(10) });
    assert_eq!((applied, answers.iter().filter(|answer| **answer == short).count()), (3, 5), "{answers:?}");
    assert_eq!(scenario.balance(dj).await, balance(45, 0));
    scenario.audit().await;
}

/// A user sees the tips that they gave, and those that they received, by time, then id, both descending, on pages.
pub async fn given_and_received_tips_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, other) = (scenario.guest(1_000).await, scenario.dj(10).await, scenario.dj(10).await);
    scenario.fund(dj, 100).await;
    let (gig, others) = (opened(&scenario, dj, 1).await, opened(&scenario, other, 1).await);
    let mut received = Vec::new();
    for seconds in [2, 4, 4, 3] {
        received.push(tip(&scenario, guest, &gig, 10, seconds).await);
    }
    let given = tip(&scenario, dj, &others, 10, 5).await;
    received.sort_by_key(|tip| std::cmp::Reverse((tip.created_at, tip.id)));
    assert_eq!(listed(&scenario, dj, TipDirection::Received).await, received);
    assert_eq!(listed(&scenario, dj, TipDirection::Given).await, [given]);
    assert_eq!(listed(&scenario, guest, TipDirection::Given).await, received);
    assert_eq!(listed(&scenario, other, TipDirection::Given).await, []);
    let filter = TipFilter { user: dj, direction: TipDirection::Received };
    let page = scenario.store.tips(&filter, PageRequest::new(2, 3)).await.unwrap();
    assert_eq!((page.rows, page.total), (received[3..].to_vec(), 4));
    let page = scenario.store.tips(&filter, PageRequest::new(3, 2)).await.unwrap();
    assert_eq!((page.rows, page.total), (Vec::new(), 4));
}

/// A user counts as a guest of a DJ from the first tip on, and not of another DJ.
pub async fn the_first_tip_makes_a_user_a_previous_guest_of_the_dj(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj, other) = (scenario.guest(1_000).await, scenario.dj(10).await, scenario.dj(10).await);
    let gig = opened(&scenario, dj, 1).await;
    let known = async |guest, dj| scenario.store.has_tipped(guest, dj).await.unwrap();
    assert!(!known(guest, dj).await);
    tip(&scenario, guest, &gig, 10, 2).await;
    assert!(known(guest, dj).await);
    for (guest, dj) in [(guest, other), (dj, guest), (other, dj)] {
        assert!(!known(guest, dj).await);
    }
}

/// The export of either party has the whole tip, also on small pages.
pub async fn given_and_received_tips_are_exported_completely(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(100);
    let (guest, dj, other) = (scenario.guest(1_000).await, scenario.dj(10).await, scenario.dj(10).await);
    scenario.fund(dj, 100).await;
    let (gig, others) = (opened(&scenario, dj, 1).await, opened(&scenario, other, 1).await);
    for seconds in [2, 6, 4] {
        tip(&scenario, guest, &gig, 10, seconds).await;
    }
    for seconds in [3, 6, 5] {
        tip(&scenario, dj, &others, 10, seconds).await;
    }
    for user in [guest, dj, other] {
        let mut both = listed(&scenario, user, TipDirection::Given).await;
        both.extend(listed(&scenario, user, TipDirection::Received).await);
        both.sort_by_key(|tip| std::cmp::Reverse((tip.created_at, tip.id)));
        let expected: Vec<ExportRecord> = both.into_iter().map(ExportRecord::Tip).collect();
        for limit in [1, 2, 100] {
            let mut records: Vec<ExportRecord> = Vec::new();
            loop {
                let after: Option<ExportKey> = records.last().map(ExportRecord::key);
                let page = scenario.store.records(user, ExportList::Tips, after, limit).await.unwrap();
                let is_full = page.len() == usize::try_from(limit).unwrap();
                records.extend(page);
                if !is_full {
                    break;
                }
            }
            assert_eq!(records, expected, "by {limit}");
        }
    }
    let stranger = scenario.guest(0).await;
    assert_eq!(scenario.store.records(stranger, ExportList::Tips, None, 100).await.unwrap(), []);
}
