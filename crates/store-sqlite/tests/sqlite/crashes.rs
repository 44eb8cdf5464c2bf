//! The process dies at every step of the writer: afterwards every acknowledged plan is there once, and no
//! plan in part.

use std::path::Path;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Applied, Ledger};
use cuepoint_store_sqlite::testing::TestDirectory;

use crate::child;
use crate::fixtures::{ALL, BEFORE, FATAL, audit, available, numbered_withdrawal, open};

/// Declares a test for each step of the writer; states whether the commit is made by then.
macro_rules! crash_at {
    ($($test:ident = $step:literal, committed: $committed:literal;)+) => {$(
        #[tokio::test]
        async fn $test() {
            crash_at($step, $committed).await;
        }
    )+};
}

crash_at! {
    crash_before_the_transaction_applies_nothing = "before_lock", committed: false;
    crash_after_the_begin_applies_nothing = "after_lock", committed: false;
    crash_after_the_reads_applies_nothing = "after_read", committed: false;
    crash_after_the_writes_applies_nothing = "after_write", committed: false;
    crash_before_the_commit_applies_nothing = "before_commit", committed: false;
    crash_after_the_commit_loses_nothing = "after_commit", committed: true;
    crash_before_the_answer_loses_nothing = "before_answer", committed: true;
}

/// The numbers on the lines of a text that begin with a word.
fn numbers(text: &str, word: &str) -> Vec<i64> {
    text.lines().filter_map(|line| line.strip_prefix(word)?.trim().parse().ok()).collect()
}

async fn crash_at(step: &str, committed: bool) {
    let directory = TestDirectory::create();
    let mut doomed = child::command(&[], "", "killed_while_it_writes", directory.path());
    let output = doomed.env("CUEPOINT_CRASH_AT", step).output().unwrap();
    let told = child::text(&output);
    assert!(!output.status.success(), "{told}");
    let acknowledged = numbers(&told, "acknowledged ");
    assert!((1..=BEFORE).all(|number| acknowledged.contains(&number)), "{told}");
    assert!(!acknowledged.contains(&FATAL), "{told}");
    let user = UserId::new(numbers(&told, "user ")[0]).unwrap();
    judge(directory.path(), user, &acknowledged, committed).await;
}

async fn judge(directory: &Path, user: UserId, acknowledged: &[i64], committed: bool) {
    let store = open(directory).unwrap();
    audit(&store).await;
    let before = available(&store, user).await;
    let mut found = 0;
    for number in 1..=ALL {
        let plan = numbered_withdrawal(number, user, number == FATAL);
        let was_there = matches!(store.apply(plan.clone()).await.unwrap(), Applied::Replayed(_));
        found += i128::from(was_there);
        assert!(was_there || !acknowledged.contains(&number), "{number} was acknowledged");
        if number == FATAL {
            assert_eq!(was_there, committed);
        }
        assert!(matches!(store.apply(plan).await.unwrap(), Applied::Replayed(_)));
    }
    assert_eq!(before, 100_00 - found * 1_00);
    assert_eq!(available(&store, user).await, 100_00 - i128::from(ALL) * 1_00);
    audit(&store).await;
    store.close().await;
}
