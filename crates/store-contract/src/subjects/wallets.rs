//! Balances, statements, withdrawals and top-ups as their owners read them.

use std::sync::Arc;

use cuepoint_domain::ledger::{Entry, EntryKind};
use cuepoint_domain::operation::plans;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::Store;
use cuepoint_domain::text::PaymentUrl;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Charge, Orders, TopupFilter, TopupStatus};
use cuepoint_domain::withdrawal::{Move, WithdrawalFilter, WithdrawalStatus};
use time::Duration;

use crate::harness::scenario::{Scenario, amount, at, balance, topup_of, withdrawal_of};

promises! { ($) wallets as wallets_promises {
    a_new_wallet_has_a_zero_balance,
    entries_are_listed_newest_first,
    entries_of_one_kind_are_listed_newest_first,
    an_entry_is_found_by_its_number,
    the_balance_at_a_time_is_the_one_after_the_last_entry_up_to_that_time,
    withdrawals_are_listed_newest_first,
    withdrawals_are_filtered_by_user_and_status,
    topups_are_listed_newest_first,
}}

/// Pages past the end of a short list; at 16 or 2 rows a page, the first row of some overflows a row number
/// of 32 or 64 bits.
pub(crate) const PAST_THE_END: [u64; 10] = [
    4,
    (1 << 28) + 1,
    (1 << 31) + 1,
    (1 << 40) + 1,
    (1 << 59) + 1,
    (1 << 60) + 1,
    (1 << 62) + 1,
    (1 << 63) + 1,
    i64::MAX.unsigned_abs(),
    u64::MAX,
];

/// Every registered user has a balance; an unknown one has none.
pub async fn a_new_wallet_has_a_zero_balance(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    assert_eq!(scenario.store.balance(guest).await.unwrap(), Some(balance(0, 0)));
    assert_eq!(scenario.store.entries(guest, PageRequest::new(1, 15)).await.unwrap(), Rows::none(0));
    let nobody = scenario.ids.next_user().await.unwrap();
    assert_eq!(scenario.store.balance(nobody).await.unwrap(), None);
    assert_eq!(scenario.store.entries(nobody, PageRequest::new(1, 15)).await.unwrap(), Rows::none(0));
}

/// A statement is sorted by number, descending, in pages without gap or overlap; its newest entry has the
/// current balance.
pub async fn entries_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, other) = (scenario.guest(0).await, scenario.guest(0).await);
    for seconds in 0..31 {
        for user in [guest, other] {
            let plan = scenario.adjust_plan(scenario.by(user, at(seconds)), user, 100).await;
            scenario.fresh(plan).await;
        }
    }
    for size in [1, 15, 16, 31, 100] {
        let mut seen = Vec::new();
        for number in 1..=31_u64.div_ceil(u64::from(size)) {
            let rows = scenario.store.entries(guest, PageRequest::new(number, size)).await.unwrap();
            assert_eq!(rows.total, 31);
            assert!(rows.rows.iter().all(|entry| entry.wallet == guest));
            seen.extend(rows.rows.iter().map(|entry| entry.seq));
        }
        assert_eq!(seen, (1..=31).rev().collect::<Vec<i64>>(), "pages of {size}");
    }
    for number in PAST_THE_END {
        let rows = scenario.store.entries(guest, PageRequest::new(number, 16)).await.unwrap();
        assert_eq!(rows, Rows::none(31), "page {number}");
    }
    let newest = scenario.store.entries(guest, PageRequest::new(1, 1)).await.unwrap().rows;
    assert_eq!(newest[0].after, scenario.balance(guest).await);
}

/// An entry is found by its number in its own wallet, as the statement lists it, and by no other number.
pub async fn an_entry_is_found_by_its_number(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, other) = (scenario.guest(0).await, scenario.guest(0).await);
    for seconds in 0..3 {
        let plan = scenario.adjust_plan(scenario.by(guest, at(seconds)), guest, 100).await;
        scenario.fresh(plan).await;
    }
    let plan = scenario.adjust_plan(scenario.by(other, at(5)), other, 700).await;
    scenario.fresh(plan).await;
    let listed = scenario.store.entries(guest, PageRequest::new(1, 15)).await.unwrap().rows;
    for entry in &listed {
        assert_eq!(scenario.store.entry(guest, entry.seq).await.unwrap().as_ref(), Some(entry));
    }
    assert_eq!(listed.len(), 3);
    let theirs = scenario.store.entry(other, 1).await.unwrap().unwrap();
    assert_eq!((theirs.wallet, theirs.after), (other, scenario.balance(other).await));
    assert_eq!(scenario.store.entry(other, 2).await.unwrap(), None);
    let nobody = scenario.ids.next_user().await.unwrap();
    for (user, number) in [(guest, 0), (guest, 4), (guest, -1), (guest, i64::MAX), (nobody, 1)] {
        assert_eq!(scenario.store.entry(user, number).await.unwrap(), None, "{number} of {user}");
    }
}

/// The balance at a time is that of the last entry up to it, to the microsecond.
pub async fn the_balance_at_a_time_is_the_one_after_the_last_entry_up_to_that_time(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, nobody) = (scenario.guest(0).await, scenario.ids.next_user().await.unwrap());
    let after = async |moment| scenario.store.balance_at(guest, moment).await.unwrap();
    assert_eq!(after(at(1_000)).await, Some(balance(0, 0)));
    // The second adjustment is older than the first, and its entry gets the first one's time.
    for (seconds, cents) in [(10, 500), (5, 20), (10, 3), (20, -100)] {
        scenario.fresh(scenario.adjust_plan(scenario.by(guest, at(seconds)), guest, cents).await).await;
    }
    scenario.withdraw(guest, 100, at(30)).await.unwrap();
    let microsecond = Duration::microseconds(1);
    for (moment, expected) in [
        (Timestamp::EPOCH, balance(0, 0)),
        (at(5), balance(0, 0)),
        (at(10).minus(microsecond), balance(0, 0)),
        (at(10), balance(523, 0)),
        (at(20).minus(microsecond), balance(523, 0)),
        (at(20), balance(423, 0)),
        (at(30), balance(323, 100)),
        (at(1_000_000_000), balance(323, 100)),
    ] {
        assert_eq!(after(moment).await, Some(expected), "{moment:?}");
    }
    assert_eq!(scenario.store.balance_at(nobody, at(10)).await.unwrap(), None);
}

/// Withdrawals are listed newest first, for their owner only, in their current status.
pub async fn withdrawals_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, other) = (scenario.guest(1_000).await, scenario.guest(1_000).await);
    let mut made = Vec::new();
    for seconds in [5, 3, 3, 9, 3] {
        made.push(withdrawal_of(&scenario.withdraw(guest, 100, at(seconds)).await.unwrap()));
        scenario.withdraw(other, 100, at(seconds)).await.unwrap();
    }
    made.sort_by_key(|withdrawal| std::cmp::Reverse((withdrawal.created_at, withdrawal.id)));
    scenario.move_withdrawal(made[0].id, &Move::Cancel, at(20)).await.unwrap();
    made[0] = scenario.stored_withdrawal(made[0].id).await;
    assert_eq!((made[0].updated_at, made[0].state.txid()), (at(20), None));

    let page = async |number, size| scenario.withdrawals_of(guest, PageRequest::new(number, size)).await;
    assert_eq!(page(1, 15).await, Rows { rows: made.clone(), total: 5 });
    assert_eq!(page(2, 2).await, Rows { rows: made[2..4].to_vec(), total: 5 });
    for number in PAST_THE_END {
        assert_eq!(page(number, 2).await, Rows::none(5), "page {number}");
    }
    let unknown = scenario.ids.next_withdrawal().await.unwrap();
    assert_eq!(scenario.find_withdrawal(unknown).await, None);
}

/// The list of all users' withdrawals, or of one status, is sorted newest first in pages without gap or
/// overlap, and follows every move.
pub async fn withdrawals_are_filtered_by_user_and_status(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (ada, bob) = (scenario.guest(1_000).await, scenario.guest(1_000).await);
    let mut made = Vec::new();
    for (user, seconds) in [(ada, 5), (bob, 3), (ada, 3), (bob, 9), (ada, 3), (bob, 5), (ada, 9)] {
        made.push(withdrawal_of(&scenario.withdraw(user, 100, at(seconds)).await.unwrap()));
    }
    made.sort_by_key(|withdrawal| std::cmp::Reverse((withdrawal.created_at, withdrawal.id)));
    for (place, to) in [
        (1, Move::Approve { by: None, second_above: None }),
        (4, Move::Approve { by: None, second_above: None }),
        (4, Move::Process),
        (5, Move::Approve { by: None, second_above: None }),
        (6, Move::Cancel),
    ] {
        scenario.move_withdrawal(made[place].id, &to, at(20)).await.unwrap();
    }
    for withdrawal in &mut made {
        *withdrawal = scenario.stored_withdrawal(withdrawal.id).await;
    }
    for user in [None, Some(ada), Some(bob)] {
        for status in WithdrawalStatus::all().map(Some).chain([None]) {
            let filter = WithdrawalFilter { user, status };
            let theirs = made.iter().filter(|one| user.is_none_or(|user| user == one.user));
            let expected: Vec<_> = theirs
                .filter(|one| status.is_none_or(|status| status == one.state.status()))
                .cloned()
                .collect();
            let total = u64::try_from(expected.len()).unwrap();
            for size in [1, 2, 15] {
                let mut seen = Vec::new();
                for number in 1..=total.div_ceil(u64::from(size)) {
                    let page = PageRequest::new(number, size);
                    let rows = scenario.store.withdrawals(&filter, page).await.unwrap();
                    assert_eq!(rows.total, total, "{filter:?}");
                    seen.extend(rows.rows);
                }
                assert_eq!(seen, expected, "{filter:?} in pages of {size}");
            }
            for number in PAST_THE_END {
                let page = PageRequest::new(number, 15);
                assert_eq!(scenario.store.withdrawals(&filter, page).await.unwrap(), Rows::none(total));
            }
        }
    }
}

/// The entries of one kind are listed newest first, in pages without gap or overlap, for their wallet only.
pub async fn entries_of_one_kind_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, other) = (scenario.guest(0).await, scenario.guest(0).await);
    for seconds in 0..5 {
        for user in [guest, other] {
            let plan = scenario.adjust_plan(scenario.by(user, at(seconds)), user, 500).await;
            scenario.fresh(plan).await;
        }
        scenario.withdraw(guest, 100, at(seconds)).await.unwrap();
    }
    let page = async |kind, number, size| {
        scenario.store.entries_of_kind(guest, kind, PageRequest::new(number, size)).await.unwrap()
    };
    let numbers = |rows: &Rows<Entry>| rows.rows.iter().map(|entry| entry.seq).collect::<Vec<_>>();
    for (kind, expected) in [(EntryKind::Adjustment, [9, 7, 5, 3, 1]), (EntryKind::Hold, [10, 8, 6, 4, 2])] {
        let mut seen = Vec::new();
        for number in 1..=3 {
            let rows = page(kind, number, 2).await;
            assert!(rows.rows.iter().all(|entry| (entry.wallet, entry.kind) == (guest, kind)));
            assert_eq!(rows.total, 5);
            seen.extend(numbers(&rows));
        }
        assert_eq!(seen, expected, "{kind:?}");
        for number in PAST_THE_END {
            assert_eq!(page(kind, number, 16).await, Rows::none(5), "page {number}");
        }
    }
    assert_eq!(page(EntryKind::Refund, 1, 15).await, Rows::none(0));
}

/// Top-ups are listed newest first, for their owner only, in their current status.
pub async fn topups_are_listed_newest_first(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, other) = (scenario.guest(0).await, scenario.guest(700).await);
    let mut made = Vec::new();
    for seconds in [5, 3, 3, 9, 3] {
        let id = scenario.ids.next_topup().await.unwrap();
        let plan =
            plans::open_topup(scenario.by(guest, at(seconds)), id, guest, amount(100), Charge::Pending);
        let opened = topup_of(&scenario.fresh(plan).await);
        let page = PaymentUrl::new("https://pay.example.com/1").ok();
        let plan = plans::order_topup(scenario.by(guest, at(seconds)), &opened, Orders::default(), page);
        made.push(topup_of(&scenario.fresh(plan).await));
    }
    made.sort_by_key(|topup| std::cmp::Reverse((topup.created_at, topup.id)));
    let settled = plans::settle_topup(scenario.by(guest, at(20)), &made[0], true);
    made[0] = topup_of(&scenario.fresh(settled).await);
    assert_eq!(scenario.balance(guest).await, balance(100, 0));

    let page = async |number, size| {
        scenario.store.topups(&TopupFilter::of(guest), PageRequest::new(number, size)).await.unwrap()
    };
    assert_eq!(page(1, 15).await, Rows { rows: made.clone(), total: 5 });
    assert_eq!(page(2, 2).await, Rows { rows: made[2..4].to_vec(), total: 5 });
    for number in PAST_THE_END {
        assert_eq!(page(number, 2).await, Rows::none(5), "page {number}");
    }
    assert_eq!(
        scenario.store.topups(&TopupFilter::of(other), PageRequest::new(1, 15)).await.unwrap().total,
        1
    );
    for (status, expected) in
        [(TopupStatus::Pending, &made[1..]), (TopupStatus::Confirmed, &made[..1]), (TopupStatus::Failed, &[])]
    {
        let filter = TopupFilter { user: guest, status: Some(status) };
        let total = u64::try_from(expected.len()).unwrap();
        let all = scenario.store.topups(&filter, PageRequest::new(1, 15)).await.unwrap();
        assert_eq!(all, Rows { rows: expected.to_vec(), total }, "{status:?}");
        let second = scenario.store.topups(&filter, PageRequest::new(2, 1)).await.unwrap();
        assert_eq!(second, Rows { rows: expected.iter().skip(1).take(1).cloned().collect(), total });
    }
    assert_eq!(scenario.stored_topup(made[0].id).await, made[0]);
    let unknown = scenario.ids.next_topup().await.unwrap();
    assert_eq!(scenario.find_topup(unknown).await, None);
}
