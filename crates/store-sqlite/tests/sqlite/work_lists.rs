//! Work lists of the background jobs.

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::music_request::Overdue;
use cuepoint_domain::operation::plans;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{
    EndpointAddition, Ids, Ledger, MusicRequests, Topups, WebhookEndpoints, Withdrawals,
};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Charge, Orders, TopupFilter};
use cuepoint_domain::webhook::{EndpointUrl, NewEndpoint, SealedSecret};
use cuepoint_domain::withdrawal::{Move, WithdrawalFilter};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;

use crate::fixtures::{amount, guest, metadata, now, open, request, topup, withdrawal};
use crate::suite::WITHOUT_CONSTRAINTS;

/// The ids in each work list, two at most.
async fn work(store: &SqliteStore, later: Timestamp) -> (Vec<RequestId>, Vec<WithdrawalId>, Vec<TopupId>) {
    let overdue = Overdue { requester: None, now: later, after: None, limit: 2 };
    (
        store.overdue(&overdue).await.unwrap().iter().map(|one| one.id).collect(),
        store.due_payouts(later, 2).await.unwrap().iter().map(|one| one.id).collect(),
        store.due_orders(later, 2).await.unwrap().iter().map(|one| one.id).collect(),
    )
}

async fn approved(store: &SqliteStore, user: UserId, by: UserId) -> WithdrawalId {
    store.apply(withdrawal(store, user, 1_00, "T1").await).await.unwrap();
    let all = store.withdrawals(&WithdrawalFilter::of(user), PageRequest::new(1, 100)).await.unwrap();
    let newest = all.rows.into_iter().max_by_key(|one| one.id).unwrap();
    let approve = Move::Approve { by: Some(by), second_above: None };
    store.apply(plans::move_withdrawal(metadata(store, user), &newest, approve).unwrap()).await.unwrap();
    newest.id
}

/// A top-up that is due to be ordered again.
async fn ordered(store: &SqliteStore, user: UserId) -> TopupId {
    let id = store.next_topup().await.unwrap();
    let charge = Charge::Ordered(Orders { attempts: 1, next_at: Some(now()) });
    store.apply(plans::open_topup(metadata(store, user), id, user, amount(1_00), charge)).await.unwrap();
    id
}

#[tokio::test]
async fn an_unreadable_row_does_not_block_background_jobs() {
    // A value that is no sum, and one that is no text.
    for broken in ["'0.1'", "CAST(x'ff' AS TEXT)"] {
        let directory = TestDirectory::create();
        let store = open(directory.path()).unwrap();
        let operator = guest(&store, 0).await;
        let (mut requests, mut payouts, mut topups) = (Vec::new(), Vec::new(), Vec::new());
        for number in 1..=3 {
            let (user, dj) = (guest(&store, 100_00).await, guest(&store, 0).await);
            let opened = request(&store, user, dj).await;
            requests.push(RequestId::new(number).unwrap());
            store.apply(opened).await.unwrap();
            payouts.push(approved(&store, user, operator).await);
            topups.push(ordered(&store, user).await);
        }
        let later = now().plus(time::Duration::days(1));
        assert_eq!(
            work(&store, later).await,
            (requests[..2].to_vec(), payouts[..2].to_vec(), topups[..2].to_vec())
        );
        let mut vandal = directory.connection();
        vandal.batch_execute(WITHOUT_CONSTRAINTS).unwrap();
        let break_rows = format!(
            "UPDATE music_requests SET fee = {broken} WHERE id = {}; \
             UPDATE withdrawals SET amount = {broken} WHERE id = {}; \
             UPDATE topups SET amount = {broken} WHERE id = {}",
            requests[0], payouts[0], topups[0]
        );
        vandal.batch_execute(&break_rows).unwrap();
        assert_eq!(
            work(&store, later).await,
            (requests[1..].to_vec(), payouts[1..].to_vec(), topups[1..].to_vec())
        );
        // Other rows are neither changed nor hidden.
        assert!(store.topup(topups[0]).await.is_err());
        store.apply(topup(&store, operator, 1_00).await).await.unwrap();
    }
}

/// A page after many rows is read on a thread of its own.
#[tokio::test]
async fn pages_past_the_end_of_a_list_show_its_total() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let user = guest(&store, 10_00).await;
    for page in [PageRequest::new(1_001, 10), PageRequest::new(1_002, 10), PageRequest::new(u64::MAX, 100)] {
        let found = store.topups(&TopupFilter::of(user), page).await.unwrap();
        assert_eq!((found.rows.len(), found.total), (0, 1));
    }
    store.close().await;
    assert!(
        store.topups(&TopupFilter::of(user), PageRequest::new(1_002, 10)).await.is_err(),
        "a closed store reads nothing"
    );
}

/// However many operations of others follow its cursor.
#[tokio::test]
async fn a_webhook_endpoint_without_events_has_no_work() {
    let directory = TestDirectory::create();
    let store = open(directory.path()).unwrap();
    let owner = guest(&store, 0).await;
    let new = NewEndpoint {
        owner,
        session: None,
        key: None,
        feed: Feed::Own,
        url: EndpointUrl::new("https://example.com").unwrap(),
        types: None,
        description: None,
        secret: SealedSecret("sealed".to_owned()),
        at: now(),
    };
    let id = store.next_webhook_endpoint().await.unwrap();
    let added = store.add_endpoint(id, &new).await.unwrap();
    let EndpointAddition::Added(endpoint) = added else { panic!("{added:?}") };
    store.close().await;
    let newest = endpoint.cursor.get();
    let others = format!(
        "INSERT INTO operations (id, kind, at, receipt, position) \
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000) \
         SELECT randomblob(16), 'profile', 0, '{{}}', {newest} + n FROM numbers"
    );
    directory.connection().batch_execute(&others).unwrap();
    let store = open(directory.path()).unwrap();
    assert_eq!(store.endpoints_with_work(now(), 9).await.unwrap(), []);
    store.apply(topup(&store, owner, 1).await).await.unwrap();
    assert_eq!(store.endpoints_with_work(now(), 9).await.unwrap(), [endpoint.id]);
    store.close().await;
}
