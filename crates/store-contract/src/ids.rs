//! New ids: unique.

use std::collections::HashSet;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use crate::scenario::at_once;
use cuepoint_domain::ports::{Ids, Store, Unavailable};

promises! { ($) ids as ids_promises {
    allocated_ids_are_distinct,
}}

/// The number of concurrent tasks for each kind of id, and of sequential ids for each task.
const ASKING: usize = 8;
const EACH: usize = 250;

async fn distinct<T, A>(ids: &Arc<dyn Ids>, kind: &str, ask: fn(Arc<dyn Ids>) -> A)
where
    T: Eq + Hash + Send + 'static,
    A: Future<Output = Result<T, Unavailable>> + Send + 'static,
{
    let tasks = (0..ASKING).map(|_| {
        let ids = Arc::clone(ids);
        async move {
            let mut own = Vec::new();
            for _ in 0..EACH {
                own.push(ask(Arc::clone(&ids)).await.unwrap());
            }
            own
        }
    });
    let all: HashSet<T> = at_once(tasks).await.into_iter().flatten().collect();
    assert_eq!(all.len(), ASKING * EACH, "{kind}");
}

/// Thousands of ids of each kind, allocated in parallel, are distinct; their type makes them positive.
pub async fn allocated_ids_are_distinct(store: Arc<dyn Store>) {
    let ids: Arc<dyn Ids> = store;
    distinct(&ids, "operation", |ids| async move { Ok(ids.operation()) }).await;
    distinct(&ids, "user", |ids| async move { ids.next_user().await }).await;
    distinct(&ids, "request", |ids| async move { ids.next_request().await }).await;
    distinct(&ids, "withdrawal", |ids| async move { ids.next_withdrawal().await }).await;
    distinct(&ids, "topup", |ids| async move { ids.next_topup().await }).await;
    distinct(&ids, "adjustment", |ids| async move { ids.next_adjustment().await }).await;
    distinct(&ids, "session", |ids| async move { ids.next_session().await }).await;
}
