//! Known ways in which payment systems lose money, each prevented by the rules themselves.
//!
//! | way | here, and where it is tested on real stores or over HTTP |
//! |---|---|
//! | a negative or zero amount | [`amounts_are_positive`]; `crates/cuepoint/tests/http/money/money.rs` |
//! | accept twice | [`accepting_a_request_twice_moves_no_money`]; the server's `lifecycle.rs` |
//! | accept after reject | [`a_rejected_request_stays_rejected`]; the server's `lifecycle.rs` |
//! | a rejection that refunds money never held | [`a_rejection_releases_exactly_the_held_amount`]; the server's `lifecycle.rs` |
//! | a rejected withdrawal not giving the money back | [`a_rejected_withdrawal_releases_the_money_once`]; the server's `operators.rs` |
//! | two cancels racing | [`only_one_of_two_concurrent_transitions_is_applied`]; the contract's `concurrency.rs` |
//! | cancel racing approve | [`only_one_of_two_concurrent_transitions_is_applied`]; the contract's `concurrency.rs` |
//! | the limit checked before the lock | [`withdrawal_limits_are_checked_when_the_plan_is_applied`]; the contract's `limits.rs`, the server's `races.rs` |
//! | commission rounding that loses a cent | `request_moves.rs`, every share of every fee from 0.01 to 20.00; the server's `tour.rs` |
//! | a callback delivered twice, out of order, forged | the server's `webhooks.rs` |
//! | the provider's answer lost after it paid | the server's `webhooks.rs` |
//! | the same command sent again | `ledger_apply.rs`; the contract's `keys.rs`; the server's `idempotency.rs`, `crashes.rs` |

use crate::support::{
    DJ, GUEST, Ledger, OPERATOR, amount, at, balance, line, money, terms, user, withdrawal_amount,
};
use cuepoint_domain::ids::{RequestId, WithdrawalId};
use cuepoint_domain::ledger::adjustment::Correction;
use cuepoint_domain::money::{Amount, Currency};
use cuepoint_domain::music_request::{self, Move, MoveRefusal, RequestStatus};
use cuepoint_domain::operation::{Plan, Rejection, plans};
use cuepoint_domain::withdrawal::{self, NewWithdrawal, WithdrawalLimits, WithdrawalTerms};

/// A guest with 10.00 and a pending request at 4.00.
fn pending() -> Ledger {
    let mut ledger = Ledger::new(400, 1_000);
    ledger.open(1, &terms(0)).unwrap();
    ledger
}

/// A plan that moves the request from its current state.
fn move_of(ledger: &mut Ledger, to: Move) -> Result<Plan, MoveRefusal> {
    let stored = ledger.book.get(RequestId::new(1).unwrap()).unwrap().clone();
    plans::move_request(ledger.metadata(at(2)), &stored, to, &terms(0))
}

/// A plan that moves the withdrawal from its current state.
fn move_of_withdrawal(ledger: &mut Ledger, to: withdrawal::Move) -> Plan {
    let stored = ledger.book.get(WithdrawalId::new(1).unwrap()).unwrap().clone();
    plans::move_withdrawal(ledger.metadata(at(4)), &stored, to).unwrap()
}

#[test]
fn amounts_are_positive() {
    let currency = Currency::new("USD", 2).unwrap();
    for cents in [0, -1, -100, i128::MIN + 1] {
        assert_eq!(Amount::new(money(cents)), None, "{cents}");
    }
    for text in ["0", "0.00", "-0", "-0.00", "-1", "-0.01", "-1e3"] {
        assert_eq!(currency.parse(text).ok().and_then(Amount::new), None, "{text}");
    }
    assert_eq!(Correction::signed(money(0)), None, "a correction of zero");
}

#[test]
fn accepting_a_request_twice_moves_no_money() {
    let mut ledger = pending();
    ledger.step(1, Move::Accept, &terms(0)).unwrap();
    let (entries, before) = (ledger.entries.len(), ledger.balance(GUEST));
    ledger.step(1, Move::Accept, &terms(0)).unwrap();
    assert_eq!((ledger.entries.len(), ledger.balance(GUEST)), (entries, before));
    assert_eq!(before, balance(600, 400, 0));
    ledger.audit().unwrap();
}

#[test]
fn a_rejected_request_stays_rejected() {
    let mut ledger = pending();
    // Decided while it was pending, applied after the rejection.
    let late = [Move::Accept, Move::Play].map(|to| move_of(&mut ledger, to).unwrap());
    ledger.step(1, Move::Reject, &terms(0)).unwrap();
    for plan in late {
        assert_eq!(ledger.apply(&plan), Err(Rejection::Stale));
    }
    for to in [Move::Accept, Move::Play, Move::Cancel] {
        let refusal = move_of(&mut ledger, to).unwrap_err();
        let MoveRefusal::InvalidTransition { current, allowed } = refusal else { panic!("{refusal:?}") };
        assert_eq!((current, allowed), (RequestStatus::Rejected, vec![]));
    }
    assert_eq!((ledger.balance(GUEST), ledger.balance(DJ)), (balance(1_000, 0, 0), balance(0, 0, 0)));
    ledger.audit().unwrap();
}

#[test]
fn a_rejection_releases_exactly_the_held_amount() {
    // Another request's fee is also held, and stays.
    let mut ledger = pending();
    ledger.open(2, &terms(0)).unwrap();
    for _ in 0..2 {
        ledger.step(1, Move::Reject, &terms(0)).unwrap();
        assert_eq!(ledger.balance(GUEST), balance(600, 400, 0));
    }
    // A played request holds no money.
    ledger.step(2, Move::Play, &terms(0)).unwrap();
    let stored = ledger.book.get(RequestId::new(2).unwrap()).unwrap().clone();
    let metadata = ledger.metadata(at(3));
    assert!(plans::move_request(metadata, &stored, Move::Reject, &terms(0)).is_err());
    ledger.audit().unwrap();
    // A free request never held any.
    let mut free = Ledger::new(0, 1_000);
    free.open(1, &terms(0)).unwrap();
    free.step(1, Move::Reject, &terms(0)).unwrap();
    assert_eq!(free.balance(GUEST), balance(1_000, 0, 0));
    free.audit().unwrap();
}

#[test]
fn a_rejected_withdrawal_releases_the_money_once() {
    let mut ledger = Ledger::new(0, 1_000);
    ledger.withdraw(1, GUEST, 700).unwrap();
    let reject = || withdrawal::Move::Reject { by: user(OPERATOR) };
    for _ in 0..2 {
        ledger.move_withdrawal(1, reject()).unwrap();
        assert_eq!(ledger.balance(GUEST), balance(1_000, 0, 0));
    }
    assert_eq!(ledger.entries.len(), 3);
    ledger.audit().unwrap();
}

#[test]
fn only_one_of_two_concurrent_transitions_is_applied() {
    let cancel = || withdrawal::Move::Cancel;
    let approve = || withdrawal::Move::Approve { by: Some(user(OPERATOR)), second_above: None };
    let (released, held) = (balance(1_000, 0, 0), balance(300, 700, 0));
    for (first, second, expected) in
        [(cancel(), cancel(), released), (cancel(), approve(), released), (approve(), cancel(), held)]
    {
        let mut ledger = Ledger::new(0, 1_000);
        ledger.withdraw(1, GUEST, 700).unwrap();
        let plans = [first, second].map(|to| move_of_withdrawal(&mut ledger, to));
        ledger.apply(&plans[0]).unwrap();
        assert_eq!(ledger.apply(&plans[1]), Err(Rejection::Stale));
        assert_eq!(ledger.balance(GUEST), expected);
        ledger.audit().unwrap();
    }
    let mut ledger = pending();
    let plans = [music_request::Move::Cancel; 2].map(|to| move_of(&mut ledger, to).unwrap());
    ledger.apply(&plans[0]).unwrap();
    assert_eq!(ledger.apply(&plans[1]), Err(Rejection::Stale));
    assert_eq!(ledger.balance(GUEST), balance(1_000, 0, 0));
}

#[test]
fn withdrawal_limits_are_checked_when_the_plan_is_applied() {
    let limits = WithdrawalLimits { max_per_24h: Some(amount(700)), ..WithdrawalLimits::default() };
    let terms = WithdrawalTerms { limits, ..WithdrawalTerms::default() };
    let mut ledger = Ledger::new(0, 1_000);
    // Each was within the limit when decided.
    let plans = [1, 2].map(|number| {
        let new = NewWithdrawal {
            amount: withdrawal_amount(400),
            wallet_address: line("bc1qexample"),
            currency: line("BTC"),
            network: line("bitcoin"),
        };
        let id = WithdrawalId::new(number).unwrap();
        plans::open_withdrawal(ledger.metadata(at(3)), id, user(GUEST), new, &terms).unwrap()
    });
    ledger.apply(&plans[0]).unwrap();
    assert!(matches!(ledger.apply(&plans[1]), Err(Rejection::LimitExceeded(_))));
    assert_eq!(ledger.balance(GUEST), balance(600, 400, 0));
    ledger.audit().unwrap();
}
