//! Giving back the fees of requests whose time is over.

use std::sync::Arc;

use crate::ids::UserId;
use crate::ledger::{Actor, Origin, Plan, Rejection};
use crate::music_request::{Move, MusicRequest, RequestTerms};
use crate::plans;
use crate::ports::{Applied, ApplyError, MusicRequests};
use crate::service::desk::{Desk, Obstacle};

/// Requests settled at once.
const BATCH: u32 = 100;

/// Settles requests whose time is over; any number of servers may do so at once.
#[derive(Clone)]
pub(super) struct Expiry {
    pub(super) desk: Desk,
    pub(super) requests: Arc<dyn MusicRequests>,
    pub(super) terms: RequestTerms,
}

impl Expiry {
    /// Settles every overdue request, or this requester's alone, and says how many.
    ///
    /// One that cannot be settled keeps none of the others waiting; the first such obstacle is told at the end.
    pub(super) async fn settle(&self, requester: Option<UserId>) -> Result<u64, Obstacle> {
        let mut settled: u64 = 0;
        let mut obstacle = None;
        loop {
            let now = self.desk.now();
            let overdue = self.requests.overdue(requester, now, BATCH).await?;
            let before = settled;
            for request in &overdue {
                match self.expire(request).await {
                    Ok(moved) => settled = settled.saturating_add(u64::from(moved)),
                    Err(Obstacle::Unavailable(unavailable)) => return Err(unavailable.into()),
                    Err(other) => obstacle = obstacle.or(Some(other)),
                }
            }
            let last = u32::try_from(overdue.len()).is_ok_and(|found| found < BATCH);
            if last || settled == before {
                return obstacle.map_or(Ok(settled), Err);
            }
        }
    }

    /// Applies a plan; where it is refused for funds, the payer's own overdue fees are given back and it is tried
    /// once more.
    pub(super) async fn apply_with_own_funds(
        &self,
        payer: UserId,
        plan: Plan,
    ) -> Result<Applied, ApplyError> {
        match self.desk.apply(plan.clone()).await {
            Err(ApplyError::Rejected(Rejection::InsufficientFunds { available })) => {
                match self.settle(Some(payer)).await {
                    Ok(0) => Err(ApplyError::Rejected(Rejection::InsufficientFunds { available })),
                    Ok(_) => self.desk.apply(plan).await,
                    Err(Obstacle::Unavailable(unavailable)) => Err(unavailable.into()),
                    Err(_) => Err(ApplyError::Rejected(Rejection::InsufficientFunds { available })),
                }
            }
            applied => applied,
        }
    }

    /// Settles one request; one that moved meanwhile was settled by somebody else.
    async fn expire(&self, request: &MusicRequest) -> Result<bool, Obstacle> {
        let operation = self.desk.ids.operation();
        let origin = Origin { operation, actor: Actor::System, at: self.desk.now(), reason: None, key: None };
        let Ok(plan) = plans::move_request(origin, request, Move::Expire, &self.terms) else {
            return Ok(false);
        };
        match self.desk.apply(plan).await {
            Ok(Applied::Fresh(_)) => Ok(true),
            Ok(Applied::Replayed(_)) | Err(ApplyError::Rejected(Rejection::Stale)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
