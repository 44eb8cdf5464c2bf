//! Commands of operators, on doubles of the ports.

use super::logins::{Setup, sign_ins};
use super::*;
use crate::ledger::Balance;
use crate::ledger::adjustment::Correction;
use crate::operation::{Actor, Entity, Step};
use crate::withdrawal::{Withdrawal, WithdrawalState};

const REJECT: JudgeWithdrawal =
    JudgeWithdrawal { id: WithdrawalId::new(5).unwrap(), judgement: Judgement::Reject };
const SEND: SendWithdrawal = SendWithdrawal { id: WithdrawalId::new(5).unwrap() };

type JudgeError = CommandError<MoveWithdrawalRefusal, Infallible>;

fn reason() -> Line {
    Line::new("as agreed").unwrap()
}

/// A withdrawal of guest 1.
pub(super) fn withdrawal(state: WithdrawalState) -> Withdrawal {
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

/// Withdrawals whose loads find these one after the other.
fn stored(found: Vec<Withdrawal>) -> MockWithdrawals {
    let mut withdrawals = MockWithdrawals::new();
    let mut turn = mockall::Sequence::new();
    for found in found {
        withdrawals
            .expect_withdrawal()
            .once()
            .in_sequence(&mut turn)
            .returning(move |_| Ok(Some(found.clone())));
    }
    withdrawals
}

/// Wallets without adjustments by the operator.
fn not_adjusted() -> MockWallets {
    let mut wallets = MockWallets::new();
    wallets.expect_has_adjusted().returning(|_, _, _| Ok(false));
    wallets
}

#[test]
fn retried_operator_commands_keep_their_metadata() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    let theirs = |plan: &Plan| {
        let metadata = plan.metadata();
        (metadata.actor, &metadata.reason, metadata.operation)
            == (Actor::User(user(3)), &Some(reason()), OperationId(42))
            && metadata.as_operator
    };
    ledger
        .expect_apply()
        .withf(theirs)
        .once()
        .in_sequence(&mut turn)
        .returning(|_| rejected(Rejection::Stale));
    let found = [withdrawal(WithdrawalState::Pending), withdrawal(WithdrawalState::Approved)];
    let outcome = Outcome {
        entity: Entity::Withdrawal(withdrawal(WithdrawalState::Approved)),
        balance: Some(Balance::default()),
    };
    let applied = Receipt { outcome, ..receipt() };
    ledger
        .expect_apply()
        .withf(theirs)
        .withf(|plan| matches!(plan.step(), Step::Move { before: Entity::Withdrawal(before), .. } if before.state == WithdrawalState::Approved))
        .once()
        .in_sequence(&mut turn)
        .return_once(move |_| Ok(Applied::Fresh(applied)));
    let (withdrawals, wallets) = (stored(found.to_vec()), not_adjusted());
    let executor = Doubles { ledger, withdrawals, wallets, ..Doubles::default() }.executor();
    let moved = run(executor.run(&context(3), REJECT, input(reason())));
    assert!(matches!(moved, Ok(Done { replayed: false, .. })), "{moved:?}");
}

#[test]
fn operators_cannot_decide_on_their_own_withdrawals() {
    let txid = || Line::new("f00d").unwrap();
    let states = [
        WithdrawalState::Pending,
        WithdrawalState::Approved,
        WithdrawalState::Processing { attempts: 1, retry_at: Some(now()) },
        WithdrawalState::Broadcast { txid: txid() },
        WithdrawalState::Completed { txid: txid() },
        WithdrawalState::Cancelled,
        WithdrawalState::Rejected,
        WithdrawalState::Failed { txid: None },
        WithdrawalState::NeedsReview { txid: None },
    ];
    for state in states {
        for second_approval_above in [None, Amount::new(Money::from_minor(1))] {
            for judgement in [Judgement::Approve, Judgement::Reject, Judgement::Fail] {
                let withdrawals = stored(vec![Withdrawal { user: user(3), ..withdrawal(state.clone()) }]);
                let withdrawal_terms =
                    WithdrawalTerms { second_approval_above, ..WithdrawalTerms::default() };
                let terms = Terms { withdrawals: withdrawal_terms, ..Terms::default() };
                let executor = Doubles { withdrawals, terms, ..Doubles::default() }.executor();
                let command = JudgeWithdrawal { judgement, ..REJECT };
                let moved = run(executor.run(&context(3), command, input(reason())));
                assert!(matches!(moved, Err(JudgeError::Failed(Failure::Denied(_)))), "{moved:?}");
            }
        }
    }
}

#[test]
fn a_refused_operator_command_does_not_reach_the_ledger() {
    let withdrawals = stored(vec![withdrawal(WithdrawalState::NeedsReview { txid: None })]);
    let executor = Doubles { withdrawals, ..Doubles::default() }.executor();
    let step = (SendingStep::Complete { txid: None }, reason());
    let moved = run(executor.run(&context(3), SEND, input(step)));
    assert!(matches!(moved, Err(JudgeError::Refused(MoveWithdrawalRefusal::TxidMissing))), "{moved:?}");
}

/// Debits a user with this balance by this amount, as an operator.
fn adjust(
    ledger: MockLedger,
    requests: MockMusicRequests,
    balance: Option<Balance>,
    (number, minor): (i64, i128),
) -> Result<Done<Adjusted>, CommandError<AdjustRefusal, Infallible>> {
    let mut wallets = MockWallets::new();
    wallets.expect_balance().with(eq(user(number))).returning(move |_| Ok(balance));
    let correction = Correction::signed(Money::from_minor(minor)).unwrap();
    let executor = Doubles { ledger, requests, wallets, ..Doubles::default() }.executor();
    let new = NewAdjustment { user: user(number), correction, reason: reason() };
    run(executor.run(&context(3), Adjust, input(new)))
}

#[test]
fn an_adjustment_of_an_unknown_user_is_refused() {
    let adjusted = adjust(MockLedger::new(), MockMusicRequests::new(), None, (1, -500));
    assert!(matches!(adjusted, Err(CommandError::Refused(AdjustRefusal::NoSuchUser))), "{adjusted:?}");
}

#[test]
fn overdue_fees_are_released_if_the_funds_do_not_cover_a_debit() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    let correction = Correction::signed(Money::from_minor(-500)).unwrap();
    let id = AdjustmentId::new(4).unwrap();
    let made = crate::ledger::adjustment::Adjustment { id, user: user(1), correction, reason: reason() };
    for (kind, short) in [("adjust", true), ("move_request", false), ("adjust", false)] {
        let receipt = Receipt {
            outcome: Outcome { entity: Entity::Adjustment(made.clone()), balance: Some(Balance::default()) },
            ..receipt()
        };
        let answer = move |_| if short { broke() } else { Ok(Applied::Fresh(receipt.clone())) };
        let plan = move |plan: &Plan| plan.kind().name() == kind;
        ledger.expect_apply().withf(plan).once().in_sequence(&mut turn).returning(answer);
    }
    let mut kept = MockMusicRequests::new();
    let overdue = MusicRequest { state: RequestState::Pending { answer_by: now() }, ..request() };
    kept.expect_overdue()
        .withf(|which| which.requester == Some(user(1)))
        .returning(move |_| Ok(vec![overdue.clone()]));
    let adjusted = adjust(ledger, kept, Some(Balance::default()), (1, -500)).unwrap();
    assert_eq!((adjusted.value.adjustment, adjusted.value.at), (made, now()));
}

#[test]
fn operators_cannot_adjust_their_own_wallet_or_refund_their_own_requests() {
    let adjusted = adjust(MockLedger::new(), MockMusicRequests::new(), None, (3, 500));
    assert!(matches!(adjusted, Err(CommandError::Failed(Failure::Denied(_)))), "{adjusted:?}");
    let own = [MusicRequest { requester: user(3), ..request() }, MusicRequest { dj: user(3), ..request() }];
    for own in own {
        let (id, mut requests) = (own.id, MockMusicRequests::new());
        requests.expect_request().returning(move |_| Ok(Some(own.clone())));
        let executor = Doubles { requests, ..Doubles::default() }.executor();
        let refunded = run(executor.run(&context(3), RefundRequest { id }, input(reason())));
        assert!(matches!(refunded, Err(CommandError::Failed(Failure::Denied(_)))), "{refunded:?}");
    }
}

#[test]
fn an_operator_who_recently_adjusted_the_wallet_is_refused_before_input_is_read() {
    for adjusted in [true, false] {
        let withdrawals = stored(vec![withdrawal(WithdrawalState::Pending)]);
        let mut wallets = MockWallets::new();
        let since = now().minus(Duration::days(30));
        let asked = wallets.expect_has_adjusted().with(eq(user(3)), eq(user(1)), eq(since));
        asked.once().returning(move |_, _, _| Ok(adjusted));
        let executor = Doubles { withdrawals, wallets, ..Doubles::default() }.executor();
        let moved = run(executor.run(&context(3), REJECT, || Err("invalid")));
        match moved {
            Err(CommandError::Failed(Failure::RecentAdjustment)) => assert!(adjusted),
            Err(CommandError::Input("invalid")) => assert!(!adjusted),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_adjustment_cannot_exceed_the_configured_maximum() {
    for minor in [1_001, -1_001] {
        let balance = Some(Balance::default());
        let adjusted = adjust(MockLedger::new(), MockMusicRequests::new(), balance, (1, minor));
        assert!(matches!(adjusted, Err(CommandError::Refused(AdjustRefusal::Rule(_)))), "{adjusted:?}");
    }
}

#[test]
fn the_first_operator_begins_with_the_code_of_this_process_or_by_the_command_line() {
    let way_after = |issues: bool, had_operator: bool| {
        let mut setup = Setup::default();
        let mut turn = mockall::Sequence::new();
        let answers = if issues { vec![false, had_operator] } else { vec![had_operator] };
        for answer in answers {
            setup
                .people
                .expect_has_first_operator()
                .once()
                .in_sequence(&mut turn)
                .returning(move || Ok(answer));
        }
        let operators = Operators::new(sign_ins(setup));
        if issues {
            assert!(run(operators.issue_code()).unwrap().is_some());
        }
        run(operators.way_of_first()).unwrap()
    };
    assert_eq!(way_after(false, false), Some(FirstOperatorWay::CommandLine));
    assert_eq!(way_after(true, false), Some(FirstOperatorWay::Code));
    assert_eq!(way_after(false, true), None);
    assert_eq!(way_after(true, true), None, "another server or the command line was first");
}
