//! Plans that wait for a transaction share the next one, each with a verdict of its own.

use std::time::Duration;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::Rejection;
use cuepoint_domain::ports::{Applied, ApplyError, Ledger};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;
use futures_util::future::{BoxFuture, join_all, poll_immediate};
use tokio::time::sleep;

use crate::fixtures::{available, guest, open, topup, withdrawal};

type JobAnswer = Result<Applied, ApplyError>;

/// Applies plans in one group: meanwhile another process keeps the writer waiting.
async fn together(
    store: &SqliteStore,
    directory: &TestDirectory,
    mut plans: Vec<BoxFuture<'_, JobAnswer>>,
    busy_with: UserId,
) -> Vec<JobAnswer> {
    let mut holder = directory.connection();
    let topup = topup(store, busy_with, 1).await;
    holder.batch_execute("BEGIN IMMEDIATE").unwrap();
    let mut first = store.apply(topup);
    assert!(poll_immediate(&mut first).await.is_none());
    // The writer has taken the first one by then, and waits for a second at most.
    sleep(Duration::from_millis(100)).await;
    for plan in &mut plans {
        assert!(poll_immediate(plan).await.is_none(), "no plan is answered before the commit");
    }
    holder.batch_execute("ROLLBACK").unwrap();
    first.await.unwrap();
    join_all(plans).await
}

#[tokio::test(flavor = "multi_thread")]
async fn queued_plans_share_a_transaction_with_separate_verdicts() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let (busy, user) = (guest(&store, 0).await, guest(&store, 100_00).await);
    let mut plans = Vec::new();
    for number in 0..40 {
        // Every third plan exceeds the remaining balance.
        let cents = if number % 3 == 1 { 1_000_00 } else { 5_00 };
        plans.push(store.apply(withdrawal(&store, user, cents, "T1").await));
    }
    let answers = together(&store, &directory, plans, busy).await;
    for (number, answer) in answers.iter().enumerate() {
        // Twenty plans of five spend the whole balance: the earliest ones, in their order.
        let earlier = (0..number).filter(|earlier| earlier % 3 != 1).count();
        if number % 3 != 1 && earlier < 20 {
            assert!(matches!(answer, Ok(Applied::Fresh(_))), "{number}: {answer:?}");
        } else {
            let refused = matches!(answer, Err(ApplyError::Rejected(Rejection::InsufficientFunds { .. })));
            assert!(refused, "{number}: {answer:?}");
        }
    }
    assert_eq!(available(&store, user).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_refused_by_the_database_fails_alone() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let (busy, user) = (guest(&store, 0).await, guest(&store, 100_00).await);
    let mut plans = Vec::new();
    for number in 0..9 {
        let address = if number == 4 { "" } else { "T1" };
        plans.push(store.apply(withdrawal(&store, user, 5_00, address).await));
    }
    let answers = together(&store, &directory, plans, busy).await;
    for (number, answer) in answers.iter().enumerate() {
        if number == 4 {
            assert!(matches!(answer, Err(ApplyError::Unavailable(_))), "{number}: {answer:?}");
        } else {
            assert!(matches!(answer, Ok(Applied::Fresh(_))), "{number}: {answer:?}");
        }
    }
    assert_eq!(available(&store, user).await, 60_00);
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_beyond_the_group_size_are_all_applied() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let (busy, user) = (guest(&store, 0).await, guest(&store, 200_00).await);
    let mut plans = Vec::new();
    for _ in 0..200 {
        plans.push(store.apply(withdrawal(&store, user, 1_00, "T1").await));
    }
    let answers = together(&store, &directory, plans, busy).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(available(&store, user).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_answers_queued_plans_and_accepts_no_more() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 100_00).await;
    let mut waiting = Vec::new();
    for _ in 0..10 {
        let mut plan = store.apply(withdrawal(&store, user, 1_00, "T1").await);
        assert!(poll_immediate(&mut plan).await.is_none());
        waiting.push(plan);
    }
    let late = withdrawal(&store, user, 1_00, "T1").await;
    store.close().await;
    assert!(join_all(waiting).await.iter().all(Result::is_ok));
    assert!(matches!(store.apply(late).await, Err(ApplyError::Unavailable(_))));
    assert_eq!(available(&open(directory.path()).unwrap(), user).await, 90_00);
}
