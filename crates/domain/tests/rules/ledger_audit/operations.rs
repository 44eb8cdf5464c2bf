//! Records of operations, postings and entries, tampered with.

use cuepoint_domain::audit::{Finding, Flaw};
use cuepoint_domain::ids::OperationId;
use cuepoint_domain::ledger::adjustment::Correction;
use cuepoint_domain::ledger::{Entry, EntryKind, OutsideAccount, PostingAccount};
use cuepoint_domain::operation::{Entity, Outcome};

use super::Case;
use super::fixture::{
    about, add_pair, adjusted, extra, forge, in_adjustment, in_request, in_topup, in_withdrawal, operation,
    request, topped_up, withdrawn, wrong,
};
use crate::support::{GUEST, amount, at, money, user};

pub(crate) const OPERATIONS: &[Case] = &[
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
            let Entity::Adjustment(adjustment) = &mut receipt.outcome.entity else { panic!("{receipt:?}") };
            adjustment.correction = Correction::Debit(amount(1));
        },
        |ledger| in_adjustment(1, wrong(ledger, adjusted(1), 0)),
    ),
    (
        "the recorded balance was changed",
        |ledger| {
            let receipt = ledger.receipt_mut(OperationId(1));
            let Outcome { entity: Entity::Adjustment(_), balance: Some(balance) } = &mut receipt.outcome
            else {
                panic!("{receipt:?}")
            };
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
        "an amount was changed, and everything after it recomputed",
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
            let copy =
                Entry { operation: OperationId(u128::MAX), at: at(2_000), ..ledger.entries[place].clone() };
            ledger.entries.push(copy);
            forge(ledger, GUEST);
        },
        |ledger| in_request(3, extra(ledger, request(3), 2)),
    ),
    (
        "an entry was dated back, and everything after it recomputed",
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
