//! Charge-backs and money in suspense: the movement of the money, and the audit's findings after tampering.

use crate::support::{DJ, GUEST, Ledger, OPERATOR, amount, at, balance, line, money, terms, user};
use cuepoint_domain::audit::{Finding, Flaw};
use cuepoint_domain::entity_ref::{EntityKind, EntityRef};
use cuepoint_domain::ids::{OperationId, TopupId};
use cuepoint_domain::ledger::{EntryKind, OutsideAccount, Posting, PostingAccount, PostingRules};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::{Entity, Rejection, plans};
use cuepoint_domain::topup::{
    Charge, ReversalRefusal, Settlement, SuspenseRefusal, SuspenseSettlement, Topup, TopupStatus, reverse,
    settle,
};

/// A guest with a confirmed top-up of 10.00, and a DJ.
fn topped_up() -> Ledger {
    let mut ledger = Ledger::new(1_000, 0);
    ledger.topup(1, GUEST, 1_000, Charge::Confirmed).unwrap();
    ledger
}

fn failed(ledger: &mut Ledger, number: i64) {
    ledger.topup(number, GUEST, 700, Charge::Pending).unwrap();
    let metadata = ledger.metadata(at(5));
    let plan = plans::settle_topup(metadata, &ledger.the_topup(number), false);
    ledger.apply(&plan).unwrap();
}

#[test]
fn a_chargeback_debits_the_available_balance_and_the_rest_becomes_debt() {
    // The amounts withdrawn (held) and spent before; available, held and owed afterwards.
    for (held, spent, expected) in [
        (0, 0, (0, 0, 0)),
        (400, 0, (0, 400, 400)),
        (0, 999, (0, 0, 999)),
        (1_000, 0, (0, 1_000, 1_000)),
        (400, 600, (0, 400, 1_000)),
    ] {
        let mut ledger = topped_up();
        if held > 0 {
            ledger.withdraw(1, GUEST, held).unwrap();
        }
        if spent > 0 {
            ledger.adjust(GUEST, -spent).unwrap();
        }
        ledger.reverse(1).unwrap();
        let (available, held, owed) = expected;
        assert_eq!(ledger.balance(GUEST), balance(available, held, owed));
        ledger.audit().unwrap();
    }
}

/// Attack API6: paying in with stolen cards repeatedly, and spending the money before each charge-back.
#[test]
fn repeated_chargebacks_create_no_more_debt_than_was_spent() {
    let mut ledger = topped_up();
    ledger.adjust(GUEST, -1_000).unwrap();
    for number in 2..6 {
        ledger.reverse(number - 1).unwrap();
        assert_eq!(ledger.balance(GUEST), balance(0, 0, 1_000));
        ledger.topup(number, GUEST, 1_000, Charge::Confirmed).unwrap();
        assert_eq!(ledger.balance(GUEST), balance(0, 0, 0), "the top-up pays what is owed");
    }
    ledger.audit().unwrap();
}

#[test]
fn a_debt_cannot_exceed_the_maximum_balance() {
    let most = Money::MAX_BALANCE.minor();
    let mut ledger = Ledger::new(1_000, 0);
    for number in [1, 2] {
        ledger.topup(number, GUEST, most, Charge::Confirmed).unwrap();
        ledger.adjust(GUEST, -most).unwrap();
    }
    ledger.reverse(1).unwrap();
    assert_eq!(ledger.reverse(2), Err(Rejection::OutOfRange));
    assert_eq!(ledger.the_topup(2).status, TopupStatus::Confirmed);
    assert_eq!(ledger.balance(GUEST), balance(0, 0, most));
    ledger.audit().unwrap();
}

#[test]
fn a_refund_pays_the_guests_chargeback_debt() {
    let terms = terms(1_000);
    let mut ledger = topped_up();
    ledger.open(1, &terms).unwrap();
    ledger.step(1, Move::Play, &terms).unwrap();
    ledger.reverse(1).unwrap();
    assert_eq!((ledger.balance(GUEST), ledger.balance(DJ)), (balance(0, 0, 1_000), balance(900, 0, 0)));
    ledger.step(1, Move::Refund, &terms).unwrap();
    assert_eq!((ledger.balance(GUEST), ledger.balance(DJ)), (balance(0, 0, 0), balance(0, 0, 0)));
    ledger.audit().unwrap();
}

#[test]
fn only_confirmed_topups_are_reversed_and_only_once() {
    use TopupStatus::{Confirmed, Failed, Pending, Reversed};
    let topup = topped_up().the_topup(1);
    let in_status = |status| Topup { status, ..topup.clone() };
    for (status, allowed) in [(Pending, vec![Confirmed, Failed]), (Failed, vec![])] {
        assert_eq!(reverse(&in_status(status)), Err(ReversalRefusal { current: status, allowed }));
    }
    assert!(matches!(
        reverse(&in_status(Confirmed)),
        Ok(Settlement::Settled { to: Reversed, transfer: Some(_) })
    ));
    assert_eq!(reverse(&in_status(Reversed)), Ok(Settlement::Unchanged));
    for confirmed in [true, false] {
        assert_eq!(settle(&in_status(Reversed), confirmed), Settlement::Unchanged);
    }
    let mut ledger = topped_up();
    let late = [plans::reverse_topup(ledger.metadata(at(6)), &ledger.the_topup(1)).unwrap()];
    ledger.reverse(1).unwrap();
    ledger.reverse(1).unwrap();
    assert_eq!(ledger.apply(&late[0]), Err(Rejection::Stale));
    assert_eq!(ledger.entries.len(), 2);
    ledger.audit().unwrap();
}

#[test]
fn money_in_suspense_is_settled_once_without_entering_a_wallet() {
    let mut ledger = Ledger::new(1_000, 0);
    failed(&mut ledger, 1);
    let nothing = |ledger: &mut Ledger| {
        let metadata = ledger.metadata(at(9));
        plans::settle_suspense(metadata, &ledger.the_topup(1), user(OPERATOR), line("x")).map(|_| ())
    };
    assert_eq!(nothing(&mut ledger), Err(SuspenseRefusal::NothingThere));
    ledger.suspend(1).unwrap();
    ledger.suspend(1).unwrap();
    let sum = |ledger: &Ledger, account| -> i128 {
        let postings = ledger.postings.iter().filter(|one| one.account == PostingAccount::Outside(account));
        postings.map(|one| one.amount.minor()).sum()
    };
    assert_eq!(sum(&ledger, OutsideAccount::Suspense), 700);
    assert_eq!(sum(&ledger, OutsideAccount::Topups), -700);
    ledger.settle_suspense(1).unwrap();
    assert_eq!(nothing(&mut ledger), Err(SuspenseRefusal::AlreadySettled));
    assert_eq!(sum(&ledger, OutsideAccount::Suspense), 0);
    assert_eq!(ledger.entries, []);
    let summary = ledger.audit().unwrap();
    assert_eq!((summary.entries, summary.postings, summary.entities), (0, 4, 1));
}

#[test]
fn a_confirmation_decided_before_an_erasure_credits_no_wallet() {
    let mut ledger = Ledger::new(1_000, 0);
    for number in [1, 2] {
        ledger.topup(number, GUEST, 700, Charge::Pending).unwrap();
    }
    let decided = plans::settle_topup(ledger.metadata(at(5)), &ledger.the_topup(1), true);
    ledger.book.get_mut(user(GUEST)).unwrap().erased_at = Some(at(4));
    assert_eq!(ledger.apply(&decided), Err(Rejection::Missing(EntityKind::User)));
    assert_eq!(ledger.balance(GUEST), balance(0, 0, 0));
    ledger.suspend(1).unwrap();
    assert_eq!(ledger.the_topup(1).status, TopupStatus::Failed);
    // A report of failure is still applied after the erasure.
    let failed = plans::settle_topup(ledger.metadata(at(6)), &ledger.the_topup(2), false);
    ledger.apply(&failed).unwrap();
    ledger.audit().unwrap();
}

/// A guest with debt: one top-up reversed after its money was spent, and one that repaid a part. Late money
/// of two more top-ups, the second one settled.
fn everything() -> Ledger {
    let mut ledger = topped_up();
    ledger.adjust(GUEST, -1_000).unwrap();
    ledger.reverse(1).unwrap();
    ledger.topup(2, GUEST, 600, Charge::Confirmed).unwrap();
    for number in [3, 4] {
        failed(&mut ledger, number);
        ledger.suspend(number).unwrap();
    }
    ledger.settle_suspense(4).unwrap();
    ledger
}

fn stored(ledger: &mut Ledger, number: i64) -> &mut Topup {
    ledger.book.get_mut(TopupId::new(number).unwrap()).unwrap()
}

fn arrival(ledger: &Ledger, number: i64) -> OperationId {
    ledger.the_topup(number).suspense.unwrap().operation
}

fn departure(ledger: &Ledger, number: i64) -> OperationId {
    ledger.the_topup(number).suspense.unwrap().settlement.unwrap().operation
}

fn post(ledger: &mut Ledger, operation: OperationId, account: OutsideAccount, cents: i128) {
    let account = PostingAccount::Outside(account);
    ledger.postings.push(Posting { operation, account, amount: money(cents), at: at(7) });
}

type Tamper = fn(&mut Ledger);
type Expected = fn(&Ledger) -> Finding;

fn in_topup(number: i64, flaw: Flaw) -> Finding {
    Finding::Entity { reference: EntityRef::Topup(TopupId::new(number).unwrap()), flaw }
}

#[test]
fn the_audit_detects_tampering_with_chargebacks_and_suspense() {
    assert_eq!(everything().balance(GUEST), balance(0, 0, 400));
    let summary = everything().audit().unwrap();
    assert_eq!((summary.entries, summary.postings, summary.entities), (4, 10, 5));
    let table: Vec<(&str, Tamper, Expected)> = vec![
        (
            "a reversed top-up is confirmed again",
            |ledger| stored(ledger, 1).status = TopupStatus::Confirmed,
            |_| in_topup(1, Flaw::Extra { wallet: user(GUEST), seq: 3 }),
        ),
        (
            "a confirmed top-up is reversed by hand",
            |ledger| stored(ledger, 2).status = TopupStatus::Reversed,
            |_| in_topup(2, Flaw::Lacks(EntryKind::Chargeback)),
        ),
        (
            "a reversed top-up was smaller",
            |ledger| stored(ledger, 1).amount = amount(999),
            |_| in_topup(1, Flaw::Entry { wallet: user(GUEST), seq: 1 }),
        ),
        (
            "the operation of a top-up records no repayment of the debt",
            |ledger| {
                let operation = ledger.entries[3].operation;
                ledger.receipt_mut(operation).rules = PostingRules::EarningsPayOwed;
            },
            |_| in_topup(2, Flaw::Entry { wallet: user(GUEST), seq: 4 }),
        ),
        (
            "the item of suspended money is gone",
            |ledger| stored(ledger, 3).suspense = None,
            |_| Finding::Strays { entries: 0, postings: 2 },
        ),
        (
            "the top-up is gone",
            |ledger| drop(ledger.book.remove(TopupId::new(3).unwrap())),
            |_| Finding::Strays { entries: 0, postings: 2 },
        ),
        (
            "the amount in suspense was changed",
            |ledger| stored(ledger, 3).amount = amount(7_000),
            |ledger| in_topup(3, Flaw::Postings(arrival(ledger, 3))),
        ),
        (
            "a settlement was removed",
            |ledger| stored(ledger, 4).suspense.as_mut().unwrap().settlement = None,
            |_| Finding::Strays { entries: 0, postings: 2 },
        ),
        (
            "suspended money was settled by hand",
            |ledger| {
                let settlement = ledger.the_topup(4).suspense.unwrap().settlement.unwrap();
                let settlement = SuspenseSettlement { operation: OperationId(99), ..settlement };
                stored(ledger, 3).suspense.as_mut().unwrap().settlement = Some(settlement);
            },
            |_| in_topup(3, Flaw::NoRecord(OperationId(99))),
        ),
        (
            "a settlement names another operation",
            |ledger| {
                let other = arrival(ledger, 3);
                let suspense = stored(ledger, 4).suspense.as_mut().unwrap();
                suspense.settlement.as_mut().unwrap().operation = other;
            },
            |ledger| in_topup(4, Flaw::Postings(arrival(ledger, 3))),
        ),
        (
            "a settlement has another reason",
            |ledger| {
                let suspense = stored(ledger, 4).suspense.as_mut().unwrap();
                suspense.settlement.as_mut().unwrap().reason = line("kept");
            },
            |ledger| in_topup(4, Flaw::Record(departure(ledger, 4))),
        ),
        (
            "the money arrived at another time",
            |ledger| stored(ledger, 4).suspense.as_mut().unwrap().arrived_at = at(1),
            |ledger| in_topup(4, Flaw::Record(arrival(ledger, 4))),
        ),
        (
            "a suspended top-up is confirmed as well",
            |ledger| stored(ledger, 3).status = TopupStatus::Confirmed,
            |_| in_topup(3, Flaw::Terms),
        ),
        (
            "two more postings of an arrival",
            |ledger| {
                let operation = arrival(ledger, 3);
                post(ledger, operation, OutsideAccount::Suspense, 5);
                post(ledger, operation, OutsideAccount::Topups, -5);
            },
            |ledger| in_topup(3, Flaw::Postings(arrival(ledger, 3))),
        ),
        (
            "a posting of an arrival is missing",
            |ledger| {
                let operation = arrival(ledger, 3);
                let suspense = PostingAccount::Outside(OutsideAccount::Suspense);
                ledger.postings.retain(|one| (one.operation, one.account) != (operation, suspense));
            },
            |ledger| in_topup(3, Flaw::Postings(arrival(ledger, 3))),
        ),
        (
            "suspense without any top-up",
            |ledger| {
                post(ledger, OperationId(98), OutsideAccount::Suspense, 5);
                post(ledger, OperationId(98), OutsideAccount::Topups, -5);
            },
            |_| Finding::Strays { entries: 0, postings: 2 },
        ),
        (
            "the record of an arrival is gone",
            |ledger| {
                let operation = arrival(ledger, 3);
                ledger.book.operations.remove(&operation);
            },
            |ledger| in_topup(3, Flaw::NoRecord(arrival(ledger, 3))),
        ),
        (
            "a reversed top-up recorded another status when it was confirmed",
            |ledger| {
                let operation = ledger.entries[0].operation;
                let Entity::Topup(topup) = &mut ledger.receipt_mut(operation).outcome.entity else {
                    panic!()
                };
                topup.status = TopupStatus::Failed;
            },
            |ledger| in_topup(1, Flaw::Record(ledger.entries[0].operation)),
        ),
    ];
    for (name, tamper, expected) in table {
        let mut ledger = everything();
        let expected = expected(&ledger);
        tamper(&mut ledger);
        assert_eq!(ledger.audit(), Err(expected), "{name}");
    }
}
