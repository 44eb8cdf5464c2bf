//! New ids: unique.

use std::collections::HashSet;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use crate::harness::scenario::at_once;
use cuepoint_domain::ports::{IdKind, Ids, Store};

promises! { ($) ids as ids_promises {
    allocated_ids_are_distinct,
}}

/// The number of concurrent tasks for each kind of id, and of sequential ids for each task.
const ASKING: usize = 8;
const EACH: usize = 250;

async fn distinct<T, A>(ids: &Arc<dyn Ids>, kind: &str, ask: impl Fn(Arc<dyn Ids>) -> A) -> HashSet<T>
where
    T: Eq + Hash + Send + 'static,
    A: Future<Output = T> + Send + 'static,
{
    let tasks = (0..ASKING).map(|_| {
        let own: Vec<A> = (0..EACH).map(|_| ask(Arc::clone(ids))).collect();
        async move {
            let mut taken = Vec::new();
            for id in own {
                taken.push(id.await);
            }
            taken
        }
    });
    let all: HashSet<T> = at_once(tasks).await.into_iter().flatten().collect();
    assert_eq!(all.len(), ASKING * EACH, "{kind}");
    all
}

/// Thousands of ids of each kind, allocated in parallel, are distinct, and those with numbers are positive.
pub async fn allocated_ids_are_distinct(store: Arc<dyn Store>) {
    let ids: Arc<dyn Ids> = store;
    distinct(&ids, "operation", |ids| async move { ids.operation() }).await;
    // Webhook endpoints are few, and a store may commit for each of their ids.
    for kind in IdKind::all().filter(|kind| *kind != IdKind::WebhookEndpoints) {
        let next = |ids: Arc<dyn Ids>| async move {
            match ids.number_at_hand(kind) {
                Some(number) => number,
                None => ids.next_number(kind).await.unwrap(),
            }
        };
        assert!(distinct(&ids, kind.name(), next).await.iter().all(|number| *number > 0), "{kind:?}");
    }
}
