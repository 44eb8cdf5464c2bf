//! The sums of withdrawals within 24 hours that decide how many operators must approve.

use crate::support::{DJ, GUEST, Ledger, OPERATOR, amount, at, line, money, user, withdrawal_amount};
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::operation::{Entity, Receipt, Rejection, plans};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{
    Move, NewWithdrawal, WATCHED_AFTER_LOGIN_CHANGE, WithdrawalStatus, WithdrawalTerms, sum_24h,
};
use time::Duration;

use WithdrawalStatus::{Approved, Pending};

const DAY: Duration = Duration::hours(24);

/// Opens a withdrawal under a limit of automatic approval of 10.00.
fn open(
    ledger: &mut Ledger,
    number: i64,
    who: i64,
    cents: i128,
    now: Timestamp,
) -> Result<Receipt, Rejection> {
    let terms = WithdrawalTerms { auto_approve_below: Some(amount(1_000)), ..WithdrawalTerms::default() };
    let new = NewWithdrawal {
        amount: withdrawal_amount(cents),
        wallet_address: line("bc1qexample"),
        currency: line("BTC"),
        network: line("bitcoin"),
    };
    let (id, metadata) = (WithdrawalId::new(number).unwrap(), ledger.metadata(now));
    ledger.apply(&plans::open_withdrawal(metadata, id, user(who), new, &terms).unwrap())
}

fn opened(ledger: &mut Ledger, number: i64, who: i64, cents: i128, now: Timestamp) -> WithdrawalStatus {
    status(&open(ledger, number, who, cents, now).unwrap())
}

fn status(receipt: &Receipt) -> WithdrawalStatus {
    match &receipt.outcome.entity {
        Entity::Withdrawal(withdrawal) => withdrawal.state.status(),
        other => panic!("no withdrawal: {other:?}"),
    }
}

#[test]
fn withdrawals_with_a_24_hour_sum_below_the_limit_need_no_operator() {
    let first = at(0).plus(DAY);
    let tick = Duration::MICROSECOND;
    // The amount and the time of an earlier withdrawal, and the status of one of 4.00 a day after the start.
    for (cents, time, expected) in [
        (599, first, Approved),
        (600, first, Pending),
        (600, first.minus(DAY), Approved),
        (600, first.minus(DAY).plus(tick), Pending),
        // By a server whose clock is ahead.
        (600, first.plus(DAY).minus(tick), Pending),
        (600, first.plus(DAY), Approved),
    ] {
        let mut ledger = Ledger::new(0, 2_000);
        open(&mut ledger, 1, GUEST, cents, time).unwrap();
        assert_eq!(opened(&mut ledger, 2, GUEST, 400, first), expected, "after {cents} at {time:?}");
        ledger.audit().unwrap();
    }
    let mut ledger = Ledger::new(0, 2_000);
    assert_eq!(opened(&mut ledger, 1, GUEST, 999, at(0)), Approved);
    assert_eq!(opened(&mut ledger, 2, GUEST, 1_000, at(0).plus(DAY)), Pending);
}

#[test]
fn many_small_withdrawals_count_like_a_large_one() {
    let mut ledger = Ledger::new(0, 10_000);
    let statuses = (1..=10).map(|number| opened(&mut ledger, number, GUEST, 150, at(number)));
    let statuses: Vec<_> = statuses.collect();
    assert_eq!(statuses[..6], [Approved; 6]);
    assert_eq!(statuses[6..], [Pending; 4]);
}

#[test]
fn only_payable_withdrawals_of_the_owner_are_added_up() {
    let reject = Move::Reject { by: user(OPERATOR) };
    let endings = [
        (vec![Move::Cancel], Approved),
        (vec![reject], Approved),
        (vec![Move::Process, Move::Fail], Approved),
        (vec![Move::Process], Pending),
        (vec![Move::Process, Move::Review], Pending),
    ];
    for (moves, expected) in endings {
        let mut ledger = Ledger::new(0, 2_000);
        open(&mut ledger, 1, GUEST, 900, at(1)).unwrap();
        for to in &moves {
            ledger.move_withdrawal(1, to.clone()).unwrap();
        }
        assert_eq!(opened(&mut ledger, 2, GUEST, 900, at(5)), expected, "{moves:?}");
    }
    let mut ledger = Ledger::new(0, 2_000);
    ledger.adjust(DJ, 2_000).unwrap();
    open(&mut ledger, 1, DJ, 900, at(1)).unwrap();
    assert_eq!(opened(&mut ledger, 2, GUEST, 900, at(1)), Approved, "each owner has a separate sum");
}

#[test]
fn withdrawals_need_approval_for_two_days_after_a_login_change() {
    let changed = at(1_000);
    let end = changed.plus(WATCHED_AFTER_LOGIN_CHANGE);
    for (now, expected) in [(changed, Pending), (end.minus(Duration::MICROSECOND), Pending), (end, Approved)]
    {
        let mut ledger = Ledger::new(0, 2_000);
        ledger.book.get_mut(user(GUEST)).unwrap().login_changed_at = Some(changed);
        assert_eq!(opened(&mut ledger, 1, GUEST, 1, now), expected, "{now:?}");
    }
}

/// The sum counts the days around the creation, however late the approval comes.
#[test]
fn a_late_approval_uses_the_24_hour_sum_around_the_creation_time() {
    let mut ledger = Ledger::new(0, 5_000);
    let terms = WithdrawalTerms::default();
    assert_eq!(terms.second_approval_above, None);
    for (number, seconds) in [(1, 0), (2, 3_600), (3, 200_000)] {
        open(&mut ledger, number, GUEST, 1_000, at(seconds)).unwrap();
    }
    let late = at(200_000);
    for (number, expected) in [(1, Pending), (2, Pending), (3, Approved)] {
        let stored = ledger.book.get(WithdrawalId::new(number).unwrap()).unwrap().clone();
        let approve = Move::Approve { by: Some(user(OPERATOR)), second_above: Some(amount(1_500)) };
        let plan = plans::move_withdrawal(ledger.metadata(late), &stored, approve).unwrap();
        assert_eq!(status(&ledger.apply(&plan).unwrap()), expected, "withdrawal {number}");
    }
    ledger.audit().unwrap();
}

/// A withdrawal that needed two approvals needs one after the other withdrawals ended without a payout.
#[test]
fn the_24_hour_sum_is_computed_at_each_approval() {
    let mut ledger = Ledger::new(0, 5_000);
    for number in [1, 2] {
        open(&mut ledger, number, GUEST, 1_000, at(number)).unwrap();
    }
    let approve = Move::Approve { by: Some(user(OPERATOR)), second_above: Some(amount(1_500)) };
    assert_eq!(status(&ledger.move_withdrawal(1, approve.clone()).unwrap()), Pending);
    ledger.move_withdrawal(2, Move::Cancel).unwrap();
    assert_eq!(status(&ledger.move_withdrawal(1, approve).unwrap()), Approved);
    ledger.audit().unwrap();
}

#[test]
fn the_24_hour_sum_of_a_withdrawal_includes_it_exactly_once() {
    let mut ledger = Ledger::new(0, 5_000);
    for number in [1, 2] {
        open(&mut ledger, number, GUEST, 700, at(number)).unwrap();
    }
    let all: Vec<_> = ledger.book.withdrawals_of(user(GUEST)).cloned().collect();
    assert_eq!(sum_24h(&all[0], &all), money(1_400));
    assert_eq!(sum_24h(&all[0], &all[1..]), money(1_400));
    assert_eq!(sum_24h(&all[0], []), money(700));
}
