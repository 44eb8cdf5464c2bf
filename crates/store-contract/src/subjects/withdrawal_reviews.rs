//! Withdrawals that are added up, and withdrawals that wait for a debt.

use std::sync::Arc;

use cuepoint_domain::ids::{UserId, WithdrawalId};
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::operation::{Actor, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::Store;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{Move, SUM_WITHIN, WithdrawalReview, WithdrawalStatus, sum_24h};
use time::Duration;

use crate::harness::races::{fresh, race};
use crate::harness::scenario::{Refused, Scenario, amount, at, at_once, balance, money, withdrawal_of};

promises! { ($) withdrawal_reviews as withdrawal_reviews_promises {
    concurrent_withdrawals_count_toward_one_automatic_approval_limit,
    stored_24_hour_withdrawal_sums_equal_those_that_the_domain_computes,
    withdrawals_of_debtors_do_not_delay_others,
    an_approval_that_loses_a_race_with_a_chargeback_is_refused,
    a_withdrawal_cannot_be_both_cancelled_and_sent_concurrently,
}}

/// A fixture that approves less than 10.00 within 24 hours without an operator.
fn approving(store: Arc<dyn Store>) -> Scenario {
    let mut scenario = Scenario::new(store);
    scenario.withdrawals.auto_approve_below = Some(amount(1_000));
    scenario
}

impl Scenario {
    async fn withdrawn_at(
        &self,
        user: UserId,
        cents: i128,
        now: Timestamp,
    ) -> (WithdrawalId, WithdrawalStatus) {
        let withdrawal = withdrawal_of(&self.withdraw(user, cents, now).await.unwrap());
        (withdrawal.id, withdrawal.state.status())
    }

    /// Spends all money of a user, and charges back a top-up of this amount.
    async fn indebt(&self, user: UserId, cents: i128) {
        let topup = self.confirmed_topup(user, cents).await;
        let available = self.balance(user).await.available.minor();
        self.fresh(self.adjust_plan(self.metadata(Actor::System, at(5)), user, -available).await).await;
        let plan = plans::reverse_topup(self.metadata(Actor::System, at(6)), &topup).unwrap();
        self.fresh(plan).await;
        assert_eq!(self.balance(user).await.owed, money(cents));
    }
}

/// Of thirty parallel withdrawals of 1.00 below a limit of 10.00, nine are approved without an operator.
pub async fn concurrent_withdrawals_count_toward_one_automatic_approval_limit(store: Arc<dyn Store>) {
    let scenario = approving(store);
    let guest = scenario.guest(10_000).await;
    let tasks = (0..30).map(|second| {
        let scenario = scenario.clone();
        async move { scenario.withdrawn_at(guest, 100, at(second)).await.1 }
    });
    let statuses = at_once(tasks).await;
    let approved = statuses.iter().filter(|status| **status == WithdrawalStatus::Approved);
    assert_eq!(approved.count(), 9);
    scenario.audit().await;
}

/// The sum counts withdrawals less than 24 hours away, to the microsecond, and none that ended without a payout. The
/// stored sums are those of the domain.
pub async fn stored_24_hour_withdrawal_sums_equal_those_that_the_domain_computes(store: Arc<dyn Store>) {
    let scenario = approving(store);
    let (guest, other) = (scenario.guest(10_000).await, scenario.guest(1_000).await);
    let operator = scenario.operator().await;
    let (start, tick) = (at(0).plus(SUM_WITHIN), Duration::MICROSECOND);
    let times = [start.minus(SUM_WITHIN), start.minus(SUM_WITHIN).plus(tick), start];
    for (cents, time) in (0..).map(|place| 100 + place).zip(times.into_iter().chain([
        start.plus(tick),
        start.plus(SUM_WITHIN).minus(tick),
        start.plus(SUM_WITHIN),
    ])) {
        scenario.withdraw(guest, cents, time).await.unwrap();
    }
    scenario.withdraw(other, 900, start).await.unwrap();
    for to in [Move::Cancel, Move::Reject { by: operator }] {
        let (id, _) = scenario.withdrawn_at(guest, 50, start).await;
        scenario.move_withdrawal(id, &to, start).await.unwrap();
    }
    let (failed, _) = scenario.withdrawn_at(guest, 70, start).await;
    for to in [Move::Approve { by: Some(operator), second_above: None }, Move::Process, Move::Fail] {
        scenario.move_withdrawal(failed, &to, start).await.unwrap();
    }

    let own = scenario.withdrawals_of(guest, PageRequest::new(1, 50)).await.rows;
    let ids: Vec<WithdrawalId> = own.iter().map(|withdrawal| withdrawal.id).collect();
    assert_eq!(ids.len(), 9);
    let reviews = scenario.store.reviews(&ids).await.unwrap();
    assert_eq!(reviews.len(), ids.len());
    for withdrawal in &own {
        let expected =
            WithdrawalReview { owed: money(0), sum_24h: sum_24h(withdrawal, &own), login_changed_at: None };
        assert_eq!(reviews[&withdrawal.id], expected, "{withdrawal:?}");
    }
    let at_start = own.iter().find(|withdrawal| withdrawal.amount == amount(102)).unwrap();
    assert_eq!(reviews[&at_start.id].sum_24h, money(101 + 102 + 103 + 104));
    let unknown = WithdrawalId::new(i64::MAX).unwrap();
    assert!(scenario.store.reviews(&[unknown]).await.unwrap().is_empty());
    assert!(scenario.store.reviews(&[]).await.unwrap().is_empty());
}

/// Withdrawals of owners in debt are not due, so that a hundred of them do not delay a good one; the first one is due
/// again once the debt is paid.
pub async fn withdrawals_of_debtors_do_not_delay_others(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (debtor, guest) = (scenario.guest(10_000).await, scenario.guest(100).await);
    let operator = scenario.operator().await;
    let approve = Move::Approve { by: Some(operator), second_above: None };
    let mut blocked = Vec::new();
    for _ in 0..100 {
        let (id, _) = scenario.withdrawn_at(debtor, 100, at(1)).await;
        scenario.move_withdrawal(id, &approve, at(2)).await.unwrap();
        blocked.push(id);
    }
    let sent = blocked.pop().unwrap();
    let send = Move::Send { now: at(3), again_at: at(30) };
    scenario.move_withdrawal(sent, &send, at(3)).await.unwrap();
    scenario.indebt(debtor, 500).await;
    let (good, _) = scenario.withdrawn_at(guest, 100, at(6)).await;
    scenario.move_withdrawal(good, &approve, at(7)).await.unwrap();

    let due = async |now, limit| -> Vec<WithdrawalId> {
        let due = scenario.store.due_payouts(at(now), limit).await.unwrap();
        due.into_iter().map(|withdrawal| withdrawal.id).collect()
    };
    assert_eq!(due(10, 16).await, [good]);
    assert_eq!(due(30, 16).await, [good, sent], "a repeated order goes on");
    let refused = scenario.move_withdrawal(blocked[0], &Move::Process, at(10)).await;
    assert!(
        matches!(refused, Err(Refused::Rejected(Rejection::WalletOwes { owed })) if owed == money(500)),
        "{refused:?}"
    );
    let reviews = scenario.store.reviews(&[blocked[0], good]).await.unwrap();
    assert_eq!((reviews[&blocked[0]].owed, reviews[&good].owed), (money(500), money(0)));
    scenario.fund(debtor, 500).await;
    assert_eq!(due(10, 2).await, blocked[..2]);
    scenario.audit().await;
}

/// A charge-back and an approval race on one wallet: whichever comes first, no withdrawal of a wallet in debt is
/// approved after the charge-back.
pub async fn an_approval_that_loses_a_race_with_a_chargeback_is_refused(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let operator = scenario.operator().await;
    for _ in 0..20 {
        let guest = scenario.guest(0).await;
        let topup = scenario.confirmed_topup(guest, 500).await;
        let withdrawal = withdrawal_of(&scenario.withdraw(guest, 500, at(1)).await.unwrap());
        let approve = Move::Approve { by: Some(operator), second_above: None };
        let answers = race(
            &scenario,
            [
                plans::reverse_topup(scenario.metadata(Actor::System, at(2)), &topup).unwrap(),
                plans::move_withdrawal(scenario.metadata(Actor::System, at(2)), &withdrawal, approve)
                    .unwrap(),
            ],
        )
        .await;
        assert!(answers[0].is_ok(), "{answers:?}");
        let status = scenario.stored_withdrawal(withdrawal.id).await.state.status();
        match &answers[1] {
            Ok(_) => assert_eq!(status, WithdrawalStatus::Approved),
            Err(rejection) => {
                assert_eq!(*rejection, Rejection::WalletOwes { owed: money(500) });
                assert_eq!(status, WithdrawalStatus::Pending);
            }
        }
        assert_eq!(scenario.balance(guest).await, Balance { owed: money(500), ..balance(0, 500) });
        // In either case the owner can pay the debt with the held money.
        scenario.move_withdrawal(withdrawal.id, &Move::Cancel, at(3)).await.unwrap();
        assert_eq!(scenario.balance(guest).await, balance(0, 0));
    }
    scenario.audit().await;
}

/// The owner and a worker race on an approved withdrawal: it is either cancelled and released, or sent and held.
pub async fn a_withdrawal_cannot_be_both_cancelled_and_sent_concurrently(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, operator) = (scenario.guest(2_000).await, scenario.operator().await);
    for _ in 0..20 {
        let made = withdrawal_of(&scenario.withdraw(guest, 100, at(1)).await.unwrap());
        let approve = Move::Approve { by: Some(operator), second_above: None };
        scenario.move_withdrawal(made.id, &approve, at(2)).await.unwrap();
        let approved = scenario.stored_withdrawal(made.id).await;
        let moves = [Move::Cancel, Move::Send { now: at(3), again_at: at(9) }];
        let plans = moves.map(|to| {
            plans::move_withdrawal(scenario.metadata(Actor::System, at(3)), &approved, to).unwrap()
        });
        let answers = race(&scenario, plans).await;
        assert_eq!(fresh(&answers), 1, "{answers:?}");
        let stored = scenario.stored_withdrawal(made.id).await;
        let is_cancelled = stored.state.status() == WithdrawalStatus::Cancelled;
        assert_eq!((answers[0].is_ok(), stored.state.attempts()), (is_cancelled, u32::from(!is_cancelled)));
        assert_eq!(stored.approvals.len(), 1, "the approval is kept");
    }
    scenario.audit().await;
}
