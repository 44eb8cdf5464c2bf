//! The audit's findings about provider references and orders: changed ones, and those not recorded by an
//! older server.

use crate::support::{GUEST, Ledger, at};
use cuepoint_domain::audit::{Finding, Flaw};
use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::{OperationId, TopupId, WithdrawalId};
use cuepoint_domain::operation::{Entity, plans};
use cuepoint_domain::topup::{Charge, Orders};
use cuepoint_domain::withdrawal;

/// A cancelled withdrawal, a top-up confirmed at once, and one confirmed later.
fn ledger() -> Ledger {
    let mut ledger = Ledger::new(0, 1_000);
    ledger.withdraw(1, GUEST, 500).unwrap();
    ledger.move_withdrawal(1, withdrawal::Move::Cancel).unwrap();
    ledger.topup(1, GUEST, 700, Charge::Confirmed).unwrap();
    ledger.topup(2, GUEST, 700, Charge::Pending).unwrap();
    let pending = ledger.book.get(topup(2)).unwrap().clone();
    let metadata = ledger.metadata(at(5));
    ledger.apply(&plans::settle_topup(metadata, &pending, true)).unwrap();
    ledger
}

fn topup(number: i64) -> TopupId {
    TopupId::new(number).unwrap()
}

fn withdrawal_id() -> WithdrawalId {
    WithdrawalId::new(1).unwrap()
}

/// The operations with entries about an entity, in order.
fn operations(ledger: &Ledger, reference: EntityRef) -> Vec<OperationId> {
    ledger.entries.iter().filter(|entry| entry.reference == reference).map(|entry| entry.operation).collect()
}

/// Sets the reference that an operation recorded.
fn record(ledger: &mut Ledger, operation: OperationId, opening: Option<OperationId>) {
    match &mut ledger.receipt_mut(operation).outcome.entity {
        Entity::Withdrawal(withdrawal) => withdrawal.opening = opening,
        Entity::Topup(topup) => topup.opening = opening,
        other => panic!("{other:?}"),
    }
}

/// Sets the references stored in the rows.
fn keep(ledger: &mut Ledger, opening: Option<OperationId>) {
    let mut withdrawal = ledger.book.get(withdrawal_id()).unwrap().clone();
    withdrawal.opening = opening;
    ledger.book.put(withdrawal);
    for number in [1, 2] {
        ledger.book.get_mut(topup(number)).unwrap().opening = opening;
    }
}

fn flaw(ledger: &Ledger) -> Option<(EntityRef, Flaw)> {
    match ledger.audit() {
        Ok(_) => None,
        Err(Finding::Entity { reference, flaw }) => Some((reference, flaw)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn moves_recorded_without_a_reference_by_older_servers_pass_the_audit() {
    let mut ledger = ledger();
    assert_eq!(flaw(&ledger), None);
    let moved = operations(&ledger, EntityRef::Withdrawal(withdrawal_id()))[1];
    record(&mut ledger, moved, None);
    let settled = operations(&ledger, EntityRef::Topup(topup(2)))[0];
    record(&mut ledger, settled, None);
    assert_eq!(flaw(&ledger), None);
}

#[test]
fn rows_stored_without_a_reference_by_older_servers_pass_the_audit() {
    let mut ledger = ledger();
    keep(&mut ledger, None);
    for reference in
        [EntityRef::Withdrawal(withdrawal_id()), EntityRef::Topup(topup(1)), EntityRef::Topup(topup(2))]
    {
        for operation in operations(&ledger, reference) {
            record(&mut ledger, operation, None);
        }
    }
    assert_eq!(flaw(&ledger), None);
}

#[test]
fn a_recorded_reference_must_match_its_row() {
    let other = Some(OperationId(u128::MAX));
    for (reference, place) in [
        (EntityRef::Withdrawal(withdrawal_id()), 0),
        (EntityRef::Withdrawal(withdrawal_id()), 1),
        (EntityRef::Topup(topup(1)), 0),
        (EntityRef::Topup(topup(2)), 0),
    ] {
        let mut ledger = ledger();
        let operation = operations(&ledger, reference)[place];
        record(&mut ledger, operation, other);
        assert_eq!(flaw(&ledger), Some((reference, Flaw::Record(operation))));
    }
    // The operation that opens an entity with a reference records it.
    for reference in [EntityRef::Withdrawal(withdrawal_id()), EntityRef::Topup(topup(1))] {
        let mut ledger = ledger();
        let operation = operations(&ledger, reference)[0];
        record(&mut ledger, operation, None);
        assert_eq!(flaw(&ledger), Some((reference, Flaw::Record(operation))));
    }
    // A row without its reference.
    let mut ledger = ledger();
    keep(&mut ledger, None);
    let operation = operations(&ledger, EntityRef::Withdrawal(withdrawal_id()))[0];
    assert_eq!(flaw(&ledger), Some((EntityRef::Withdrawal(withdrawal_id()), Flaw::Record(operation))));
}

#[test]
fn recorded_payment_requests_must_match_their_row() {
    let orders =
        |ledger: &mut Ledger, operation, orders| match &mut ledger.receipt_mut(operation).outcome.entity {
            Entity::Topup(topup) => topup.orders = orders,
            other => panic!("{other:?}"),
        };
    let other = Some(Orders { attempts: 9, next_at: None });
    for number in [1, 2] {
        let reference = EntityRef::Topup(topup(number));
        for (recorded, is_sound) in [(Some(Orders::default()), true), (other, false), (None, number == 2)] {
            let mut ledger = ledger();
            let operation = operations(&ledger, reference)[0];
            orders(&mut ledger, operation, recorded);
            let expected = (!is_sound).then_some((reference, Flaw::Record(operation)));
            assert_eq!(flaw(&ledger), expected, "{reference:?} {recorded:?}");
        }
    }
    // An entity opened by an older server has none, whichever server settles it.
    let mut ledger = ledger();
    for number in [1, 2] {
        ledger.book.get_mut(topup(number)).unwrap().orders = None;
        let operation = operations(&ledger, EntityRef::Topup(topup(number)))[0];
        orders(&mut ledger, operation, None);
    }
    assert_eq!(flaw(&ledger), None);
}
