//! Groups that fail: each job is answered, and the next group works.

#![allow(clippy::inconsistent_digit_grouping, reason = "sums are written as dollars and cents: 100_00")]

use std::collections::HashSet;
use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::operation::{OperationMetadata, Plan, plans};
use cuepoint_domain::ports::{Applied, ApplyError, Ids, Ledger, PasswordHash, People, Store, Wallets};
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::User;
use cuepoint_store_sql::limits::{GROUP, UNREADY_FOR};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use futures_util::future::join_all;
use tokio::time::sleep;

use super::group::GroupAttempt;
use super::job::ChangeJob;
use super::*;
use crate::SqliteStore;
use crate::connect::snapshots::Snapshots;
use crate::schema::ids;
use crate::testing::TestDirectory;

fn usd() -> Currency {
    Currency::new("USD", 2).unwrap()
}

fn now() -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_000)
}

async fn opened() -> (TestDirectory, SqliteStore, UserId) {
    let directory = TestDirectory::create();
    let store = SqliteStore::open(directory.path(), usd()).unwrap();
    let id = store.next_user().await.unwrap();
    let email = Email::new("guest@example.com").unwrap();
    let user = User::registered(id, Line::new("Guest").unwrap(), email, None, false, now());
    store.register(&user, &PasswordHash("hash".into()), None).await.unwrap();
    (directory, store, id)
}

async fn topup(store: &SqliteStore, user: UserId) -> Plan {
    let id = store.next_topup().await.unwrap();
    let metadata = OperationMetadata::by(user, store.operation(), now());
    plans::open_topup(metadata, id, user, Amount::new(Money::from_minor(1_00)).unwrap(), Charge::Confirmed)
}

async fn available(store: &SqliteStore, user: UserId) -> i128 {
    store.balance(user).await.unwrap().unwrap().available.minor()
}

/// Jobs that form one group, because the writer is busy meanwhile.
async fn together<T>(store: &SqliteStore, jobs: impl Future<Output = T>) -> T {
    let (started, running) = oneshot::channel();
    let mut started = Some(started);
    let busy = store.writer.change(Repetition::Once, move |_| {
        let _ = started.take().map(|started| started.send(()));
        std::thread::sleep(std::time::Duration::from_millis(200));
        Ok(())
    });
    let jobs = async {
        running.await.unwrap();
        jobs.await
    };
    let (done, jobs) = tokio::join!(busy, jobs);
    done.unwrap();
    jobs
}

#[tokio::test]
async fn a_database_that_is_being_copied_refuses_changes() {
    let (directory, store, user) = opened().await;
    let (first, second) = (topup(&store, user).await, topup(&store, user).await);
    store.apply(first).await.unwrap();
    let mark = "UPDATE deployment SET copy_state = 'moving', copy_id = zeroblob(16), copy_target = 'a place'";
    directory.connection().batch_execute(mark).unwrap();
    let refused = store.apply(second.clone()).await.unwrap_err();
    assert!(matches!(refused, ApplyError::Unavailable(_)), "{refused:?}");
    assert_eq!(available(&store, user).await, 1_00);
    store.writer.prove().await.unwrap_err();
    let unmark = "UPDATE deployment SET copy_state = NULL, copy_id = NULL, copy_target = NULL";
    directory.connection().batch_execute(unmark).unwrap();
    assert!(matches!(store.apply(second).await, Ok(Applied::Fresh(_))));
    store.close().await;
}

#[tokio::test]
async fn a_panic_fails_only_its_group() {
    let (_directory, store, user) = opened().await;
    let plan = topup(&store, user).await;
    let panics = store.writer.change::<()>(Repetition::Once, |connection| {
        connection.batch_execute("UPDATE ids SET next = 1000000")?;
        panic!("on purpose")
    });
    let (panicked, applied) =
        together(&store, async { tokio::join!(panics, store.apply(plan.clone())) }).await;
    assert_eq!(panicked.unwrap_err().to_string(), "the writer has failed");
    assert!(matches!(applied, Err(ApplyError::Unavailable(_))), "{applied:?}");
    store.ready().await.unwrap_err();
    assert!(matches!(store.apply(plan).await.unwrap(), Applied::Fresh(_)));
    store.ready().await.unwrap();
    let largest = store.writer.change(Repetition::Once, |connection| {
        Ok(ids::table.select(diesel::dsl::max(ids::next)).get_result::<Option<i64>>(connection)?)
    });
    assert!(largest.await.unwrap().unwrap() < 1_000_000, "nothing of the panicking change was kept");
    store.close().await;
}

#[tokio::test]
async fn a_refused_row_fails_only_its_change() {
    let (_directory, store, user) = opened().await;
    let plan = topup(&store, user).await;
    let refused = store.writer.change::<()>(Repetition::Once, |connection| {
        connection.batch_execute("UPDATE ids SET next = 1000000; UPDATE ids SET next = -1")?;
        Ok(())
    });
    let (refused, applied) =
        together(&store, async { tokio::join!(refused, store.apply(plan.clone())) }).await;
    assert!(refused.unwrap_err().blames_one());
    assert!(matches!(applied.unwrap(), Applied::Fresh(_)));
    assert!(store.next_adjustment().await.unwrap().get() < 1_000_000);
    store.close().await;
}

#[tokio::test]
async fn a_full_database_fails_only_one_group() {
    let (_directory, store, user) = opened().await;
    store.ready().await.unwrap();
    let full = |connection: &mut SqliteConnection| Ok(connection.batch_execute("PRAGMA max_page_count = 1")?);
    store.writer.change(Repetition::Once, full).await.unwrap();
    let plans = join_all((0..200).map(|_| topup(&store, user))).await;
    // The first group that needs another page fails; the next connection has the usual limit.
    let answers = join_all(plans.iter().map(|plan| store.apply(plan.clone()))).await;
    let failed = answers.iter().filter(|answer| answer.is_err()).count();
    assert!((1..=GROUP).contains(&failed), "{failed}");
    for plan in plans {
        store.apply(plan).await.unwrap();
    }
    assert_eq!(available(&store, user).await, 200_00);
    store.close().await;
}

#[tokio::test]
async fn the_store_is_unready_for_a_while_after_a_failed_change() {
    let (_directory, store, _) = opened().await;
    store.ready().await.unwrap();
    let fails = |connection: &mut SqliteConnection| Ok(connection.batch_execute("SELECT absent()")?);
    let failure = store.writer.change::<()>(Repetition::Once, fails).await.unwrap_err().to_string();
    assert!(failure.contains("absent"), "{failure}");
    let cause = store.ready().await.unwrap_err().to_string();
    assert!(cause.ends_with("the database refused the last plans"), "{cause}");
    sleep(UNREADY_FOR).await;
    store.ready().await.unwrap();
    store.close().await;
}

/// A change that moves every id, and the channel of its result.
fn increment(
    repetition: Repetition,
) -> (Box<dyn ChangeJob>, oneshot::Receiver<Result<usize, SqliteFailure>>) {
    let (caller, result) = oneshot::channel();
    let work = |connection: &mut SqliteConnection| {
        Ok(diesel::sql_query("UPDATE ids SET next = next + 1").execute(connection)?)
    };
    (Box::new(Change { work, repetition, result: None, caller }), result)
}

#[tokio::test]
async fn a_plan_is_applied_once_if_the_answer_of_its_commit_is_lost() {
    let (directory, store, user) = opened().await;
    let (known, fresh) = (topup(&store, user).await, topup(&store, user).await);
    store.apply(known.clone()).await.unwrap();
    store.close().await;
    let snapshots = Arc::<Snapshots>::default();
    let setup = WriterSetup {
        path: directory.path().join("cuepoint.db"),
        currency: usd(),
        feature_level: cuepoint_domain::operation::feature_level::FeatureLevel::NEWEST,
        snapshots: Arc::clone(&snapshots),
        announcements: Arc::default(),
    };
    let mut committer = SqliteCommitter::open(setup).unwrap();
    let plans = [&fresh, &known];
    let ((once, answer_of_once), (repeatable, answer_of_repeatable)) =
        (increment(Repetition::Once), increment(Repetition::Repeatable));
    let mut changes = vec![once, repeatable];
    let before = snapshots.generation();
    let first = committer.transaction(&plans, &mut changes, GroupAttempt::First, &mut HashSet::new());
    assert_ne!(snapshots.generation(), before, "reads go on with a snapshot from before the commit");
    assert!(matches!(
        first.unwrap_or_else(|_| panic!())[..],
        [Ok(Ok(Applied::Fresh(_))), Ok(Ok(Applied::Replayed(_)))]
    ));
    committer.database.discard(&SqliteFailure::Deadline);
    // The commit was made, but the writer does not know.
    let own = HashSet::from([fresh.metadata().operation]);
    let found = committer.determine(&plans, &mut changes, own).unwrap();
    assert!(matches!(found[..], [Ok(Ok(Applied::Fresh(_))), Ok(Ok(Applied::Replayed(_)))]), "{found:?}");
    changes.into_iter().for_each(|change| change.answer(None));
    let unknown = answer_of_once.await.unwrap().unwrap_err().to_string();
    assert_eq!(unknown, "the outcome of a commit is unknown");
    assert_eq!(answer_of_repeatable.await.unwrap().unwrap(), 8);
    committer.database.close();
    let store = SqliteStore::open(directory.path(), usd()).unwrap();
    assert_eq!(available(&store, user).await, 2_00);
    store.close().await;
}
