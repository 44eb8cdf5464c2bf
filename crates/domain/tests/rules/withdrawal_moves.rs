//! The life cycle of `WithdrawalStatus` in the OpenAPI document, cell by cell: the status and the amount.

use crate::support::{GUEST, OPERATOR, amount, at, line, user, withdrawal_amount};
use cuepoint_domain::address::{AddressPolicy, DestinationRefusal, OptionsTable, PayoutOption};
use cuepoint_domain::ids::{OperationId, WithdrawalId};
use cuepoint_domain::ledger::{Account, OutsideAccount, Transfer, TransferKind};
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{
    Decision, Limit, Move, MoveRefusal, NewWithdrawal, OpenRefusal, Window, Withdrawal, WithdrawalLimits,
    WithdrawalMove, WithdrawalState, WithdrawalStatus, WithdrawalTerms, decide, open,
};
use time::Duration;

fn known() -> Line {
    line("known")
}

fn given() -> Line {
    line("given")
}

fn withdrawal(state: WithdrawalState, cents: i128, created_at: Timestamp) -> Withdrawal {
    Withdrawal {
        id: WithdrawalId::new(1).unwrap(),
        opening: None,
        user: user(GUEST),
        amount: amount(cents),
        wallet_address: line("bc1qexample"),
        currency: line("BTC"),
        network: line("bitcoin"),
        state,
        approvals: Vec::new(),
        created_at,
        updated_at: created_at,
    }
}

/// The columns of the table.
fn moves() -> [Move; 14] {
    let operator = user(OPERATOR);
    [
        Move::Cancel,
        Move::Approve { by: None, second_above: None },
        Move::Approve { by: Some(operator), second_above: Some(amount(7)) },
        Move::Reject { by: operator },
        Move::Process,
        Move::Broadcast { txid: given() },
        Move::Complete { txid: None },
        Move::Complete { txid: Some(given()) },
        Move::Fail,
        Move::Refused,
        Move::Review,
        Move::Send { now: at(60), again_at: at(120) },
        Move::Send { now: at(59), again_at: at(120) },
        Move::Accepted,
    ]
}

/// The state that a successful move leads to.
fn reached(from: &WithdrawalState, to: &Move) -> WithdrawalState {
    let before = from.txid().cloned();
    match to {
        Move::Cancel => WithdrawalState::Cancelled,
        Move::Approve { .. } => WithdrawalState::Approved,
        Move::Reject { .. } => WithdrawalState::Rejected,
        Move::Process => WithdrawalState::Processing { attempts: 0, retry_at: None },
        Move::Send { again_at, .. } => {
            WithdrawalState::Processing { attempts: from.attempts() + 1, retry_at: Some(*again_at) }
        }
        Move::Accepted => WithdrawalState::Processing { attempts: from.attempts(), retry_at: None },
        Move::Broadcast { txid } => WithdrawalState::Broadcast { txid: txid.clone() },
        Move::Complete { txid: Some(txid) } => WithdrawalState::Completed { txid: txid.clone() },
        Move::Complete { txid: None } => WithdrawalState::Completed { txid: before.unwrap() },
        Move::Fail | Move::Refused => WithdrawalState::Failed { txid: before },
        Move::Review => WithdrawalState::NeedsReview { txid: before },
    }
}

/// `a` is an approval, decided when it is applied; `=` changes nothing, `t` lacks a transaction, `x` is refused,
/// `v` is refused until a review; otherwise moved: `.` without money, `r` with the amount released, `c` with it
/// captured.
fn check(from: WithdrawalState, to: Move, cell: &str, onward: &[WithdrawalStatus]) {
    let before = withdrawal(from.clone(), 1_000, at(0));
    let settled = |credit, kind| {
        Some(Transfer { debit: Account::Held(user(GUEST)), credit, amount: amount(1_000), kind })
    };
    let moved = |transfer| Ok(Decision::Moved(WithdrawalMove { to: reached(&from, &to), transfer }));
    let expected = match cell {
        "=" => Ok(Decision::Unchanged),
        "a" => Ok(Decision::Approval { by: user(OPERATOR), second_above: Some(amount(7)) }),
        "t" => Err(MoveRefusal::TxidMissing),
        "x" => {
            let current = from.status();
            Err(MoveRefusal::InvalidTransition { current, allowed: onward.to_vec() })
        }
        "v" => Err(MoveRefusal::InvalidTransition {
            current: WithdrawalStatus::Processing,
            allowed: vec![WithdrawalStatus::Broadcast, WithdrawalStatus::NeedsReview],
        }),
        "." => moved(None),
        "r" => moved(settled(Account::Available(user(GUEST)), TransferKind::Release)),
        "c" => moved(settled(Account::Outside(OutsideAccount::Payouts), TransferKind::Capture)),
        other => panic!("no cell: {other}"),
    };
    assert_eq!(decide(&before, to.clone()), expected, "{to:?} of {from:?}");
}

#[test]
fn every_move_from_every_state_has_the_expected_outcome() {
    use WithdrawalStatus::{
        Approved, Broadcast, Cancelled, Completed, Failed, NeedsReview, Processing, Rejected,
    };
    type Row = (WithdrawalState, &'static str, &'static [WithdrawalStatus]);
    // cancel; approve: rule, operator; reject; process; broadcast; complete: without and with a transaction;
    // fail; refused; review; send: at 60 seconds, just before; accepted. Then the statuses allowed next.
    let sent = |attempts, retry_at| WithdrawalState::Processing { attempts, retry_at };
    let (once, again) = (&[Broadcast, Failed, NeedsReview], &[Broadcast, NeedsReview]);
    let table: [Row; 16] = [
        (WithdrawalState::Pending, "r . a r x x x x x x x x x x", &[Approved, Rejected, Cancelled]),
        (WithdrawalState::Approved, "r = = r . x x x x x x . . x", &[Processing, Rejected, Cancelled]),
        (sent(0, None), "x x x x = . x x r r . x x =", once),
        (sent(1, None), "x x x x = . x x v r . x x =", once),
        (sent(1, Some(at(60))), "x x x x = . x x v r . . x .", once),
        (sent(2, None), "x x x x = . x x v x . x x =", again),
        (sent(3, Some(at(60))), "x x x x = . x x v x . . x .", again),
        (
            WithdrawalState::Broadcast { txid: known() },
            "x x x x x x c x x x . x x x",
            &[Completed, NeedsReview],
        ),
        (
            WithdrawalState::Broadcast { txid: given() },
            "x x x x x = c c x x . x x x",
            &[Completed, NeedsReview],
        ),
        (WithdrawalState::Completed { txid: known() }, "x x x x x x = x x x x x x x", &[]),
        (WithdrawalState::Completed { txid: given() }, "x x x x x x = = x x x x x x", &[]),
        (WithdrawalState::Cancelled, "= x x x x x x x x x x x x x", &[]),
        (WithdrawalState::Rejected, "x x x = x x x x x x x x x x", &[]),
        (WithdrawalState::Failed { txid: Some(known()) }, "x x x x x x x x = = x x x x", &[]),
        (
            WithdrawalState::NeedsReview { txid: None },
            "x x x x x . t c r x = x x x",
            &[Broadcast, Completed, Failed],
        ),
        (
            WithdrawalState::NeedsReview { txid: Some(known()) },
            "x x x x x . c c r x = x x x",
            &[Broadcast, Completed, Failed],
        ),
    ];
    for (from, cells, onward) in table {
        assert_eq!(cells.split(' ').count(), moves().len());
        for (to, cell) in moves().into_iter().zip(cells.split(' ')) {
            check(from.clone(), to, cell, onward);
        }
    }
}

/// A withdrawal with a status of a newer version cannot be moved, and its amount counts as in progress.
#[test]
fn an_unknown_status_allows_no_transition() {
    let state = WithdrawalState::stored(WithdrawalStatus::stored("frozen").unwrap(), Some(known()), 2, None);
    let state = state.unwrap();
    assert_eq!((state.status().name(), state.txid(), state.next_send()), ("frozen", Some(&known()), None));
    for to in moves() {
        let before = withdrawal(state.clone(), 1_000, at(0));
        let refused = decide(&before, to.clone()).unwrap_err();
        let none = MoveRefusal::InvalidTransition { current: state.status(), allowed: Vec::new() };
        assert_eq!(refused, none, "{to:?}");
    }
    let window = Window { length: Duration::days(1), most: amount(1_000) };
    assert!(!window.admits(amount(1), at(1), &[withdrawal(state, 1_000, at(0))]));
}

fn new(cents: i128) -> NewWithdrawal {
    NewWithdrawal {
        amount: withdrawal_amount(cents),
        wallet_address: line("bc1qexample"),
        currency: line("BTC"),
        network: line("bitcoin"),
    }
}

#[test]
fn a_new_withdrawal_is_pending_with_its_amount_held() {
    let id = WithdrawalId::new(1).unwrap();
    let terms = WithdrawalTerms { auto_approve_below: Some(amount(1_000)), ..WithdrawalTerms::default() };
    let (made, hold) = open(OperationId(1), id, user(GUEST), new(999), &terms, at(5)).unwrap();
    assert_eq!(made.state, WithdrawalState::Pending, "the plan decides when it is applied");
    assert_eq!((made.created_at, made.updated_at), (at(5), at(5)));
    let (debit, credit) = (Account::Available(user(GUEST)), Account::Held(user(GUEST)));
    assert_eq!(hold, Transfer { debit, credit, amount: amount(999), kind: TransferKind::Hold });
}

#[test]
fn one_withdrawal_can_use_the_whole_limit() {
    let limits = WithdrawalLimits { max_amount: Some(amount(1_000)), ..WithdrawalLimits::default() };
    let terms = WithdrawalTerms { limits, ..WithdrawalTerms::default() };
    let id = WithdrawalId::new(1).unwrap();
    assert!(open(OperationId(1), id, user(GUEST), new(1_000), &terms, at(5)).is_ok());
    let refusal = OpenRefusal::Limit(Limit::Single(amount(1_000)));
    assert_eq!(open(OperationId(1), id, user(GUEST), new(1_001), &terms, at(5)), Err(refusal));
}

#[test]
fn the_address_policy_is_checked_before_the_limit() {
    let limits = WithdrawalLimits { max_amount: Some(amount(1_000)), ..WithdrawalLimits::default() };
    let options = OptionsTable::new(vec![PayoutOption::new("ETH", ["base"]).unwrap()]).unwrap();
    let address_policy = AddressPolicy::Strict;
    let terms = WithdrawalTerms { limits, address_policy, options, ..WithdrawalTerms::default() };
    let id = WithdrawalId::new(1).unwrap();
    let refusal = OpenRefusal::Destination(DestinationRefusal::Currency);
    assert_eq!(open(OperationId(1), id, user(GUEST), new(1_001), &terms, at(5)), Err(refusal));
    let to_base = NewWithdrawal {
        wallet_address: line("0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED"),
        currency: line("eth"),
        network: line("Base"),
        ..new(1_000)
    };
    let (made, _) = open(OperationId(1), id, user(GUEST), to_base, &terms, at(5)).unwrap();
    assert_eq!(made.wallet_address, line("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"));
    assert_eq!((made.currency, made.network), (line("ETH"), line("base")));
}

#[test]
fn limit_windows_are_exact_to_the_microsecond() {
    let (day, tick) = (Duration::hours(24), Duration::MICROSECOND);
    let window = Window { length: day, most: amount(1_000) };
    let now = at(1_000_000);
    let (edge, inside) = (now.minus(day), now.minus(day).plus(tick));
    // Earlier withdrawals as (amount, creation time), a new one, and whether it fits.
    type Case<'a> = (&'a [(i128, Timestamp)], i128, bool);
    let table: [Case<'_>; 9] = [
        (&[], 1_000, true),
        (&[], 1_001, false),
        (&[(999, now)], 1, true),
        (&[(999, now)], 2, false),
        (&[(1_000, edge)], 1_000, true),
        (&[(1_000, inside)], 1, false),
        (&[(1_000, edge), (400, inside), (400, now)], 200, true),
        (&[(1_000, edge), (400, inside), (400, now)], 201, false),
        (&[(1_000, now.plus(tick))], 1, false),
    ];
    for (earlier, cents, fits) in table {
        let earlier: Vec<Withdrawal> =
            earlier.iter().map(|(cents, at)| withdrawal(WithdrawalState::Pending, *cents, *at)).collect();
        assert_eq!(window.admits(amount(cents), now, &earlier), fits, "{cents} after {earlier:?}");
    }
}

#[test]
fn withdrawals_that_ended_without_a_payout_do_not_count_toward_limits() {
    let window = Window { length: Duration::days(30), most: amount(1_000) };
    for status in WithdrawalStatus::all() {
        let txid = [WithdrawalStatus::Broadcast, WithdrawalStatus::Completed].contains(&status).then(known);
        let state = WithdrawalState::stored(status, txid, 0, None).unwrap();
        let nothing = [WithdrawalStatus::Cancelled, WithdrawalStatus::Rejected, WithdrawalStatus::Failed];
        let earlier = [withdrawal(state, 1_000, at(0))];
        assert_eq!(window.admits(amount(1), at(1), &earlier), nothing.contains(&status), "{status:?}");
    }
}

#[test]
fn each_configured_24_hour_or_30_day_limit_has_a_window() {
    let limits = WithdrawalLimits {
        max_amount: Some(amount(1)),
        max_per_24h: Some(amount(2)),
        max_per_30d: Some(amount(3)),
    };
    let day = Window { length: Duration::days(1), most: amount(2) };
    let month = Window { length: Duration::days(30), most: amount(3) };
    assert_eq!(limits.windows(), [day, month]);
    assert_eq!(WithdrawalLimits { max_per_24h: None, ..limits }.windows(), [month]);
    assert_eq!(WithdrawalLimits::default().windows(), []);
}
