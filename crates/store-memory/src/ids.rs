//! New ids: a counter for each kind.

use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use cuepoint_domain::ids::{
    AdjustmentId, OperationId, RequestId, SessionId, TopupId, UserId, WebhookEndpointId, WithdrawalId,
};
use cuepoint_domain::ports::{Ids, Unavailable};

use crate::MemoryStore;

/// The number of allocated ids of each kind.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    users: AtomicI64,
    requests: AtomicI64,
    withdrawals: AtomicI64,
    topups: AtomicI64,
    adjustments: AtomicI64,
    sessions: AtomicI64,
    webhook_endpoints: AtomicI64,
}

fn next<T>(counter: &AtomicI64, id: impl FnOnce(i64) -> Option<T>) -> Result<T, Unavailable> {
    let before = counter.fetch_add(1, Ordering::Relaxed);
    before.checked_add(1).and_then(id).ok_or_else(|| Unavailable::new("the ids are exhausted"))
}

#[async_trait]
impl Ids for MemoryStore {
    #[expect(clippy::disallowed_methods, reason = "this is the Ids port")]
    fn operation(&self) -> OperationId {
        OperationId(uuid::Uuid::now_v7().as_u128())
    }

    async fn next_user(&self) -> Result<UserId, Unavailable> {
        next(&self.counters.users, UserId::new)
    }

    async fn next_request(&self) -> Result<RequestId, Unavailable> {
        next(&self.counters.requests, RequestId::new)
    }

    async fn next_withdrawal(&self) -> Result<WithdrawalId, Unavailable> {
        next(&self.counters.withdrawals, WithdrawalId::new)
    }

    async fn next_topup(&self) -> Result<TopupId, Unavailable> {
        next(&self.counters.topups, TopupId::new)
    }

    async fn next_adjustment(&self) -> Result<AdjustmentId, Unavailable> {
        next(&self.counters.adjustments, AdjustmentId::new)
    }

    async fn next_session(&self) -> Result<SessionId, Unavailable> {
        next(&self.counters.sessions, SessionId::new)
    }

    async fn next_webhook_endpoint(&self) -> Result<WebhookEndpointId, Unavailable> {
        next(&self.counters.webhook_endpoints, WebhookEndpointId::new)
    }
}
