//! The references of withdrawals and top-ups: set by the opening operation, usable to find them, and
//! immutable.

use std::sync::Arc;

use cuepoint_domain::ids::OperationId;
use cuepoint_domain::operation::{Actor, plans};
use cuepoint_domain::ports::Store;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::withdrawal::Move;

use crate::harness::scenario::{Scenario, amount, at, topup_of, withdrawal_of};

promises! { ($) references as references_promises {
    withdrawals_are_found_by_their_opening_operation,
    topups_are_found_by_their_opening_operation,
}}

/// Each withdrawal is found by its own opening operation, in every status, and by no other operation.
pub async fn withdrawals_are_found_by_their_opening_operation(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(1_000).await;
    let found = async |opening| scenario.store.withdrawal_opened_by(opening).await.unwrap();
    let opened = [
        scenario.withdraw(guest, 100, at(0)).await.unwrap(),
        scenario.withdraw(guest, 100, at(0)).await.unwrap(),
    ];
    for receipt in &opened {
        let withdrawal = withdrawal_of(receipt);
        assert_eq!(withdrawal.opening, Some(receipt.operation));
        assert_eq!(found(receipt.operation).await, Some(withdrawal));
    }
    let [first, second] = opened.each_ref().map(withdrawal_of);
    let moved = scenario.move_withdrawal(first.id, &Move::Cancel, at(1)).await.unwrap();
    let cancelled = withdrawal_of(moved.receipt());
    assert_eq!(cancelled.opening, first.opening);
    assert_eq!(found(opened[0].operation).await, Some(cancelled.clone()));
    assert_eq!(scenario.stored_withdrawal(first.id).await, cancelled);
    assert_eq!(found(opened[1].operation).await, Some(second));
    assert_eq!(found(moved.receipt().operation).await, None, "a move opens nothing");
    assert_eq!(found(OperationId(1)).await, None);
    assert_eq!(scenario.store.topup_opened_by(opened[0].operation).await.unwrap(), None);
}

/// Each top-up is found by its own opening operation, in every status, and by no other operation.
pub async fn topups_are_found_by_their_opening_operation(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(0).await;
    let found = async |opening| scenario.store.topup_opened_by(opening).await.unwrap();
    let mut opened = Vec::new();
    for charge in [Charge::Confirmed, Charge::Pending] {
        let id = scenario.ids.next_topup().await.unwrap();
        opened.push(
            scenario
                .fresh(plans::open_topup(scenario.by(guest, at(0)), id, guest, amount(500), charge))
                .await,
        );
    }
    for receipt in &opened {
        let topup = topup_of(receipt);
        assert_eq!(topup.opening, Some(receipt.operation));
        assert_eq!(found(receipt.operation).await, Some(topup));
    }
    let pending = topup_of(&opened[1]);
    let settled =
        scenario.fresh(plans::settle_topup(scenario.metadata(Actor::System, at(1)), &pending, true)).await;
    let confirmed = topup_of(&settled);
    assert_eq!(confirmed.opening, pending.opening);
    assert_eq!(found(opened[1].operation).await, Some(confirmed.clone()));
    assert_eq!(scenario.stored_topup(pending.id).await, confirmed);
    assert_eq!(found(opened[0].operation).await, Some(topup_of(&opened[0])));
    assert_eq!(found(settled.operation).await, None, "the end of a top-up opens nothing");
    assert_eq!(found(OperationId(1)).await, None);
    assert_eq!(scenario.store.withdrawal_opened_by(opened[0].operation).await.unwrap(), None);
}
