//! The worker and the provider's status updates, on doubles of the ports around one withdrawal.

use std::sync::atomic::{AtomicI64, Ordering};

use time::Duration;

use super::*;
use crate::ids::{OperationId, UserId};
use crate::ledger::{Balance, Transfer};
use crate::money::{Amount, Money};
use crate::operation::{Entity, OperationMetadata, Outcome, Plan, Receipt, Step as PlanStep};
use crate::provider_message::Contradiction;
use crate::timestamp::Timestamp;
use crate::withdrawal::{PayoutUpdate, Withdrawal, WithdrawalState, WithdrawalStatus};

const RETRY_SECONDS: i64 = 60;

/// One stored withdrawal, and the plans that moved it.
struct Scene {
    stored: Mutex<Withdrawal>,
    transfers: Mutex<Vec<Transfer>>,
    seconds: AtomicI64,
    /// What its owner owes, which the ledger finds out under the wallet's lock.
    owed: AtomicI64,
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::EPOCH.plus(Duration::seconds(seconds))
}

fn id() -> WithdrawalId {
    WithdrawalId::new(7).unwrap()
}

fn txid() -> Line {
    Line::new("f00d").unwrap()
}

impl Scene {
    fn new(state: WithdrawalState) -> Arc<Self> {
        let stored = Withdrawal {
            id: id(),
            opening: None,
            user: UserId::new(1).unwrap(),
            amount: Amount::new(Money::from_minor(500)).unwrap(),
            wallet_address: Line::new("bc1q").unwrap(),
            currency: Line::new("BTC").unwrap(),
            network: Line::new("bitcoin").unwrap(),
            state,
            approvals: Vec::new(),
            created_at: at(0),
            updated_at: at(0),
        };
        Arc::new(Self {
            stored: stored.into(),
            transfers: Mutex::default(),
            seconds: 0.into(),
            owed: 0.into(),
        })
    }

    fn state(&self) -> WithdrawalState {
        self.stored.lock().unwrap().state.clone()
    }

    fn status(&self) -> WithdrawalStatus {
        self.state().status()
    }

    fn now(&self) -> Timestamp {
        at(self.seconds.load(Ordering::SeqCst))
    }

    fn later(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    /// The number of settlements of the hold, at most one.
    fn settlements(&self) -> usize {
        self.transfers.lock().unwrap().len()
    }

    fn apply(&self, plan: &Plan) -> Result<Applied, ApplyError> {
        let PlanStep::Move { before: Entity::Withdrawal(before), after: Entity::Withdrawal(after) } =
            plan.step()
        else {
            panic!("{plan:?}")
        };
        let mut stored = self.stored.lock().unwrap();
        if stored.state != before.state {
            return Err(ApplyError::Rejected(Rejection::Stale));
        }
        let owed = self.owed.load(Ordering::SeqCst);
        if owed > 0 {
            return Err(ApplyError::Rejected(Rejection::WalletOwes { owed: Money::from_minor(owed.into()) }));
        }
        stored.state = after.state.clone();
        self.transfers.lock().unwrap().extend(&plan.transfers);
        let outcome =
            Outcome { entity: Entity::Withdrawal(stored.clone()), balance: Some(Balance::default()) };
        let OperationMetadata { operation, at, .. } = *plan.metadata();
        Ok(Applied::Fresh(Receipt { operation, at, rules: plan.rules, outcome }))
    }

    /// The use cases with this provider; each call is one server.
    fn server(self: &Arc<Self>, provider: MockPayoutProvider) -> Payouts {
        let mut clock = MockClock::new();
        let scene = self.clone();
        clock.expect_now().returning(move || scene.now());
        let mut ids = MockIds::new();
        ids.expect_operation().returning(|| OperationId(1));
        let mut ledger = MockLedger::new();
        let scene = self.clone();
        ledger.expect_apply().returning(move |plan| scene.apply(&plan));
        let mut withdrawals = MockWithdrawals::new();
        let scene = self.clone();
        withdrawals
            .expect_withdrawal()
            .returning(move |asked| Ok((asked == id()).then(|| scene.stored.lock().unwrap().clone())));
        let scene = self.clone();
        withdrawals.expect_due_payouts().returning(move |now, _| {
            let stored = scene.stored.lock().unwrap().clone();
            Ok(stored
                .state
                .next_send()
                .is_some_and(|next| next.is_due(now))
                .then_some(stored)
                .into_iter()
                .collect())
        });
        let doubles = Doubles {
            clock: Some(clock),
            ids: Some(ids),
            ledger,
            withdrawals,
            payout_provider: provider,
            ..Doubles::default()
        };
        Payouts { env: doubles.env() }
    }
}

/// A provider that expects this number of calls, always for the same withdrawal, and gives this answer.
fn provider(times: usize, answer: impl Fn() -> PayoutAnswer + Send + Sync + 'static) -> MockPayoutProvider {
    let mut provider = MockPayoutProvider::new();
    provider.expect_sends().return_const(true);
    provider.expect_send().withf(|sent| sent.id == id()).times(times).returning(move |_| answer());
    provider
}

fn says(update: PayoutUpdate) -> impl Fn() -> PayoutAnswer + Send + Sync + 'static {
    move || PayoutAnswer::Replied(update.clone(), None)
}

fn lost() -> PayoutAnswer {
    PayoutAnswer::Unknown(Unavailable::new("the connection broke off"))
}

#[test]
fn provider_answers_update_the_payout() {
    let (broadcast, completed) =
        (PayoutUpdate::Broadcast { txid: txid() }, PayoutUpdate::Completed { txid: txid() });
    for (update, state, settlements) in [
        (PayoutUpdate::Accepted, WithdrawalState::Processing { attempts: 1, retry_at: None }, 0),
        (broadcast, WithdrawalState::Broadcast { txid: txid() }, 0),
        (completed, WithdrawalState::Completed { txid: txid() }, 1),
        (PayoutUpdate::Refused, WithdrawalState::Failed { txid: None }, 1),
    ] {
        let scene = Scene::new(WithdrawalState::Approved);
        let payouts = scene.server(provider(1, says(update)));
        let sent = run(payouts.run()).unwrap();
        let [(sent, PayoutAttempt::Answered(_, PayoutUpdateOutcome::Moved(status)))] = sent.as_slice() else {
            panic!("{sent:?}")
        };
        assert_eq!((sent.id, *status), (id(), state.status()));
        assert_eq!((scene.state(), scene.settlements()), (state, settlements));
        assert!(run(payouts.run()).unwrap().is_empty());
    }
}

#[test]
fn manual_payouts_are_not_sent() {
    let scene = Scene::new(WithdrawalState::Approved);
    let mut by_hand = MockPayoutProvider::new();
    by_hand.expect_sends().return_const(false);
    assert!(run(scene.server(by_hand).run()).unwrap().is_empty());
    assert_eq!(scene.state(), WithdrawalState::Approved);
}

#[test]
fn payouts_of_owners_in_debt_are_not_sent() {
    let scene = Scene::new(WithdrawalState::Approved);
    scene.owed.store(1, Ordering::SeqCst);
    let sent = run(scene.server(provider(0, says(PayoutUpdate::Accepted))).run()).unwrap();
    assert!(matches!(sent[..], [(_, PayoutAttempt::Elsewhere)]), "{sent:?}");
    assert_eq!(scene.state(), WithdrawalState::Approved);
}

#[test]
fn a_payout_is_resent_after_a_crash_before_the_answer() {
    let scene = Scene::new(WithdrawalState::Approved);
    let mut hangs = MockPayoutProvider::new();
    hangs.expect_sends().return_const(true);
    hangs.expect_send().times(1).returning(|_| panic!("the process dies here"));
    let dying = scene.server(hangs);
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(dying.run())));
    assert!(died.is_err());
    let again_at = Some(at(RETRY_SECONDS));
    assert_eq!(scene.state(), WithdrawalState::Processing { attempts: 1, retry_at: again_at });

    let other = scene.server(provider(1, says(PayoutUpdate::Accepted)));
    assert!(run(other.run()).unwrap().is_empty(), "it is not due yet");
    scene.later(RETRY_SECONDS);
    run(other.run()).unwrap();
    assert_eq!(scene.state(), WithdrawalState::Processing { attempts: 2, retry_at: None });
    scene.later(RETRY_SECONDS * 100);
    assert!(run(other.run()).unwrap().is_empty(), "what has its answer is never sent again");
}

#[test]
fn a_payout_unanswered_three_times_needs_review_and_keeps_the_hold() {
    let scene = Scene::new(WithdrawalState::Approved);
    let payouts = scene.server(provider(3, lost));
    for attempts in 1..=3 {
        let sent = run(payouts.run()).unwrap();
        assert!(matches!(sent.as_slice(), [(_, PayoutAttempt::Unanswered(_))]), "{sent:?}");
        assert_eq!((scene.state().attempts(), scene.status()), (attempts, WithdrawalStatus::Processing));
        assert!(run(payouts.run()).unwrap().is_empty());
        scene.later(RETRY_SECONDS);
    }
    let sent = run(payouts.run()).unwrap();
    assert!(matches!(sent.as_slice(), [(_, PayoutAttempt::GivenUp)]), "{sent:?}");
    assert_eq!(scene.state(), WithdrawalState::NeedsReview { txid: None });
    for update in [PayoutUpdate::Refused, PayoutUpdate::Accepted, PayoutUpdate::Completed { txid: txid() }] {
        assert_eq!(run(payouts.update(id(), &update, None)).unwrap(), PayoutUpdateOutcome::ForOperator);
    }
    assert_eq!((scene.status(), scene.settlements()), (WithdrawalStatus::NeedsReview, 0));
}

#[test]
fn a_server_with_an_outdated_withdrawal_sends_no_payout_order() {
    let scene = Scene::new(WithdrawalState::Approved);
    let first = scene.server(provider(1, says(PayoutUpdate::Accepted)));
    let second = scene.server(provider(0, lost));
    let seen = scene.stored.lock().unwrap().clone();
    run(first.run()).unwrap();
    let late = run(second.send(&seen)).unwrap();
    assert!(matches!(late, PayoutAttempt::Elsewhere), "{late:?}");
}

#[test]
fn duplicate_and_reordered_payout_updates_take_effect_once() {
    use PayoutUpdate::{Accepted, Refused};
    let broadcast = || PayoutUpdate::Broadcast { txid: txid() };
    let completed = || PayoutUpdate::Completed { txid: txid() };
    let moved = PayoutUpdateOutcome::Moved;
    // The status updates in order with their outcomes, and the final number of settlements.
    type Case = (Vec<(PayoutUpdate, PayoutUpdateOutcome)>, usize);
    let cases: [Case; 6] = [
        (
            vec![
                (broadcast(), moved(WithdrawalStatus::Broadcast)),
                (broadcast(), PayoutUpdateOutcome::Known),
                (completed(), moved(WithdrawalStatus::Completed)),
                (completed(), PayoutUpdateOutcome::Known),
                (broadcast(), PayoutUpdateOutcome::Known),
                (Accepted, PayoutUpdateOutcome::Known),
            ],
            1,
        ),
        (
            vec![
                (completed(), moved(WithdrawalStatus::Completed)),
                (broadcast(), PayoutUpdateOutcome::Known),
            ],
            1,
        ),
        (
            vec![
                (completed(), moved(WithdrawalStatus::Completed)),
                (
                    Refused,
                    PayoutUpdateOutcome::Contradiction(
                        WithdrawalStatus::Completed,
                        Contradiction::StatusContradiction,
                    ),
                ),
            ],
            1,
        ),
        (
            vec![
                (Refused, moved(WithdrawalStatus::Failed)),
                (Refused, PayoutUpdateOutcome::Known),
                (Accepted, PayoutUpdateOutcome::Known),
                (
                    completed(),
                    PayoutUpdateOutcome::Contradiction(
                        WithdrawalStatus::Failed,
                        Contradiction::StatusContradiction,
                    ),
                ),
            ],
            1,
        ),
        (
            vec![
                (broadcast(), moved(WithdrawalStatus::Broadcast)),
                (Refused, moved(WithdrawalStatus::NeedsReview)),
                (completed(), PayoutUpdateOutcome::ForOperator),
            ],
            0,
        ),
        (vec![(Accepted, moved(WithdrawalStatus::Processing)), (Accepted, PayoutUpdateOutcome::Known)], 0),
    ];
    for (updates, settlements) in cases {
        let scene =
            Scene::new(WithdrawalState::Processing { attempts: 1, retry_at: Some(at(RETRY_SECONDS)) });
        let payouts = scene.server(MockPayoutProvider::new());
        for (update, told) in &updates {
            assert_eq!(run(payouts.update(id(), update, None)).unwrap(), *told, "{update:?} of {updates:?}");
        }
        assert_eq!(scene.settlements(), settlements, "{updates:?}");
    }
}

#[test]
fn a_different_transaction_id_is_a_contradiction_and_has_no_effect() {
    let other = || Line::new("beef").unwrap();
    let (broadcast, completed) =
        (PayoutUpdate::Broadcast { txid: other() }, PayoutUpdate::Completed { txid: other() });
    for state in [
        WithdrawalState::Broadcast { txid: txid() },
        WithdrawalState::Completed { txid: txid() },
        WithdrawalState::NeedsReview { txid: Some(txid()) },
    ] {
        let scene = Scene::new(state.clone());
        let payouts = scene.server(MockPayoutProvider::new());
        for update in [&broadcast, &completed] {
            let contradiction =
                PayoutUpdateOutcome::Contradiction(state.status(), Contradiction::TxidMismatch);
            assert_eq!(
                run(payouts.update(id(), update, None)).unwrap(),
                contradiction,
                "{update:?} in {state:?}"
            );
        }
        assert_eq!((scene.state(), scene.settlements()), (state, 0));
    }
}

#[test]
fn a_payout_refused_after_an_unanswered_attempt_needs_review() {
    let scene = Scene::new(WithdrawalState::Approved);
    let unanswered = scene.server(provider(1, lost));
    run(unanswered.run()).unwrap();
    scene.later(RETRY_SECONDS);
    // A provider's answer to an order that it has already executed.
    let refusing = scene.server(provider(1, says(PayoutUpdate::Refused)));
    let sent = run(refusing.run()).unwrap();
    let [(_, PayoutAttempt::Answered(_, PayoutUpdateOutcome::Moved(status)))] = sent.as_slice() else {
        panic!("{sent:?}")
    };
    assert_eq!(*status, WithdrawalStatus::NeedsReview);
    assert_eq!((scene.state(), scene.settlements()), (WithdrawalState::NeedsReview { txid: None }, 0));
}

#[test]
fn an_answer_contradicting_an_earlier_message_changes_nothing() {
    let scene = Scene::new(WithdrawalState::Approved);
    let broadcast = WithdrawalState::Broadcast { txid: txid() };
    let mut provider = MockPayoutProvider::new();
    provider.expect_sends().return_const(true);
    let (meanwhile, state) = (scene.clone(), broadcast.clone());
    provider.expect_send().times(1).returning(move |_| {
        // Its message about the same order arrives before its answer.
        meanwhile.stored.lock().unwrap().state = state.clone();
        PayoutAnswer::Replied(PayoutUpdate::Completed { txid: Line::new("beef").unwrap() }, None)
    });
    let sent = run(scene.server(provider).run()).unwrap();
    let [(_, PayoutAttempt::Answered(update, told))] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(update.txid(), Some(&Line::new("beef").unwrap()));
    assert_eq!(
        *told,
        PayoutUpdateOutcome::Contradiction(WithdrawalStatus::Broadcast, Contradiction::TxidMismatch)
    );
    assert_eq!((scene.state(), scene.settlements()), (broadcast, 0));
}
