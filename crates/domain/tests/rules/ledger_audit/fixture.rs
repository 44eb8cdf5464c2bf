//! A ledger with entities in every state, and changes of its rows.

use cuepoint_domain::audit::{Finding, Flaw};
use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::{AdjustmentId, OperationId, RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{Posting, Wallet};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{Move, MusicRequest};
use cuepoint_domain::operation::plans;
use cuepoint_domain::topup::{Charge, Topup};
use cuepoint_domain::withdrawal;
use cuepoint_domain::withdrawal::Withdrawal;

use crate::support::{DJ, GUEST, Ledger, OPERATOR, at, balance, line, money, terms, user};

/// Requests, withdrawals, top-ups and adjustments in every state, a DJ's debt and its repayment.
pub(crate) fn everything() -> Ledger {
    let terms = terms(1_000);
    let mut ledger = Ledger::new(1_000, 50_000);
    let lives: [&[Move]; 9] = [
        &[],
        &[Move::Accept],
        &[Move::Reject],
        &[Move::Cancel],
        &[Move::Accept, Move::Reject],
        &[Move::Play],
        &[Move::Accept, Move::Play],
        &[Move::Play],
        &[Move::Play],
    ];
    for (number, moves) in (1..).zip(lives) {
        if number == 8 {
            // Only the income of the seventh is left, so that its refund leaves the DJ in debt.
            ledger.withdraw(1, DJ, 1_000).unwrap();
        }
        ledger.open(number, &terms).unwrap();
        moves.iter().for_each(|to| drop(ledger.step(number, *to, &terms).unwrap()));
        if number == 7 {
            ledger.adjust(DJ, -800).unwrap();
        }
    }
    ledger.open(10, &terms).unwrap();
    let stored = ledger.book.get(RequestId::new(10).unwrap()).unwrap().clone();
    let metadata = ledger.metadata(at(1_000));
    ledger.apply(&plans::move_request(metadata, &stored, Move::Expire, &terms).unwrap()).unwrap();
    ledger.withdraw(2, DJ, 1_500).unwrap();
    ledger.step(7, Move::Refund, &terms).unwrap();
    assert!(!ledger.balance(DJ).owed.is_zero());
    ledger.open(11, &terms).unwrap();
    ledger.step(11, Move::Play, &terms).unwrap();
    assert_ne!(ledger.balance(DJ), balance(0, 2_500, 600));
    withdrawals(&mut ledger);
    topups(&mut ledger);
    ledger.adjust(OPERATOR, 100).unwrap();
    ledger
}

/// Withdrawals of the guest, the third to the eleventh.
pub(crate) fn withdrawals(ledger: &mut Ledger) {
    use withdrawal::Move::{Approve, Broadcast, Cancel, Complete, Fail, Process, Reject, Review};
    let (approve, txid) = (Approve { by: Some(user(OPERATOR)), second_above: None }, line("f00d"));
    let broadcast = Broadcast { txid: txid.clone() };
    let lives = [
        vec![],
        vec![approve.clone()],
        vec![approve.clone(), Process],
        vec![approve.clone(), Process, broadcast.clone()],
        vec![approve.clone(), Process, broadcast, Complete { txid: None }],
        vec![approve.clone(), Process, Review],
        vec![approve, Process, Fail],
        vec![Cancel],
        vec![Reject { by: user(OPERATOR) }],
    ];
    for (number, moves) in (3..).zip(lives) {
        ledger.withdraw(number, GUEST, 100).unwrap();
        moves.into_iter().for_each(|to| drop(ledger.move_withdrawal(number, to).unwrap()));
    }
}

/// Top-ups of the guest: confirmed at once, pending, failed, confirmed later.
pub(crate) fn topups(ledger: &mut Ledger) {
    let pending = Charge::Pending;
    for (number, charge, settled) in [
        (1, Charge::Confirmed, None),
        (2, pending, None),
        (3, pending, Some(false)),
        (4, pending, Some(true)),
    ] {
        ledger.topup(number, GUEST, 700, charge).unwrap();
        if let Some(confirmed) = settled {
            let stored = ledger.book.get(TopupId::new(number).unwrap()).unwrap().clone();
            let metadata = ledger.metadata(at(5));
            ledger.apply(&plans::settle_topup(metadata, &stored, confirmed)).unwrap();
        }
    }
}

pub(crate) fn in_request(number: i64, flaw: Flaw) -> Finding {
    Finding::Entity { reference: EntityRef::MusicRequest(RequestId::new(number).unwrap()), flaw }
}

pub(crate) fn in_withdrawal(number: i64, flaw: Flaw) -> Finding {
    Finding::Entity { reference: EntityRef::Withdrawal(WithdrawalId::new(number).unwrap()), flaw }
}

pub(crate) fn in_topup(number: i64, flaw: Flaw) -> Finding {
    Finding::Entity { reference: EntityRef::Topup(TopupId::new(number).unwrap()), flaw }
}

pub(crate) fn in_adjustment(number: i64, flaw: Flaw) -> Finding {
    Finding::Entity { reference: EntityRef::Adjustment(AdjustmentId::new(number).unwrap()), flaw }
}

pub(crate) fn the_request(ledger: &mut Ledger, number: i64) -> &mut MusicRequest {
    ledger.book.get_mut(RequestId::new(number).unwrap()).unwrap()
}

pub(crate) fn the_topup(ledger: &mut Ledger, number: i64) -> &mut Topup {
    ledger.book.get_mut(TopupId::new(number).unwrap()).unwrap()
}

pub(crate) fn edit_withdrawal(ledger: &mut Ledger, number: i64, edit: impl Fn(&mut Withdrawal)) {
    let mut stored = ledger.book.get(WithdrawalId::new(number).unwrap()).unwrap().clone();
    edit(&mut stored);
    ledger.book.put(stored);
}

/// The indices of the entries about an entity, in order of creation.
pub(crate) fn about(ledger: &Ledger, reference: EntityRef) -> Vec<usize> {
    (0..ledger.entries.len()).filter(|place| ledger.entries[*place].reference == reference).collect()
}

/// Renumbers and relinks the entries of a wallet, and sets the wallet to match, as a skilled forger would.
pub(crate) fn forge(ledger: &mut Ledger, who: i64) {
    let mut wallet = Wallet::empty(user(who));
    for entry in ledger.entries.iter_mut().filter(|entry| entry.wallet == user(who)) {
        let sum = |now: Money, change| now.checked_add(change).unwrap();
        wallet.balance.available = sum(wallet.balance.available, entry.change.available);
        wallet.balance.held = sum(wallet.balance.held, entry.change.held);
        wallet.balance.owed = sum(wallet.balance.owed, entry.change.owed);
        (entry.seq, entry.after, entry.previous) = (wallet.seq + 1, wallet.balance, wallet.head);
        entry.hash = entry.link();
        (wallet.seq, wallet.last_at, wallet.head) = (entry.seq, entry.at, entry.hash);
    }
    ledger.book.wallets.insert(user(who), wallet);
}

pub(crate) fn request(number: i64) -> EntityRef {
    EntityRef::MusicRequest(RequestId::new(number).unwrap())
}

pub(crate) fn withdrawn(number: i64) -> EntityRef {
    EntityRef::Withdrawal(WithdrawalId::new(number).unwrap())
}

pub(crate) fn topped_up(number: i64) -> EntityRef {
    EntityRef::Topup(TopupId::new(number).unwrap())
}

pub(crate) fn adjusted(number: i64) -> EntityRef {
    EntityRef::Adjustment(AdjustmentId::new(number).unwrap())
}

pub(crate) fn place_of(ledger: &Ledger, reference: EntityRef, place: usize) -> (UserId, i64) {
    let entry = &ledger.entries[about(ledger, reference)[place]];
    (entry.wallet, entry.seq)
}

pub(crate) fn extra(ledger: &Ledger, reference: EntityRef, place: usize) -> Flaw {
    let (wallet, seq) = place_of(ledger, reference, place);
    Flaw::Extra { wallet, seq }
}

pub(crate) fn wrong(ledger: &Ledger, reference: EntityRef, place: usize) -> Flaw {
    let (wallet, seq) = place_of(ledger, reference, place);
    Flaw::Entry { wallet, seq }
}

pub(crate) fn operation(ledger: &Ledger, reference: EntityRef, place: usize) -> OperationId {
    ledger.entries[about(ledger, reference)[place]].operation
}

/// The sum held in all wallets.
pub(crate) fn open(ledger: &Ledger) -> Money {
    let held = ledger.book.wallets.values().map(|wallet| wallet.balance.held);
    held.fold(Money::ZERO, |sum, held| sum.checked_add(held).unwrap())
}

pub(crate) fn add_pair(ledger: &mut Ledger, operation: OperationId) {
    for cents in [5, -5] {
        let posting = Posting { operation, amount: money(cents), ..ledger.postings[0] };
        ledger.postings.push(posting);
    }
}
