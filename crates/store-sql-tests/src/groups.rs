//! Plans that wait for a transaction share the next one, each with a verdict of its own.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::Rejection;
use cuepoint_domain::ports::{Applied, ApplyError};
use futures_util::future::{BoxFuture, join_all, poll_immediate};

use crate::SqlFixture;
use crate::fixtures::{available, guest, topup, withdrawal};

type Answer = Result<Applied, ApplyError>;

/// Applies plans in one group: meanwhile a transaction of the test keeps the writer busy.
async fn together(
    database: &dyn SqlFixture,
    mut plans: Vec<BoxFuture<'_, Answer>>,
    busy_with: UserId,
) -> Vec<Answer> {
    let topup = topup(database.store(), busy_with, 1).await;
    database.execute(&database.hold_up(busy_with)).await;
    let mut first = database.store().apply(topup);
    assert!(poll_immediate(&mut first).await.is_none());
    database.until_held_up().await;
    for plan in &mut plans {
        assert!(poll_immediate(plan).await.is_none(), "no plan is answered before the commit");
    }
    database.execute("ROLLBACK").await;
    first.await.unwrap();
    join_all(plans).await
}

/// The number of transactions that wrote operations since there were `before`.
async fn transactions_since(database: &dyn SqlFixture, before: Option<i64>) -> Option<i64> {
    Some(database.transactions().await? - before?)
}

/// The plans arrive while the writer is busy.
pub async fn queued_plans_share_a_transaction_and_fail_separately(database: &dyn SqlFixture) {
    let store = database.store();
    let (busy, user) = (guest(store, 0).await, guest(store, 100_00).await);
    let before = database.transactions().await;
    let mut plans = Vec::new();
    for number in 0..40 {
        // Every third plan exceeds the remaining balance.
        let cents = if number % 3 == 1 { 1_000_00 } else { 5_00 };
        plans.push(store.apply(withdrawal(store, user, cents, "T1").await));
    }
    let answers = together(database, plans, busy).await;
    for (number, answer) in answers.iter().enumerate() {
        // The twenty earliest plans of 5.00 spend the whole balance.
        let earlier = (0..number).filter(|earlier| earlier % 3 != 1).count();
        if number % 3 != 1 && earlier < 20 {
            assert!(matches!(answer, Ok(Applied::Fresh(_))), "{number}: {answer:?}");
        } else {
            let refused = matches!(answer, Err(ApplyError::Rejected(Rejection::InsufficientFunds { .. })));
            assert!(refused, "{number}: {answer:?}");
        }
    }
    assert_eq!(available(store, user).await, 0);
    if let Some(groups) = transactions_since(database, before).await {
        assert_eq!(groups, 2, "one for the busy wallet and one for all the others");
    }
}

/// The rules permit the plan, but a constraint refuses it.
pub async fn only_the_plan_that_the_database_refuses_fails(database: &dyn SqlFixture) {
    let store = database.store();
    let (busy, user) = (guest(store, 0).await, guest(store, 100_00).await);
    let mut plans = Vec::new();
    for number in 0..9 {
        let address = if number == 4 { "" } else { "T1" };
        plans.push(store.apply(withdrawal(store, user, 5_00, address).await));
    }
    let answers = together(database, plans, busy).await;
    for (number, answer) in answers.iter().enumerate() {
        if number == 4 {
            assert!(matches!(answer, Err(ApplyError::Unavailable(_))), "{number}: {answer:?}");
        } else {
            assert!(matches!(answer, Ok(Applied::Fresh(_))), "{number}: {answer:?}");
        }
    }
    assert_eq!(available(store, user).await, 60_00);
}

/// Queues more plans than one transaction takes.
pub async fn plans_above_the_group_size_are_all_applied(database: &dyn SqlFixture) {
    let store = database.store();
    let (busy, user) = (guest(store, 0).await, guest(store, 200_00).await);
    let before = database.transactions().await;
    let mut plans = Vec::new();
    for _ in 0..200 {
        plans.push(store.apply(withdrawal(store, user, 1_00, "T1").await));
    }
    let answers = together(database, plans, busy).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(available(store, user).await, 0);
    if let Some(groups) = transactions_since(database, before).await {
        assert!(groups < 10, "{groups} transactions for 201 plans");
    }
}

/// A store loses no plan when it is closed.
pub async fn closing_the_store_finishes_queued_plans(database: &dyn SqlFixture) {
    let store = database.store();
    let user = guest(store, 100_00).await;
    let mut waiting = Vec::new();
    for _ in 0..10 {
        let mut plan = store.apply(withdrawal(store, user, 1_00, "T1").await);
        assert!(poll_immediate(&mut plan).await.is_none());
        waiting.push(plan);
    }
    let late = withdrawal(store, user, 1_00, "T1").await;
    store.close().await;
    assert!(join_all(waiting).await.iter().all(Result::is_ok));
    assert!(matches!(store.apply(late).await, Err(ApplyError::Unavailable(_))));
    assert_eq!(available(&*database.reopen().await, user).await, 90_00);
}
