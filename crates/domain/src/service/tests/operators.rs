//! What operators do, on doubles of the ports.

use super::*;
use crate::adjustment::Correction;
use crate::ids::{AdjustmentId, WithdrawalId};
use crate::ledger::{Actor, Balance, Step};
use crate::money::Amount;
use crate::ports::{MockWallets, MockWithdrawals};
use crate::withdrawal::{Withdrawal, WithdrawalState};

const BY_OPERATOR: Command = command(3);

fn reason() -> Line {
    Line::new("as agreed").unwrap()
}

/// A withdrawal of guest 1.
fn withdrawal(state: WithdrawalState) -> Withdrawal {
    let line = |text| Line::new(text).unwrap();
    Withdrawal {
        id: WithdrawalId::new(5).unwrap(),
        opening: None,
        user: user(1),
        amount: Amount::new(Money::from_minor(1_000)).unwrap(),
        wallet_address: line("bc1q"),
        currency: line("BTC"),
        network: line("bitcoin"),
        state,
        approvals: Vec::new(),
        created_at: now(),
        updated_at: now(),
    }
}

fn operators(
    ledger: MockLedger,
    withdrawals: MockWithdrawals,
    kept: MockMusicRequests,
    wallets: MockWallets,
) -> Operators {
    let mut desk = desk(ledger);
    let mut ids = MockIds::new();
    ids.expect_operation().returning(|| OperationId(42));
    ids.expect_next_adjustment().returning(|| Ok(AdjustmentId::new(4).unwrap()));
    desk.ids = Arc::new(ids);
    let requests: Arc<dyn crate::ports::MusicRequests> = Arc::new(kept);
    let expiry = Expiry { desk: desk.clone(), requests: requests.clone(), terms: terms() };
    let (withdrawals, wallets) = (Arc::new(withdrawals), Arc::new(wallets));
    Operators {
        desk,
        withdrawals,
        requests,
        wallets,
        expiry,
        terms: terms(),
        adjustments: AdjustmentTerms { max_amount: Amount::new(Money::from_minor(1_000)) },
        second_approval_above: None,
    }
}

fn move_of(
    ledger: MockLedger,
    found: Withdrawal,
    then: WithdrawalState,
    to: OperatorMove,
) -> Result<Applied, OperatorMoveError> {
    let mut withdrawals = MockWithdrawals::new();
    withdrawals.expect_withdrawal().returning(move |_| Ok(Some(withdrawal(then.clone()))));
    let operators = operators(ledger, withdrawals, MockMusicRequests::new(), MockWallets::new());
    run(operators.move_withdrawal(&BY_OPERATOR, reason(), found, to))
}

#[test]
fn an_act_keeps_its_operator_and_reason_when_it_is_decided_again() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    let theirs = |plan: &Plan| {
        let origin = plan.origin();
        (origin.actor, &origin.reason, origin.operation)
            == (Actor::User(user(3)), &Some(reason()), OperationId(42))
    };
    ledger
        .expect_apply()
        .withf(theirs)
        .once()
        .in_sequence(&mut turn)
        .returning(|_| rejected(Rejection::Stale));
    ledger
        .expect_apply()
        .withf(theirs)
        .withf(|plan| matches!(plan.step(), Step::MoveWithdrawal { before, .. } if before.state == WithdrawalState::Approved))
        .once()
        .in_sequence(&mut turn)
        .returning(|_| Ok(Applied::Fresh(receipt())));
    let found = withdrawal(WithdrawalState::Pending);
    let moved = move_of(ledger, found, WithdrawalState::Approved, OperatorMove::Reject);
    assert_eq!(moved.unwrap(), Applied::Fresh(receipt()));
}

#[test]
fn a_refused_act_reaches_no_ledger() {
    let own = Withdrawal { user: user(3), ..withdrawal(WithdrawalState::Pending) };
    for to in [OperatorMove::Approve, OperatorMove::Reject, OperatorMove::Fail] {
        let moved = move_of(MockLedger::new(), own.clone(), WithdrawalState::Pending, to);
        assert!(matches!(moved, Err(OperatorMoveError::Obstacle(Obstacle::Denied))), "{moved:?}");
    }
    let unknown = withdrawal(WithdrawalState::NeedsReview { txid: None });
    let to = OperatorMove::Complete { txid: None };
    let moved = move_of(MockLedger::new(), unknown, WithdrawalState::Pending, to);
    assert!(matches!(moved, Err(OperatorMoveError::TxidMissing)), "{moved:?}");
}

/// Takes 5.00 from guest 1, whose balance is this.
fn debit(
    ledger: MockLedger,
    kept: MockMusicRequests,
    balance: Option<Balance>,
) -> Result<Applied, AdjustError> {
    let mut wallets = MockWallets::new();
    wallets.expect_balance().with(eq(user(1))).returning(move |_| Ok(balance));
    let correction = Correction::signed(Money::from_minor(-500)).unwrap();
    let operators = operators(ledger, MockWithdrawals::new(), kept, wallets);
    run(operators.adjust(&BY_OPERATOR, reason(), user(1), correction))
}

#[test]
fn nobody_who_is_not_there_is_adjusted() {
    let adjusted = debit(MockLedger::new(), MockMusicRequests::new(), None);
    assert!(matches!(adjusted, Err(AdjustError::NoSuchUser)), "{adjusted:?}");
}

#[test]
fn a_debit_short_of_funds_first_gives_back_the_persons_overdue_fees() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    for (kind, short) in [("adjust", true), ("move_request", false), ("adjust", false)] {
        let answer = move |_| if short { broke() } else { Ok(Applied::Fresh(receipt())) };
        let plan = move |plan: &Plan| plan.kind().name() == kind;
        ledger.expect_apply().withf(plan).once().in_sequence(&mut turn).returning(answer);
    }
    let mut kept = MockMusicRequests::new();
    let overdue = MusicRequest { state: RequestState::Pending { answer_by: now() }, ..request() };
    kept.expect_overdue()
        .withf(|which| which.requester == Some(user(1)))
        .returning(move |_| Ok(vec![overdue.clone()]));
    assert!(debit(ledger, kept, Some(Balance::default())).is_ok());
}

#[test]
fn nobody_corrects_their_own_balance_or_refunds_a_request_that_they_are_party_to() {
    let operators = |kept| operators(MockLedger::new(), MockWithdrawals::new(), kept, MockWallets::new());
    let correction = Correction::signed(Money::from_minor(500)).unwrap();
    let adjusted =
        run(operators(MockMusicRequests::new()).adjust(&BY_OPERATOR, reason(), user(3), correction));
    assert!(matches!(adjusted, Err(AdjustError::Obstacle(Obstacle::Denied))), "{adjusted:?}");
    let own = [MusicRequest { requester: user(3), ..request() }, MusicRequest { dj: user(3), ..request() }];
    for own in own {
        let mut kept = MockMusicRequests::new();
        let found = own.clone();
        kept.expect_request().returning(move |_| Ok(Some(found.clone())));
        let operators = operators(kept);
        let found = run(operators.request(&caller(3), own.id));
        assert!(matches!(found, Err(FindError::Denied)), "{found:?}");
        let refunded = run(operators.refund(&BY_OPERATOR, reason(), own));
        assert!(matches!(refunded, Err(MoveRequestError::Obstacle(Obstacle::Denied))), "{refunded:?}");
    }
}

#[test]
fn who_adjusted_the_wallet_lately_is_told_before_anything_is_decided() {
    for adjusted in [true, false] {
        let mut withdrawals = MockWithdrawals::new();
        withdrawals.expect_withdrawal().returning(|_| Ok(Some(withdrawal(WithdrawalState::Pending))));
        let mut wallets = MockWallets::new();
        let since = now().minus(Duration::days(30));
        let asked = wallets.expect_has_adjusted().with(eq(user(3)), eq(user(1)), eq(since));
        asked.once().returning(move |_, _, _| Ok(adjusted));
        let operators = operators(MockLedger::new(), withdrawals, MockMusicRequests::new(), wallets);
        let found = run(operators.judged(&caller(3), WithdrawalId::new(5).unwrap()));
        assert_eq!(matches!(found, Err(JudgeError::RecentAdjustment)), adjusted, "{found:?}");
        assert_eq!(found.is_ok(), !adjusted);
    }
}

#[test]
fn no_adjustment_is_larger_than_its_limit() {
    for minor in [1_001, -1_001] {
        let mut wallets = MockWallets::new();
        wallets.expect_balance().returning(|_| Ok(Some(Balance::default())));
        let correction = Correction::signed(Money::from_minor(minor)).unwrap();
        let operators =
            operators(MockLedger::new(), MockWithdrawals::new(), MockMusicRequests::new(), wallets);
        let adjusted = run(operators.adjust(&BY_OPERATOR, reason(), user(1), correction));
        assert!(matches!(adjusted, Err(AdjustError::AboveLimit(_))), "{adjusted:?}");
    }
}
