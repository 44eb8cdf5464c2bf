//! Withdrawals whose owner owes money: what is refused, what goes on, and how held money repays the debt.

use crate::support::{GUEST, Ledger, OPERATOR, at, balance, line, money, terms, user};
use cuepoint_domain::audit::{Finding, Flaw};
use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::ledger::{EntryKind, PostingRules};
use cuepoint_domain::music_request;
use cuepoint_domain::operation::Rejection;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::withdrawal::{Move, WaitingFor};

/// A guest with a withdrawal of 4.00 that made these moves, and a debt of 10.00.
fn indebted(moves: &[Move]) -> Ledger {
    let mut ledger = Ledger::new(0, 0);
    ledger.topup(1, GUEST, 1_000, Charge::Confirmed).unwrap();
    ledger.withdraw(1, GUEST, 400).unwrap();
    for to in moves {
        ledger.move_withdrawal(1, to.clone()).unwrap();
    }
    ledger.adjust(GUEST, -600).unwrap();
    ledger.reverse(1).unwrap();
    assert_eq!(ledger.balance(GUEST).owed, money(1_000));
    ledger
}

fn approve() -> Move {
    Move::Approve { by: Some(user(OPERATOR)), second_above: None }
}

fn send(now: i64, again_at: i64) -> Move {
    Move::Send { now: at(now), again_at: at(again_at) }
}

#[test]
fn a_debt_prevents_only_the_approval_and_first_sending_of_open_withdrawals() {
    let txid = || line("f00d");
    let processing = [approve(), Move::Process];
    let sent = [approve(), send(4, 10)];
    let broadcast = [approve(), Move::Process, Move::Broadcast { txid: txid() }];
    let reject = || Move::Reject { by: user(OPERATOR) };
    // The moves before the debt, the move, and whether it is refused.
    let table: [(&[Move], Move, bool); 14] = [
        (&[], approve(), true),
        (&[], Move::Approve { by: None, second_above: None }, true),
        (&[], reject(), false),
        (&[], Move::Cancel, false),
        (&[approve()], Move::Process, true),
        (&[approve()], send(5, 10), true),
        (&[approve()], reject(), false),
        (&[approve()], Move::Cancel, false),
        (&processing, Move::Broadcast { txid: txid() }, false),
        (&processing, Move::Fail, false),
        (&processing, Move::Review, false),
        (&sent, send(10, 20), false),
        (&sent, Move::Accepted, false),
        (&broadcast, Move::Complete { txid: None }, false),
    ];
    for (before, to, is_refused) in table {
        let mut ledger = indebted(before);
        let answer = ledger.move_withdrawal(1, to.clone());
        if is_refused {
            assert_eq!(answer, Err(Rejection::WalletOwes { owed: money(1_000) }), "{to:?} after {before:?}");
        } else {
            answer.unwrap();
        }
        ledger.audit().unwrap();
    }
}

#[test]
fn new_withdrawals_are_refused_until_the_debt_is_paid() {
    let mut ledger = indebted(&[]);
    assert_eq!(ledger.withdraw(2, GUEST, 1), Err(Rejection::WalletOwes { owed: money(1_000) }));
    ledger.topup(2, GUEST, 1_000, Charge::Confirmed).unwrap();
    assert_eq!(ledger.withdraw(2, GUEST, 1), Err(Rejection::InsufficientFunds { available: money(0) }));
    ledger.topup(3, GUEST, 1, Charge::Confirmed).unwrap();
    ledger.withdraw(2, GUEST, 1).unwrap();
    ledger.move_withdrawal(1, approve()).unwrap();
    ledger.audit().unwrap();
}

#[test]
fn only_unsent_withdrawals_wait_for_the_payment_of_a_debt() {
    let table: [(&[Move], Option<WaitingFor>); 4] = [
        (&[], Some(WaitingFor::Debt)),
        (&[approve()], Some(WaitingFor::Debt)),
        (&[approve(), Move::Process], None),
        (&[approve(), send(4, 10)], None),
    ];
    for (moves, expected) in table {
        let ledger = indebted(moves);
        let withdrawal = ledger.book.get(WithdrawalId::new(1).unwrap()).unwrap();
        assert_eq!(withdrawal.waiting_for(money(1)), expected, "{moves:?}");
        assert_eq!(withdrawal.waiting_for(money(0)), None);
    }
}

#[test]
fn released_money_pays_the_debt_first() {
    let endings: [&[Move]; 3] = [&[Move::Cancel], &[Move::Reject { by: user(OPERATOR) }], &[Move::Fail]];
    for (ending, before) in endings.iter().zip([&[][..], &[], &[approve(), Move::Process]]) {
        let mut ledger = indebted(before);
        for to in *ending {
            ledger.move_withdrawal(1, to.clone()).unwrap();
        }
        assert_eq!(ledger.balance(GUEST), balance(0, 0, 600), "{ending:?}");
        ledger.audit().unwrap();
    }
    let (mut ledger, terms) = (Ledger::new(400, 0), terms(0));
    ledger.topup(1, GUEST, 1_000, Charge::Confirmed).unwrap();
    ledger.open(1, &terms).unwrap();
    ledger.reverse(1).unwrap();
    assert_eq!(ledger.balance(GUEST), balance(0, 400, 400));
    ledger.step(1, music_request::Move::Reject, &terms).unwrap();
    assert_eq!(ledger.balance(GUEST), balance(0, 0, 0), "the fee of a rejected request");
    ledger.audit().unwrap();
}

#[test]
fn the_audit_reports_a_release_that_does_not_match_its_posting_rules() {
    let mut ledger = indebted(&[]);
    ledger.move_withdrawal(1, Move::Cancel).unwrap();
    let release = ledger.entries.last().unwrap().clone();
    assert_eq!(release.kind, EntryKind::Release);
    ledger.receipt_mut(release.operation).rules = PostingRules::IncomePaysOwed;
    let reference = EntityRef::Withdrawal(WithdrawalId::new(1).unwrap());
    let flaw = Flaw::Entry { wallet: user(GUEST), seq: release.seq };
    assert_eq!(ledger.audit(), Err(Finding::Entity { reference, flaw }));
}
