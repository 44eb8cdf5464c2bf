//! The values written while servers of an earlier version may still run.

use crate::support::{DJ, GUEST, Ledger, OPERATOR, amount, balance, terms, user};
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::Rejection;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::topup::{Charge, TopupStatus};
use cuepoint_domain::withdrawal::{Move as WithdrawalMove, WithdrawalStatus};

/// A ledger in which servers of the first version may still write.
fn upgrading() -> Ledger {
    let mut ledger = Ledger::new(1_000, 5_000);
    ledger.book.feature_level = FeatureLevel::Level0;
    ledger
}

#[test]
fn the_first_of_two_approvals_requires_a_finalized_upgrade() {
    let mut ledger = upgrading();
    ledger.adjust(DJ, 1_000).unwrap();
    ledger.withdraw(1, DJ, 1_000).unwrap();
    ledger.withdraw(2, GUEST, 1_001).unwrap();
    let approve = WithdrawalMove::Approve { by: Some(user(OPERATOR)), second_above: Some(amount(1_000)) };
    ledger.move_withdrawal(1, approve.clone()).unwrap();
    assert_eq!(ledger.move_withdrawal(2, approve.clone()), Err(Rejection::NotFinalized));
    let stored = ledger.book.get(WithdrawalId::new(2).unwrap()).unwrap();
    assert_eq!((stored.state.status(), stored.approvals.len()), (WithdrawalStatus::Pending, 0));

    ledger.book.feature_level = FeatureLevel::NEWEST;
    ledger.move_withdrawal(2, approve).unwrap();
    assert_eq!(ledger.book.get(WithdrawalId::new(2).unwrap()).unwrap().approvals.len(), 1);
    ledger.audit().unwrap();
}

#[test]
fn income_pays_no_debt_until_the_upgrade_is_finalized() {
    let (mut ledger, terms) = (upgrading(), terms(0));
    ledger.open(1, &terms).unwrap();
    ledger.step(1, Move::Play, &terms).unwrap();
    ledger.adjust(DJ, -1_000).unwrap();
    ledger.step(1, Move::Refund, &terms).unwrap();
    assert_eq!(ledger.balance(DJ), balance(0, 0, 1_000));
    ledger.adjust(DJ, 100).unwrap();
    assert_eq!(ledger.balance(DJ), balance(100, 0, 1_000), "as servers of the first version post it");
    ledger.book.feature_level = FeatureLevel::NEWEST;
    ledger.adjust(DJ, 100).unwrap();
    assert_eq!(ledger.balance(DJ), balance(100, 0, 900));
    // Each operation is posted again by the rules of its time.
    ledger.audit().unwrap();
}

#[test]
fn released_money_pays_no_debt_until_the_upgrade_is_finalized() {
    for (level, expected) in [
        (FeatureLevel::Level0, balance(400, 0, 1_000)),
        (FeatureLevel::Level1, balance(400, 0, 1_000)),
        (FeatureLevel::Level2, balance(0, 0, 600)),
    ] {
        let mut ledger = Ledger::new(1_000, 0);
        ledger.topup(1, GUEST, 1_000, Charge::Confirmed).unwrap();
        ledger.withdraw(1, GUEST, 400).unwrap();
        ledger.adjust(GUEST, -600).unwrap();
        ledger.reverse(1).unwrap();
        assert_eq!(ledger.balance(GUEST), balance(0, 400, 1_000));
        ledger.book.feature_level = level;
        ledger.move_withdrawal(1, WithdrawalMove::Cancel).unwrap();
        assert_eq!(ledger.balance(GUEST), expected, "{level:?}");
        ledger.audit().unwrap();
    }
}

#[test]
fn reversals_and_suspense_require_a_finalized_upgrade() {
    let mut ledger = upgrading();
    ledger.topup(1, GUEST, 700, Charge::Confirmed).unwrap();
    ledger.topup(2, GUEST, 300, Charge::Pending).unwrap();
    let before = (ledger.balance(GUEST), ledger.postings.len());
    assert_eq!(ledger.reverse(1), Err(Rejection::NotFinalized));
    assert_eq!(ledger.suspend(2), Err(Rejection::NotFinalized));
    assert_eq!((ledger.balance(GUEST), ledger.postings.len()), before);
    assert_eq!(
        [1, 2].map(|number| ledger.the_topup(number).status),
        [TopupStatus::Confirmed, TopupStatus::Pending]
    );

    ledger.book.feature_level = FeatureLevel::NEWEST;
    ledger.reverse(1).unwrap();
    ledger.suspend(2).unwrap();
    ledger.audit().unwrap();
}
