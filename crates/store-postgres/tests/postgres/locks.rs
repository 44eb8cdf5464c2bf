//! Reads after a lock wait: a plan sees what the last holder of its locks committed.

use std::sync::Arc;

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ledger::adjustment::{Adjustment, AdjustmentTerms, Correction};
use cuepoint_domain::operation::{Entity, OperationMetadata, Plan, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{
    Applied, ApplyError, BeginOutcome, EndpointAddition, EndpointUpdate, Erased, Ids, Ledger, Logins, People,
    Sessions, WebhookEndpoints,
};
use cuepoint_domain::text::Line;
use cuepoint_domain::user::UserStatusChange;
use cuepoint_domain::user::session::{ClientInfo, Session, SessionSecret, TokenHash};
use cuepoint_domain::webhook::{
    EndpointChange, EndpointSettings, EndpointUrl, NewEndpoint, SealedSecret, SettingsAuthor,
};
use cuepoint_domain::withdrawal::{Limit, Move, WithdrawalLimits, WithdrawalTerms};
use cuepoint_store_postgres::PostgresStore;
use cuepoint_store_postgres::testing::TestDatabase;
use futures_util::future::{BoxFuture, join, join_all, poll_immediate};
use time::Duration;

use crate::scenario::{
    amount, available, client, erase, guest, metadata, now, open, request, until_waiting, withdrawal_on,
};

/// The number of pairs of servers.
const PAIRS: usize = 3;

/// Applies a plan on each of two servers while the wallet of both is locked, and releases the lock once both
/// wait for it, the first one for longer.
async fn both_behind_a_lock(
    database: &TestDatabase,
    user: UserId,
    servers: &[PostgresStore; 2],
    plans: [Plan; 2],
) -> Vec<Result<Applied, ApplyError>> {
    // Within one transaction `pg_stat_activity` would not change.
    let (holder, asking) = (client(database.url()).await, client(database.url()).await);
    let lock = format!("BEGIN; SELECT FROM wallets WHERE user_id = {user} FOR UPDATE");
    holder.batch_execute(&lock).await.unwrap();
    let mut answers: Vec<BoxFuture<'_, _>> =
        servers.iter().zip(plans).map(|(server, plan)| server.apply(plan)).collect();
    for (answer, waiters) in answers.iter_mut().zip(1..) {
        assert!(poll_immediate(answer).await.is_none(), "the wallet is locked");
        until_waiting(&asking, waiters).await;
    }
    holder.batch_execute("ROLLBACK").await.unwrap();
    join_all(answers).await
}

/// Asserts that one plan was applied and the other refused for this reason.
fn one_of(answers: Vec<Result<Applied, ApplyError>>, is_refusal: impl Fn(&Rejection) -> bool) {
    let (applied, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert_eq!((applied.len(), refused.len()), (1, 1), "{applied:?} {refused:?}");
    assert!(matches!(&refused[0], Err(ApplyError::Rejected(why)) if is_refusal(why)), "{refused:?}");
}

/// Two servers with connections without prepared statements.
async fn pair(database: &TestDatabase) -> [PostgresStore; 2] {
    [open(database.url()).await, open(database.url()).await]
}

#[tokio::test(flavor = "multi_thread")]
async fn withdrawal_limits_count_concurrent_withdrawals() {
    let database = TestDatabase::create().await;
    let prepares = open(database.url()).await;
    let limits = WithdrawalLimits { max_per_24h: Some(amount(10_00)), ..WithdrawalLimits::default() };
    let terms = WithdrawalTerms { limits, ..WithdrawalTerms::default() };
    for _ in 0..PAIRS {
        let servers = pair(&database).await;
        // First on fresh connections, then with prepared statements.
        for _ in 0..2 {
            let user = guest(&prepares, 100_00).await;
            let plan = || withdrawal_on(&prepares, user, 10_00, "T1", &terms);
            let plans = [plan().await, plan().await];
            let answers = both_behind_a_lock(&database, user, &servers, plans).await;
            one_of(answers, |why| matches!(why, Rejection::LimitExceeded(Limit::Rolling(_))));
            assert_eq!(available(&prepares, user).await, 90_00);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn request_limits_count_concurrent_requests() {
    let database = TestDatabase::create().await;
    let prepares = open(database.url()).await;
    let dj = guest(&prepares, 0).await;
    for _ in 0..PAIRS {
        let servers = pair(&database).await;
        for _ in 0..2 {
            let user = guest(&prepares, 100_00).await;
            let plans = [request(&prepares, user, dj).await, request(&prepares, user, dj).await];
            let answers = both_behind_a_lock(&database, user, &servers, plans).await;
            one_of(answers, |why| *why == Rejection::TooManyOpen(1));
            assert_eq!(available(&prepares, user).await, 95_00);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_queued_behind_an_adjustment_by_the_same_operator_is_refused() {
    let database = TestDatabase::create().await;
    let prepares = open(database.url()).await;
    for _ in 0..PAIRS {
        let servers = pair(&database).await;
        for _ in 0..2 {
            let (user, operator) = (guest(&prepares, 100_00).await, guest(&prepares, 0).await);
            let opened = prepares
                .apply(withdrawal_on(&prepares, user, 10_00, "T1", &WithdrawalTerms::default()).await);
            let Entity::Withdrawal(pending) = opened.await.unwrap().receipt().outcome.clone().entity else {
                panic!("no withdrawal")
            };
            let adjustment = Adjustment {
                id: prepares.next_adjustment().await.unwrap(),
                user,
                correction: Correction::Credit(amount(1)),
                reason: Line::new("a gift").unwrap(),
            };
            let terms = AdjustmentTerms::default();
            let adjust = plans::adjust(metadata(&prepares, operator), adjustment, &terms).unwrap();
            let approve = Move::Approve { by: Some(operator), second_above: None };
            let approve = plans::move_withdrawal(metadata(&prepares, operator), &pending, approve).unwrap();
            let answers = both_behind_a_lock(&database, user, &servers, [adjust, approve]).await;
            one_of(answers, |why| *why == Rejection::RecentAdjustment);
            assert_eq!(available(&prepares, user).await, 90_01);
        }
    }
}

/// Begins a session of a user.
async fn log_in(store: &PostgresStore, user: UserId) -> SessionId {
    let id = store.next_session().await.unwrap();
    let session = Session::begin(id, user, ClientInfo::default(), now(), Duration::days(30));
    let password = store.credentials_of(user).await.unwrap().unwrap().password;
    assert_eq!(
        store.begin(&session, SessionSecret::RefreshToken(TokenHash([1; 32])), &password).await.unwrap(),
        BeginOutcome::Done
    );
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_being_ended_cannot_add_an_endpoint() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let owner = guest(&store, 0).await;
    let session = log_in(&store, owner).await;
    let new = NewEndpoint {
        owner,
        session: Some(session),
        key: None,
        feed: Feed::Own,
        url: EndpointUrl::new("https://example.com/").unwrap(),
        types: None,
        description: None,
        secret: SealedSecret("sealed".to_owned()),
        at: now(),
    };
    let id = store.next_webhook_endpoint().await.unwrap();
    // Within one transaction `pg_stat_activity` would not change.
    let (holder, asking) = (client(database.url()).await, client(database.url()).await);
    holder.batch_execute("BEGIN; UPDATE sessions SET ended_at = now()").await.unwrap();
    let end = async {
        until_waiting(&asking, 1).await;
        holder.batch_execute("COMMIT").await.unwrap();
    };
    let (added, ()) = join(store.add_endpoint(id, &new), end).await;
    assert_eq!(added.unwrap(), EndpointAddition::SessionEnded);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_taken_over_by_an_operator_being_erased_is_deleted() {
    let database = TestDatabase::create().await;
    let store = Arc::new(open(database.url()).await);
    let (owner, operator) = (guest(&*store, 0).await, guest(&*store, 0).await);
    let session = Some(log_in(&store, operator).await);
    let (id, url) = (store.next_webhook_endpoint().await.unwrap(), EndpointUrl::new("https://example.com/"));
    let new = NewEndpoint {
        owner,
        session: None,
        key: None,
        feed: Feed::All,
        url: url.clone().unwrap(),
        types: None,
        description: None,
        secret: SealedSecret("sealed".to_owned()),
        at: now(),
    };
    assert!(matches!(store.add_endpoint(id, &new).await.unwrap(), EndpointAddition::Added(_)));
    let (holder, asking) = (client(database.url()).await, client(database.url()).await);
    holder.batch_execute("BEGIN; SELECT FROM webhook_endpoints FOR UPDATE").await.unwrap();
    let change = EndpointChange::Settings {
        settings: EndpointSettings { url: url.ok(), ..EndpointSettings::default() },
        by: SettingsAuthor { user: operator, session, has_password: true },
    };
    let changing = Arc::clone(&store);
    let changed = tokio::spawn(async move { changing.change_endpoint(id, &change).await });
    until_waiting(&asking, 1).await;
    let erasing = Arc::clone(&store);
    let erased = tokio::spawn(async move { erase(&*erasing, operator, now(), now()).await });
    until_waiting(&asking, 2).await;
    holder.batch_execute("ROLLBACK").await.unwrap();
    let (changed, erased) = (changed.await.unwrap(), erased.await.unwrap());
    let EndpointUpdate::Done { after, .. } = changed.unwrap() else { panic!("the session was live") };
    assert_eq!((after.owner, erased.unwrap()), (operator, Erased::Done));
    assert_eq!(store.endpoint(id).await.unwrap(), None, "no endpoint outlives the erasure of its owner");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_fails_if_sessions_cannot_be_ended() {
    let database = TestDatabase::create().await;
    let store = open(database.url()).await;
    let (user, operator) = (guest(&store, 0).await, guest(&store, 0).await);
    log_in(&store, user).await;
    let holder = client(database.url()).await;
    holder.batch_execute("BEGIN; SELECT FROM sessions FOR UPDATE").await.unwrap();
    let suspend = || {
        let metadata =
            OperationMetadata { reason: Some(Line::new("a reason").unwrap()), ..metadata(&store, operator) };
        plans::change_user_status(metadata, user, UserStatusChange::Suspend)
    };
    let refused = store.apply(suspend()).await;
    assert!(matches!(refused, Err(ApplyError::Unavailable(_))), "{refused:?}");
    assert_eq!(store.profile(user).await.unwrap().unwrap().user.suspended_at, None);
    holder.batch_execute("ROLLBACK").await.unwrap();
    store.apply(suspend()).await.unwrap();
    assert_eq!(store.sessions(user, now(), PageRequest::new(1, 15)).await.unwrap().total, 0);
}
