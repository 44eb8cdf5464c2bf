//! New ids: a counter for each kind.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use cuepoint_domain::ids::OperationId;
use cuepoint_domain::ports::{IdKind, Ids, Unavailable};

use crate::MemoryStore;

/// The number allocated last of each kind.
pub(crate) type Counters = Mutex<BTreeMap<IdKind, i64>>;

#[async_trait]
impl Ids for MemoryStore {
    #[expect(clippy::disallowed_methods, reason = "this is the Ids port")]
    fn operation(&self) -> OperationId {
        OperationId(uuid::Uuid::now_v7().as_u128())
    }

    async fn next_number(&self, kind: IdKind) -> Result<i64, Unavailable> {
        let counters = self.counters.lock();
        let mut counters = counters.map_err(|_| Unavailable::new("a counter was interrupted"))?;
        let last = counters.entry(kind).or_default();
        *last = last.checked_add(1).ok_or_else(|| Unavailable::new("the ids are exhausted"))?;
        Ok(*last)
    }
}
