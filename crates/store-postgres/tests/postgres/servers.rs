//! Several servers on one database.

use cuepoint_domain::audit::Auditor;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{OperationMetadata, Plan, Rejection, plans};
use cuepoint_domain::ports::{
    Applied, ApplyError, Audit, Erased, Ids, Ledger, PasswordHash, People, Registered,
};
use cuepoint_domain::privacy::ErasureRefusal;
use cuepoint_domain::text::Line;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::{Role, User, UserStatusChange};
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use futures_util::future::{join_all, try_join_all};
use time::Duration;
use tokio_postgres::error::SqlState;

use crate::scenario::{
    amount, available, client, erase, guest, metadata, now, open, topup, until_waiting, withdrawal,
};

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_sent_to_two_servers_is_applied_once() {
    let database = TestDatabase::create().await;
    let (one, other) = (open(database.url()).await, open(database.url()).await);
    let (ada, bob) = (guest(&one, 0).await, guest(&one, 0).await);
    for _ in 0..20 {
        let first = topup(&one, ada, 1_00).await;
        // Another user's, so that no lock serializes the servers, only the operation's key.
        let metadata = first.metadata().clone();
        let id = one.next_topup().await.unwrap();
        let second = plans::open_topup(metadata, id, bob, amount(1_00), Charge::Confirmed);
        let answers = tokio::join!(one.apply(first), other.apply(second));
        let (first, second) = (answers.0.unwrap(), answers.1.unwrap());
        assert_eq!(first.receipt(), second.receipt());
        let fresh = [first, second].iter().filter(|one| matches!(one, Applied::Fresh(_))).count();
        assert_eq!(fresh, 1);
    }
    assert_eq!(available(&one, ada).await + available(&one, bob).await, 20_00);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_servers_never_overdraw_a_wallet_or_deadlock() {
    let database = TestDatabase::create().await;
    let servers = join_all((0..3).map(|_| open(database.url()))).await;
    let mut users = Vec::new();
    for _ in 0..6 {
        users.push(guest(&servers[0], 50_00).await);
    }
    let mut plans = Vec::new();
    for round in 0..60 {
        for server in &servers {
            let user = users[round % users.len()];
            plans.push((server, withdrawal(server, user, 5_00, "T1").await));
        }
    }
    let answers = join_all(plans.into_iter().map(|(server, plan)| server.apply(plan))).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 60);
    for user in users {
        assert_eq!(available(&servers[1], user).await, 0);
    }
    let mut auditor = Auditor::new();
    servers[2].show(&mut auditor).await.unwrap();
    assert_eq!(auditor.finish().unwrap().entries, 66);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wallet_is_not_deleted_while_two_servers_add_rows_that_refer_to_it() {
    let database = TestDatabase::create().await;
    let servers = [open(database.url()).await, open(database.url()).await];
    let wallet = guest(&servers[0], 1_000_00).await;
    let deleting = client(database.url()).await;
    let delete = format!("DELETE FROM wallets WHERE user_id = {wallet}");
    for round in 0..1_000 {
        let server = &servers[round % servers.len()];
        let plan = withdrawal(server, wallet, 1_00, "T1").await;
        let deletion = deleting.batch_execute(&delete);
        let (applied, deleted) = tokio::join!(server.apply(plan), deletion);
        applied.unwrap();
        assert_eq!(deleted.unwrap_err().code(), Some(&SqlState::RESTRICT_VIOLATION));
    }
    let mut auditor = Auditor::new();
    servers[0].show(&mut auditor).await.unwrap();
    assert_eq!(auditor.finish().unwrap().entries, 1_001);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_account_is_not_deleted_at_one_server_while_another_opens_its_first_topup() {
    let database = TestDatabase::create().await;
    let servers = [open(database.url()).await, open(database.url()).await];
    let (mut opened, mut deleted) = (0, 0);
    for round in 0..1_000 {
        let id = servers[0].next_user().await.unwrap();
        let created = now().minus(Duration::days(2));
        let guest = User::guest(id, None, created);
        assert_eq!(servers[0].register(&guest, &PasswordHash::none(), None).await.unwrap(), Registered::Done);
        let (one, other) = (&servers[round % 2], &servers[(round + 1) % 2]);
        let plan = topup(one, id, 1_00).await;
        let (applied, is_deleted) =
            tokio::join!(one.apply(plan), other.delete_guest(id, now().minus(Duration::DAY)));
        let profile = one.profile(id).await.unwrap();
        if is_deleted.unwrap() {
            assert!(matches!(applied, Err(ApplyError::Rejected(Rejection::Missing(_)))), "{applied:?}");
            assert_eq!(profile, None);
            deleted += 1;
        } else {
            applied.unwrap();
            assert_eq!(profile.unwrap().balance.available, amount(1_00).money());
            opened += 1;
        }
    }
    assert!(opened > 0 && deleted > 0, "{opened} top-ups and {deleted} deletions: they never raced");
    let mut auditor = Auditor::new();
    servers[0].show(&mut auditor).await.unwrap();
    assert_eq!(auditor.finish().unwrap().entries, opened);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_of_a_wallet_waits_for_its_deletion_and_is_refused() {
    let database = TestDatabase::create().await;
    let server = open(database.url()).await;
    let wallet = guest(&server, 0).await;
    let (deleting, adding) = (client(database.url()).await, client(database.url()).await);
    deleting.batch_execute(&format!("BEGIN; DELETE FROM wallets WHERE user_id = {wallet}")).await.unwrap();
    let row = format!(
        "INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, status, created_at, \
             updated_at) \
         VALUES (1, {wallet}, 1, 'T1', 'USDT', 'TRC20', 'pending', now(), now())"
    );
    let asking = client(database.url()).await;
    let deletion = async {
        until_waiting(&asking, 1).await;
        deleting.batch_execute("COMMIT").await.unwrap();
    };
    let (added, ()) = tokio::join!(adding.batch_execute(&row), deletion);
    let refusal = added.unwrap_err();
    let constraint = refusal.as_db_error().and_then(|error| error.constraint());
    assert_eq!(constraint, Some("withdrawals_user_id_fkey"));

    // In the other order, the deletion waits.
    let other = guest(&server, 0).await;
    let row = row.replace(&format!("(1, {wallet},"), &format!("(1, {other},"));
    adding.batch_execute(&format!("BEGIN; {row}")).await.unwrap();
    let delete = format!("DELETE FROM wallets WHERE user_id = {other}");
    let addition = async {
        until_waiting(&asking, 1).await;
        adding.batch_execute("ROLLBACK").await.unwrap();
    };
    let (deleted, ()) = tokio::join!(deleting.batch_execute(&delete), addition);
    deleted.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_temporary_table_of_wallets_does_not_admit_rows_of_no_wallet() {
    let database = TestDatabase::create().await;
    let server = open(database.url()).await;
    let user = guest(&server, 10_00).await;
    server.apply(withdrawal(&server, user, 1_00, "T1").await).await.unwrap();
    let role = client(&database.service_url()).await;
    role.batch_execute("CREATE TEMP TABLE wallets AS SELECT 99::bigint AS user_id").await.unwrap();
    for (table, column) in [("withdrawals", "user_id"), ("ledger_entries", "wallet_id")] {
        let row = format!(
            "INSERT INTO {table} SELECT (jsonb_populate_record(one, '{{\"{column}\": 99, \"id\": 7, \"reference\": null}}')).* \
             FROM {table} AS one LIMIT 1"
        );
        let refused = role.batch_execute(&row).await.unwrap_err();
        assert_eq!(refused.code(), Some(&SqlState::FOREIGN_KEY_VIOLATION), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_sent_twice_at_once_to_one_server_is_applied_once() {
    let database = TestDatabase::create().await;
    let server = open(database.url()).await;
    let wallet = guest(&server, 0).await;
    for _ in 0..20 {
        let plan = topup(&server, wallet, 1_00).await;
        let both =
            join_all([server.apply(plan.clone()), server.apply(plan.clone()), server.apply(plan)]).await;
        let fresh = both.iter().filter(|applied| matches!(applied, Ok(Applied::Fresh(_))));
        assert_eq!(fresh.count(), 1, "{both:?}");
        assert!(both.iter().all(Result::is_ok), "{both:?}");
    }
    assert_eq!(available(&server, wallet).await, 20_00);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_allocate_distinct_ids_starting_at_one() {
    let database = TestDatabase::create().await;
    let (one, other) = (open(database.url()).await, open(database.url()).await);
    let (from_one, from_other) = tokio::join!(
        try_join_all((0..100).map(|_| one.next_request())),
        try_join_all((0..100).map(|_| other.next_request())),
    );
    let mut ids: Vec<i64> =
        from_one.unwrap().into_iter().chain(from_other.unwrap()).map(|id| id.get()).collect();
    ids.sort_unstable();
    assert_eq!(ids[0], 1);
    ids.dedup();
    assert_eq!(ids.len(), 200);
}

/// A registered operator.
async fn operator(server: &PostgresStore) -> UserId {
    let id = guest(server, 0).await;
    server.apply(status_change(server, id, id, UserStatusChange::Role(Role::Operator))).await.unwrap();
    id
}

fn status_change(server: &PostgresStore, by: UserId, user: UserId, change: UserStatusChange) -> Plan {
    let reason = Some(Line::new("a reason").unwrap());
    plans::change_user_status(OperationMetadata { reason, ..metadata(server, by) }, user, change)
}

async fn is_operator(server: &PostgresStore, user: UserId) -> bool {
    server.profile(user).await.unwrap().unwrap().user.is_active_operator()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_two_operators_who_demote_or_suspend_each_other_succeeds() {
    let database = TestDatabase::create().await;
    let servers = [open(database.url()).await, open(database.url()).await, open(database.url()).await];
    let mut last = operator(&servers[0]).await;
    for round in 0..30 {
        let (ada, bob) = (operator(&servers[0]).await, operator(&servers[1]).await);
        servers[2]
            .apply(status_change(&servers[2], ada, last, UserStatusChange::Role(Role::Member)))
            .await
            .unwrap();
        let ways = [UserStatusChange::Suspend, UserStatusChange::Role(Role::Auditor)];
        let first = servers[0].apply(status_change(&servers[0], ada, bob, ways[round % 2]));
        let second = servers[1].apply(status_change(&servers[1], bob, ada, ways[(round / 2) % 2]));
        // A third plan that locks every operator.
        let guest = guest(&servers[2], 0).await;
        let third = servers[2].apply(status_change(&servers[2], ada, guest, UserStatusChange::Suspend));
        let (first, second, third) = tokio::join!(first, second, third);
        assert!(third.is_ok(), "{third:?}");
        let refused = |answer: &Result<_, ApplyError>| {
            matches!(answer, Err(ApplyError::Rejected(Rejection::LastOperator)))
        };
        assert!(
            first.is_ok() && refused(&second) || refused(&first) && second.is_ok(),
            "{first:?} {second:?}"
        );
        let left = (is_operator(&servers[2], ada).await, is_operator(&servers[2], bob).await);
        assert_eq!(left, (first.is_ok(), second.is_ok()));
        last = if first.is_ok() { ada } else { bob };
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_two_concurrent_erasures_of_the_last_operators_succeeds() {
    let database = TestDatabase::create().await;
    let (one, other) = (open(database.url()).await, open(database.url()).await);
    for _ in 0..20 {
        let (ada, bob) = (operator(&one).await, operator(&other).await);
        let (first, second) = tokio::join!(erase(&one, ada, now(), now()), erase(&other, bob, now(), now()));
        let both = [first.unwrap(), second.unwrap()];
        assert!(both.contains(&Erased::Done), "{both:?}");
        assert!(both.contains(&Erased::Refused(ErasureRefusal::LastOperator)), "{both:?}");
        // Demotes the remaining operators to make room for the next two.
        let last = if both[0] == Erased::Done { bob } else { ada };
        let next = operator(&one).await;
        one.apply(status_change(&one, next, last, UserStatusChange::Role(Role::Member))).await.unwrap();
        let others = "UPDATE users SET role = 'member' WHERE id = $1";
        client(database.url()).await.execute(others, &[&next.get()]).await.unwrap();
    }
}
