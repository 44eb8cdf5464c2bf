//! The reference semantics: floors, atomicity, and operations without entries.

use crate::support::{DJ, GUEST, Ledger, adjustment, at, balance, money, terms, user};
use cuepoint_domain::audit::Summary;
use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::{
    Entity, Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, Outcome, Receipt, Rejection,
    StoredReceipt, Verdict, apply, plans,
};
use cuepoint_domain::user::ProfileChange;
use time::Duration;

type Tamper = fn(&mut Ledger);
type Command = fn(&mut Ledger) -> Result<Receipt, Rejection>;

/// A guest with 5.00, and a DJ with an empty wallet who charges 5.01 per song.
fn check_floor(name: &str, command: Command, expected: Result<Balance, Rejection>) {
    let mut ledger = Ledger::new(501, 500);
    let before = ledger.clone();
    let answer = command(&mut ledger).map(|_| ledger.balance(GUEST));
    assert_eq!(answer, expected, "{name}");
    if answer.is_err() {
        assert_unchanged(&ledger, &before);
    }
    ledger.audit().unwrap();
}

fn assert_unchanged(after: &Ledger, before: &Ledger) {
    assert_eq!(after.book, before.book);
    assert_eq!((&after.entries, &after.postings), (&before.entries, &before.postings));
}

#[test]
fn balances_stay_between_zero_and_the_maximum() {
    let broke = Rejection::InsufficientFunds { available: money(500) };
    let table: [(&str, Command, Result<Balance, Rejection>); 8] = [
        ("all of it is withdrawn", |l| l.withdraw(1, GUEST, 500), Ok(balance(0, 500, 0))),
        ("a cent more", |l| l.withdraw(1, GUEST, 501), Err(broke)),
        ("all of it is corrected away", |l| l.adjust(GUEST, -500), Ok(balance(0, 0, 0))),
        ("a cent more is corrected away", |l| l.adjust(GUEST, -501), Err(broke)),
        ("a song for a cent too much", |l| l.open(1, &terms(0)).and_then(|_| l.adjust(DJ, 1)), Err(broke)),
        (
            "up to the largest balance",
            |l| l.adjust(GUEST, Money::MAX_BALANCE.minor() - 500),
            Ok(balance(Money::MAX_BALANCE.minor(), 0, 0)),
        ),
        (
            "a cent above the largest balance",
            |l| l.adjust(GUEST, Money::MAX_BALANCE.minor() - 499),
            Err(Rejection::OutOfRange),
        ),
        ("beyond any number", |l| l.adjust(GUEST, i128::MAX), Err(Rejection::OutOfRange)),
    ];
    for (name, command, expected) in table {
        check_floor(name, command, expected);
    }
}

#[test]
fn held_money_can_always_be_released() {
    let most = Money::MAX_BALANCE.minor();
    let mut ledger = Ledger::new(most - 500, most);
    ledger.open(1, &terms(0)).unwrap();
    assert_eq!(ledger.adjust(GUEST, 1), Err(Rejection::OutOfRange), "the held part counts");
    ledger.step(1, Move::Cancel, &terms(0)).unwrap();
    assert_eq!(ledger.balance(GUEST), balance(most, 0, 0));
    ledger.audit().unwrap();
}

/// Funds, then range: whichever leg of a capture or refund fails, none is posted.
#[test]
fn the_transfers_of_a_plan_are_posted_atomically() {
    let terms = terms(1_000);
    let mut played = Ledger::new(1_000, 5_000);
    played.open(1, &terms).unwrap();
    let mut pending = played.clone();
    played.step(1, Move::Play, &terms).unwrap();
    let full = Money::MAX_BALANCE.minor();

    pending.adjust(DJ, full - 899).unwrap();
    let mut one_leg_fits = played.clone();
    one_leg_fits.adjust(GUEST, full - 4_000 - 900).unwrap();
    let mut no_leg_fits = played.clone();
    no_leg_fits.adjust(GUEST, full - 4_000).unwrap();
    for (mut ledger, to) in [(pending, Move::Play), (one_leg_fits, Move::Refund), (no_leg_fits, Move::Refund)]
    {
        let before = ledger.clone();
        assert_eq!(ledger.step(1, to, &terms), Err(Rejection::OutOfRange));
        assert_unchanged(&ledger, &before);
        ledger.audit().unwrap();
    }
}

#[test]
fn a_plan_that_refers_to_a_missing_row_is_rejected() {
    let terms = terms(1_000);
    let mut ledger = Ledger::new(1_000, 5_000);
    ledger.open(1, &terms).unwrap();
    let id = RequestId::new(1).unwrap();
    let stored = ledger.book.get(id).unwrap().clone();
    let plan = plans::move_request(ledger.metadata(at(2)), &stored, Move::Play, &terms).unwrap();
    let remove: [(EntityKind, Tamper); 4] = [
        (EntityKind::Wallet, |ledger| {
            ledger.book.wallets.remove(&user(GUEST));
        }),
        (EntityKind::Wallet, |ledger| {
            ledger.book.wallets.remove(&user(DJ));
        }),
        (EntityKind::User, |ledger| {
            ledger.book.remove(user(DJ));
        }),
        (EntityKind::MusicRequest, |ledger| {
            ledger.book.remove(RequestId::new(1).unwrap());
        }),
    ];
    for (row, remove) in remove {
        let mut without = ledger.clone();
        remove(&mut without);
        let before = without.clone();
        assert_eq!(without.apply(&plan), Err(Rejection::Missing(row)));
        assert_unchanged(&without, &before);
    }
    assert!(ledger.apply(&plan).is_ok());
}

/// A price of zero: the whole life cycle without an entry, and still a played song.
#[test]
fn a_request_with_a_zero_fee_leaves_no_entry() {
    let terms = terms(1_000);
    let mut ledger = Ledger::new(0, 0);
    ledger.open(1, &terms).unwrap();
    for to in [Move::Accept, Move::Play, Move::Refund] {
        ledger.step(1, to, &terms).unwrap();
    }
    assert_eq!((ledger.entries.len(), ledger.postings.len()), (0, 0));
    assert_eq!(ledger.book.get(user(DJ)).unwrap().dj.as_ref().unwrap().played, 1);
    assert_eq!(ledger.audit(), Ok(Summary { wallets: 3, entries: 0, postings: 0, entities: 1 }));
}

#[test]
fn adjustments_credit_or_debit_the_available_balance() {
    let mut ledger = Ledger::new(0, 0);
    for (cents, available) in [(300, 300), (-100, 200), (-200, 0), (1, 1)] {
        let receipt = ledger.adjust(GUEST, cents).unwrap();
        let Outcome { entity: Entity::Adjustment(_), balance: Some(after) } = receipt.outcome else {
            panic!("{receipt:?}")
        };
        assert_eq!(after, balance(available, 0, 0));
    }
    let changes: Vec<i128> = ledger.entries.iter().map(|entry| entry.change.available.minor()).collect();
    assert_eq!(changes, [300, -100, -200, 1]);
    ledger.audit().unwrap();
}

/// The counter counts songs played: not requests accepted, rejected or answered twice, and a refund does not
/// decrement it.
#[test]
fn a_dj_profile_counts_each_played_song_once_even_if_refunded() {
    let terms = terms(0);
    let mut ledger = Ledger::new(100, 1_000);
    for (number, moves, played) in [
        (1, vec![Move::Accept, Move::Play, Move::Play], 1),
        (2, vec![Move::Reject], 1),
        (3, vec![Move::Play, Move::Refund, Move::Refund], 2),
        (4, vec![Move::Accept, Move::Reject], 2),
    ] {
        ledger.open(number, &terms).unwrap();
        for to in moves {
            ledger.step(number, to, &terms).unwrap();
        }
        assert_eq!(
            ledger.book.get(user(DJ)).unwrap().dj.as_ref().unwrap().played,
            played,
            "request {number}"
        );
    }
}

/// The same plan applied again gives the same answer, and leaves the book unchanged.
#[test]
fn a_plan_applied_again_is_replayed_and_changes_nothing() {
    let mut ledger = Ledger::new(0, 500);
    let plan =
        plans::adjust(ledger.metadata(at(1)), adjustment(9, GUEST, -500), &Default::default()).unwrap();
    let receipt = ledger.apply(&plan).unwrap();
    let before = ledger.clone();
    assert_eq!(apply(&mut ledger.book, &plan), Ok(Verdict::Replayed(receipt)));
    assert_unchanged(&ledger, &before);
}

/// A profile is redacted at the end of its retention, to the microsecond; a receipt about money stays.
#[test]
fn profile_receipts_are_redacted_after_seven_days() {
    let mut ledger = Ledger::new(0, 500);
    let change = plans::change_profile(ledger.metadata(at(1)), user(GUEST), ProfileChange::default());
    let mut profile = StoredReceipt::Whole(ledger.apply(&change).unwrap());
    let end = at(1).plus(Duration::days(7));
    assert!(profile.is_due(end) && !profile.is_due(end.minus(Duration::MICROSECOND)));
    profile.redact();
    let redacted = StoredReceipt::Redacted { operation: change.metadata().operation, user: user(GUEST) };
    assert_eq!(profile, redacted);
    assert!(!profile.is_due(end));

    let plan =
        plans::adjust(ledger.metadata(at(1)), adjustment(9, GUEST, -500), &Default::default()).unwrap();
    let adjusted = StoredReceipt::Whole(ledger.apply(&plan).unwrap());
    let mut kept = adjusted.clone();
    kept.redact();
    assert!(kept == adjusted && !kept.is_due(end));
}

/// Without its receipt, an operation that was applied before is stale, by its id and by its key, and is not
/// applied again.
#[test]
fn a_repeated_operation_with_a_redacted_receipt_is_stale() {
    let mut ledger = Ledger::new(0, 500);
    let (scope, fingerprint) = (KeyScope([1; 32]), Fingerprint([2; 32]));
    let key = Some(IdempotencyKey { scope, fingerprint });
    let metadata = OperationMetadata { key, ..ledger.metadata(at(1)) };
    let plan = plans::change_profile(metadata, user(GUEST), ProfileChange::default());
    ledger.apply(&plan).unwrap();
    ledger.book.operations.values_mut().for_each(StoredReceipt::redact);
    ledger.book.keys.values_mut().for_each(|record| record.receipt.redact());
    let before = ledger.clone();
    assert_eq!(ledger.apply(&plan), Err(Rejection::Stale));
    let again = OperationMetadata { key, ..ledger.metadata(at(2)) };
    let again = plans::change_profile(again, user(GUEST), ProfileChange::default());
    assert_eq!(ledger.apply(&again), Err(Rejection::Stale));
    assert_unchanged(&ledger, &before);
}
