//! The findings of the ledger audit for rows tampered with behind the ledger's back.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![allow(dead_code, unreachable_pub, missing_docs, reason = "the support is shared by several tests")]

mod support;

use cuepoint_domain::ids::{AdjustmentId, OperationId, RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::adjustment::Correction;
use cuepoint_domain::ledger::plans;
use cuepoint_domain::ledger::{
    Auditor, EntityRef, Entry, EntryKind, Finding, Flaw, Outcome, OutsideAccount, Posting, PostingAccount,
    Progress, Summary, Wallet,
};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{Move, MusicRequest, RequestState};
use cuepoint_domain::topup::{Charge, Topup, TopupStatus};
use cuepoint_domain::withdrawal::{self, Withdrawal, WithdrawalState};
use support::{DJ, GUEST, Ledger, OPERATOR, amount, at, balance, line, money, terms, user};

type Tamper = fn(&mut Ledger);
type Expected = fn(&Ledger) -> Finding;

fn in_request(number: i64, flaw: Flaw) -> Finding {
    Finding::Entity { reference: EntityRef::MusicRequest(RequestId::new(number).unwrap()), flaw }
}

fn in_withdrawal(number: i64, flaw: Flaw) -> Finding {
    Finding::Entity { reference: EntityRef::Withdrawal(WithdrawalId::new(number).unwrap()), flaw }
}

fn in_topup(number: i64, flaw: Flaw) -> Finding {
    Finding::Entity { reference: EntityRef::Topup(TopupId::new(number).unwrap()), flaw }
}

fn in_adjustment(number: i64, flaw: Flaw) -> Finding {
    Finding::Entity { reference: EntityRef::Adjustment(AdjustmentId::new(number).unwrap()), flaw }
}

/// Tampers with the rows behind the ledger's back and checks the audit's finding.
fn check_finding(name: &str, tamper: Tamper, expected: Finding) {
    let terms = terms(1_000);
    let mut ledger = Ledger::new(1_000, 5_000);
    for number in [1, 2] {
        ledger.open(number, &terms).unwrap();
        ledger.step(number, Move::Play, &terms).unwrap();
    }
    assert_eq!(ledger.audit(), Ok(Summary { wallets: 3, entries: 7, postings: 3, entities: 3 }));
    tamper(&mut ledger);
    assert_eq!(ledger.audit(), Err(expected), "{name}");
}

/// The index of an entry of the guest's wallet, which has five.
fn place(ledger: &Ledger, seq: i64) -> usize {
    ledger.entries.iter().position(|entry| (entry.wallet, entry.seq) == (user(GUEST), seq)).unwrap()
}

fn entry(ledger: &mut Ledger, seq: i64) -> &mut Entry {
    let place = place(ledger, seq);
    &mut ledger.entries[place]
}

fn hand(ledger: &mut Ledger, change: fn(&mut cuepoint_domain::ledger::Wallet)) {
    change(ledger.book.wallets.get_mut(&user(GUEST)).unwrap());
}

#[test]
fn the_self_check_names_what_is_wrong() {
    let wallet: UserId = user(GUEST);
    let gap = |expected, found| Finding::Gap { wallet, expected, found };
    let table: [(&str, Tamper, Finding); 16] = [
        (
            "an amount was changed",
            |ledger| entry(ledger, 2).change.available = money(-1),
            Finding::Sum { wallet, seq: 2 },
        ),
        (
            "an amount was changed with the balance after it",
            |ledger| {
                entry(ledger, 5).change.available = money(1);
                entry(ledger, 5).after.available = money(3_001);
            },
            Finding::Chain { wallet, seq: 5 },
        ),
        (
            "the same, with its hash made anew, in the middle",
            |ledger| {
                let entry = entry(ledger, 3);
                entry.kind = cuepoint_domain::ledger::EntryKind::Release;
                entry.hash = entry.link();
            },
            Finding::Chain { wallet, seq: 4 },
        ),
        (
            "the same, at the end",
            |ledger| {
                let entry = entry(ledger, 5);
                entry.at = at(99);
                entry.hash = entry.link();
            },
            Finding::Balance { wallet },
        ),
        (
            "an entry was deleted",
            |ledger| {
                let place = place(ledger, 3);
                ledger.entries.remove(place);
            },
            gap(3, Some(4)),
        ),
        (
            "the newest was deleted",
            |ledger| {
                let place = place(ledger, 5);
                ledger.entries.remove(place);
            },
            gap(5, None),
        ),
        (
            "all were deleted",
            |ledger| ledger.entries.retain(|entry| entry.wallet != user(GUEST)),
            gap(1, None),
        ),
        (
            "two were swapped",
            |ledger| {
                let (one, two) = (place(ledger, 3), place(ledger, 4));
                ledger.entries.swap(one, two);
            },
            gap(3, Some(4)),
        ),
        (
            "two were swapped with their numbers",
            |ledger| {
                let (one, two) = (place(ledger, 2), place(ledger, 4));
                ledger.entries.swap(one, two);
                (ledger.entries[one].seq, ledger.entries[two].seq) = (2, 4);
            },
            Finding::Sum { wallet, seq: 2 },
        ),
        (
            "one is there twice",
            |ledger| {
                let copy = entry(ledger, 2).clone();
                let place = place(ledger, 2);
                ledger.entries.insert(place, copy);
            },
            gap(3, Some(2)),
        ),
        (
            "an entry was moved to another wallet",
            |ledger| entry(ledger, 5).wallet = user(OPERATOR),
            gap(5, None),
        ),
        (
            "a balance was edited by hand",
            |ledger| hand(ledger, |wallet| wallet.balance.available = money(9_999)),
            Finding::Balance { wallet },
        ),
        (
            "money was moved within a wallet by hand",
            |ledger| {
                hand(ledger, |wallet| {
                    wallet.balance = balance(2_000, 1_000, 0);
                });
            },
            Finding::Balance { wallet },
        ),
        (
            "the number of entries was edited by hand",
            |ledger| hand(ledger, |wallet| wallet.seq = 4),
            Finding::Balance { wallet },
        ),
        (
            "a posting is missing",
            |ledger| {
                ledger.postings.pop();
            },
            in_request(2, Flaw::Postings(OperationId(5))),
        ),
        (
            "a posting was changed",
            |ledger| ledger.postings[0].amount = money(-4_999),
            in_adjustment(1, Flaw::Postings(OperationId(1))),
        ),
    ];
    for (name, tamper, expected) in table {
        check_finding(name, tamper, expected);
    }
}

/// An entry of a wallet that is not visited is reported as such.
#[test]
fn an_entry_without_a_wallet_is_named() {
    let mut ledger = Ledger::new(1_000, 5_000);
    let stray = Entry { wallet: user(99), ..ledger.entries[0].clone() };
    let mut auditor = Auditor::new();
    auditor.wallet(ledger.book.wallets.remove(&user(GUEST)).unwrap());
    auditor.entry(&ledger.entries[0]);
    auditor.entry(&stray);
    auditor.posting(&ledger.postings[0]);
    assert_eq!(auditor.finish(), Err(Finding::OrphanEntry { wallet: user(99), seq: 1 }));
}

/// Requests, withdrawals, top-ups and adjustments in every state, a DJ's debt and its repayment.
fn everything() -> Ledger {
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
    let stored = ledger.book.requests[&RequestId::new(10).unwrap()].clone();
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
fn withdrawals(ledger: &mut Ledger) {
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
        vec![Cancel { by: user(GUEST) }],
        vec![Reject { by: user(OPERATOR) }],
    ];
    for (number, moves) in (3..).zip(lives) {
        ledger.withdraw(number, GUEST, 100).unwrap();
        moves.into_iter().for_each(|to| drop(ledger.move_withdrawal(number, to).unwrap()));
    }
}

/// Top-ups of the guest: confirmed at once, pending, failed, confirmed later.
fn topups(ledger: &mut Ledger) {
    let pending = Charge::Pending;
    for (number, charge, word) in [
        (1, Charge::Confirmed, None),
        (2, pending, None),
        (3, pending, Some(false)),
        (4, pending, Some(true)),
    ] {
        ledger.topup(number, GUEST, 700, charge).unwrap();
        if let Some(confirmed) = word {
            let stored = ledger.book.topups[&TopupId::new(number).unwrap()].clone();
            let metadata = ledger.metadata(at(5));
            ledger.apply(&plans::settle_topup(metadata, &stored, confirmed)).unwrap();
        }
    }
}

fn the_request(ledger: &mut Ledger, number: i64) -> &mut MusicRequest {
    ledger.book.requests.get_mut(&RequestId::new(number).unwrap()).unwrap()
}

fn the_topup(ledger: &mut Ledger, number: i64) -> &mut Topup {
    ledger.book.topups.get_mut(&TopupId::new(number).unwrap()).unwrap()
}

fn edit_withdrawal(ledger: &mut Ledger, number: i64, edit: impl Fn(&mut Withdrawal)) {
    let mut stored = ledger.book.withdrawal(WithdrawalId::new(number).unwrap()).unwrap().clone();
    edit(&mut stored);
    ledger.book.put_withdrawal(stored);
}

/// The indices of the entries about an entity, in order of creation.
fn about(ledger: &Ledger, reference: EntityRef) -> Vec<usize> {
    (0..ledger.entries.len()).filter(|place| ledger.entries[*place].reference == reference).collect()
}

/// Renumbers and relinks the entries of a wallet, and sets the wallet to match, as a skilled forger would.
fn forge(ledger: &mut Ledger, who: i64) {
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

#[test]
fn a_ledger_with_everything_in_it_is_consistent() {
    let ledger = everything();
    let summary = ledger.audit().unwrap();
    assert_eq!(summary.entities, 11 + 11 + 4 + 3);
    assert_eq!(summary.entries, u64::try_from(ledger.entries.len()).unwrap());
    let (mut told, mut auditor) = (Vec::new(), Auditor::new());
    let (sender, receiver) = std::sync::mpsc::channel();
    auditor = auditor.reporting(move |progress| sender.send(progress).unwrap());
    auditor.expect(2);
    auditor.wallet(Wallet::empty(user(GUEST)));
    drop(auditor.finish());
    told.extend(receiver);
    assert_eq!(told, [Progress { done: 0, expected: 4 }]);
}

/// Each kind of row tampered with, and the audit's finding.
#[test]
fn the_self_check_names_the_thing_that_is_wrong() {
    let table: Vec<(&str, Tamper, Expected)> = vec![
        (
            "a pending request was set to played",
            |ledger| {
                the_request(ledger, 1).state = RequestState::Played { at: at(2), commission: money(100) }
            },
            |_| in_request(1, Flaw::Lacks(EntryKind::Capture)),
        ),
        (
            "a played request was set back",
            |ledger| the_request(ledger, 6).state = RequestState::Accepted { at: at(2), play_by: at(9) },
            |ledger| in_request(6, extra(ledger, request(6), 1)),
        ),
        (
            "a refunded request was set back to played",
            |ledger| {
                the_request(ledger, 7).state = RequestState::Played { at: at(2), commission: money(100) }
            },
            |ledger| in_request(7, extra(ledger, request(7), 3)),
        ),
        (
            "a rejected request was set to cancelled",
            |ledger| the_request(ledger, 3).state = RequestState::Cancelled { at: at(2) },
            |ledger| in_request(3, Flaw::Record(operation(ledger, request(3), 1))),
        ),
        (
            "a rejected request was set to played",
            |ledger| {
                the_request(ledger, 3).state = RequestState::Played { at: at(2), commission: money(100) }
            },
            |_| in_request(3, Flaw::Lacks(EntryKind::Earning)),
        ),
        (
            "a fee was multiplied by ten",
            |ledger| the_request(ledger, 2).fee = money(10_000),
            |ledger| in_request(2, wrong(ledger, request(2), 0)),
        ),
        (
            "a fee was set to nothing",
            |ledger| the_request(ledger, 2).fee = Money::ZERO,
            |ledger| in_request(2, extra(ledger, request(2), 0)),
        ),
        (
            "a commission was changed",
            |ledger| the_request(ledger, 6).state = RequestState::Played { at: at(2), commission: money(99) },
            |ledger| in_request(6, wrong(ledger, request(6), 2)),
        ),
        (
            "a request was given to somebody else",
            |ledger| the_request(ledger, 6).dj = user(OPERATOR),
            |_| in_request(6, Flaw::Lacks(EntryKind::Earning)),
        ),
        (
            "a song was renamed",
            |ledger| the_request(ledger, 2).song_title = line("Red Tuesday"),
            |ledger| in_request(2, Flaw::Record(operation(ledger, request(2), 0))),
        ),
        (
            "an open request was deleted",
            |ledger| drop(ledger.book.requests.remove(&RequestId::new(1).unwrap())),
            |ledger| Finding::Held {
                wallets: open(ledger),
                open: open(ledger).checked_sub(money(1_000)).unwrap(),
            },
        ),
        (
            "a played request was deleted",
            |ledger| drop(ledger.book.requests.remove(&RequestId::new(6).unwrap())),
            |_| Finding::Strays { entries: 3, postings: 1 },
        ),
        (
            "an amount to be paid out was changed",
            |ledger| edit_withdrawal(ledger, 4, |one| one.amount = amount(101)),
            |ledger| in_withdrawal(4, wrong(ledger, withdrawn(4), 0)),
        ),
        (
            "an address was changed before it was paid",
            |ledger| edit_withdrawal(ledger, 4, |one| one.wallet_address = line("mine")),
            |ledger| in_withdrawal(4, Flaw::Record(operation(ledger, withdrawn(4), 0))),
        ),
        (
            "a withdrawal was set to completed",
            |ledger| {
                edit_withdrawal(ledger, 3, |one| one.state = WithdrawalState::Completed { txid: line("x") })
            },
            |_| in_withdrawal(3, Flaw::Lacks(EntryKind::Capture)),
        ),
        (
            "a completed withdrawal was set back, to be paid again",
            |ledger| edit_withdrawal(ledger, 7, |one| one.state = WithdrawalState::Approved),
            |ledger| in_withdrawal(7, extra(ledger, withdrawn(7), 1)),
        ),
        (
            "a completed withdrawal was set to failed",
            |ledger| edit_withdrawal(ledger, 7, |one| one.state = WithdrawalState::Failed { txid: None }),
            |ledger| in_withdrawal(7, wrong(ledger, withdrawn(7), 1)),
        ),
        (
            "the transaction of a completed withdrawal was changed",
            |ledger| {
                edit_withdrawal(ledger, 7, |one| one.state = WithdrawalState::Completed { txid: line("x") })
            },
            |ledger| in_withdrawal(7, Flaw::Record(operation(ledger, withdrawn(7), 1))),
        ),
        (
            "a pending top-up was set to confirmed",
            |ledger| the_topup(ledger, 2).status = TopupStatus::Confirmed,
            |_| in_topup(2, Flaw::Lacks(EntryKind::Topup)),
        ),
        (
            "a confirmed top-up was set to failed",
            |ledger| the_topup(ledger, 4).status = TopupStatus::Failed,
            |ledger| in_topup(4, extra(ledger, topped_up(4), 0)),
        ),
        (
            "a top-up was enlarged",
            |ledger| the_topup(ledger, 1).amount = amount(7_000),
            |ledger| in_topup(1, wrong(ledger, topped_up(1), 0)),
        ),
        (
            "the record of an operation was deleted",
            |ledger| {
                let gone = operation(ledger, request(3), 1);
                ledger.book.operations.remove(&gone);
            },
            |ledger| in_request(3, Flaw::NoRecord(operation(ledger, request(3), 1))),
        ),
        (
            "the record of an adjustment was deleted",
            |ledger| drop(ledger.book.operations.remove(&OperationId(1))),
            |_| Finding::Strays { entries: 1, postings: 1 },
        ),
        (
            "the record of an adjustment was changed",
            |ledger| {
                let receipt = ledger.receipt_mut(OperationId(1));
                let Outcome::Adjustment(adjustment, _) = &mut receipt.outcome else { panic!("{receipt:?}") };
                adjustment.correction = Correction::Debit(amount(1));
            },
            |ledger| in_adjustment(1, wrong(ledger, adjusted(1), 0)),
        ),
        (
            "the recorded balance was changed",
            |ledger| {
                let receipt = ledger.receipt_mut(OperationId(1));
                let Outcome::Adjustment(_, balance) = &mut receipt.outcome else { panic!("{receipt:?}") };
                balance.held = money(1);
            },
            |_| in_adjustment(1, Flaw::Record(OperationId(1))),
        ),
        (
            "a posting was relabelled",
            |ledger| ledger.postings[0].account = PostingAccount::Outside(OutsideAccount::Topups),
            |_| in_adjustment(1, Flaw::Postings(OperationId(1))),
        ),
        (
            "a posting was dated back",
            |ledger| ledger.postings[0].at = at(-1),
            |_| in_adjustment(1, Flaw::Postings(OperationId(1))),
        ),
        (
            "two postings that cancel each other were added to an operation",
            |ledger| add_pair(ledger, OperationId(1)),
            |_| in_adjustment(1, Flaw::Postings(OperationId(1))),
        ),
        (
            "two postings that cancel each other were added to no operation",
            |ledger| add_pair(ledger, OperationId(u128::MAX)),
            |_| Finding::Strays { entries: 0, postings: 2 },
        ),
        (
            "two postings were swapped",
            |ledger| {
                let [one, other] = [0, 1].map(|place| ledger.postings[place].operation);
                (ledger.postings[0].operation, ledger.postings[1].operation) = (other, one);
            },
            |ledger| in_request(6, Flaw::Postings(operation(ledger, request(6), 1))),
        ),
        (
            "an amount was changed, and everything after it made anew",
            |ledger| {
                let place = about(ledger, adjusted(1))[0];
                ledger.entries[place].change.available = money(99_000);
                forge(ledger, GUEST);
            },
            |ledger| in_withdrawal(3, Flaw::Record(operation(ledger, withdrawn(3), 0))),
        ),
        (
            "the newest entry was deleted, and the wallet set to the one before",
            |ledger| {
                let place = *about(ledger, topped_up(4)).last().unwrap();
                ledger.entries.remove(place);
                forge(ledger, GUEST);
            },
            |_| in_topup(4, Flaw::Lacks(EntryKind::Topup)),
        ),
        (
            "a fee was given back once more, with all that belongs to it",
            |ledger| {
                let place = about(ledger, request(3))[1];
                let copy = Entry {
                    operation: OperationId(u128::MAX),
                    at: at(2_000),
                    ..ledger.entries[place].clone()
                };
                ledger.entries.push(copy);
                forge(ledger, GUEST);
            },
            |ledger| in_request(3, extra(ledger, request(3), 2)),
        ),
        (
            "an entry was dated back, and everything after it made anew",
            |ledger| {
                let place = *about(ledger, topped_up(4)).last().unwrap();
                ledger.entries[place].at = at(1);
                forge(ledger, GUEST);
            },
            |ledger| {
                let place = *about(ledger, topped_up(4)).last().unwrap();
                Finding::Time { wallet: user(GUEST), seq: ledger.entries[place].seq }
            },
        ),
    ];
    for (name, tamper, expected) in table {
        let mut ledger = everything();
        tamper(&mut ledger);
        let finding = ledger.audit().expect_err(name);
        assert_eq!(finding, expected(&ledger), "{name}: {finding}");
        assert!(!finding.to_string().is_empty());
    }
}

fn request(number: i64) -> EntityRef {
    EntityRef::MusicRequest(RequestId::new(number).unwrap())
}

fn withdrawn(number: i64) -> EntityRef {
    EntityRef::Withdrawal(WithdrawalId::new(number).unwrap())
}

fn topped_up(number: i64) -> EntityRef {
    EntityRef::Topup(TopupId::new(number).unwrap())
}

fn adjusted(number: i64) -> EntityRef {
    EntityRef::Adjustment(AdjustmentId::new(number).unwrap())
}

fn place_of(ledger: &Ledger, reference: EntityRef, place: usize) -> (UserId, i64) {
    let entry = &ledger.entries[about(ledger, reference)[place]];
    (entry.wallet, entry.seq)
}

fn extra(ledger: &Ledger, reference: EntityRef, place: usize) -> Flaw {
    let (wallet, seq) = place_of(ledger, reference, place);
    Flaw::Extra { wallet, seq }
}

fn wrong(ledger: &Ledger, reference: EntityRef, place: usize) -> Flaw {
    let (wallet, seq) = place_of(ledger, reference, place);
    Flaw::Entry { wallet, seq }
}

fn operation(ledger: &Ledger, reference: EntityRef, place: usize) -> OperationId {
    ledger.entries[about(ledger, reference)[place]].operation
}

/// The sum held in all wallets.
fn open(ledger: &Ledger) -> Money {
    let held = ledger.book.wallets.values().map(|wallet| wallet.balance.held);
    held.fold(Money::ZERO, |sum, held| sum.checked_add(held).unwrap())
}

fn add_pair(ledger: &mut Ledger, operation: OperationId) {
    for cents in [5, -5] {
        let posting = Posting { operation, amount: money(cents), ..ledger.postings[0] };
        ledger.postings.push(posting);
    }
}
