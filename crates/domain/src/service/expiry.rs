//! Giving back the fees of requests whose time is over.

use std::sync::Arc;

use futures_util::future::join_all;
use time::Duration;

use crate::ids::UserId;
use crate::ledger::{Origin, Plan, Rejection};
use crate::music_request::{Move, MusicRequest, Overdue, RequestTerms};
use crate::plans;
use crate::ports::{Applied, ApplyError, MusicRequests, Unavailable};
use crate::service::desk::{Desk, Obstacle};

/// Requests settled at once, so that a store which commits in groups can take them together.
const BATCH: u32 = 64;
/// How long a command that is short of funds waits for its own overdue fees.
const OWN_FUNDS_WITHIN: Duration = Duration::seconds(2);

/// Settles requests whose time is over; any number of servers may do so at once.
#[derive(Clone)]
pub(super) struct Expiry {
    pub(super) desk: Desk,
    pub(super) requests: Arc<dyn MusicRequests>,
    pub(super) terms: RequestTerms,
}

impl Expiry {
    /// Settles every overdue request, and says how many.
    ///
    /// One that cannot be settled keeps none of the others waiting; the first such obstacle is told at the end.
    pub(super) async fn settle(&self) -> Result<u64, Obstacle> {
        self.settle_while(None, |_| true, || true).await
    }

    /// Applies a plan; where it is refused for funds, the payer's own overdue fees are given back and it is tried
    /// once more, even if somebody else gave them back meanwhile.
    pub(super) async fn apply_with_own_funds(
        &self,
        payer: UserId,
        plan: Plan,
    ) -> Result<Applied, ApplyError> {
        match self.desk.apply(plan.clone()).await {
            Err(ApplyError::Rejected(Rejection::InsufficientFunds { .. })) => {
                self.settle_own(payer).await?;
                self.desk.apply(plan).await
            }
            applied => applied,
        }
    }

    /// Gives back a person's overdue fees, as many as can be in two seconds; one that cannot be stays as it is.
    pub(super) async fn settle_own(&self, payer: UserId) -> Result<(), Unavailable> {
        let until = self.desk.now().plus(OWN_FUNDS_WITHIN);
        let in_time = || self.desk.now() < until;
        let worth = |request: &MusicRequest| !request.fee.is_zero();
        match self.settle_while(Some(payer), worth, in_time).await {
            Err(Obstacle::Unavailable(unavailable)) => Err(unavailable),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    async fn settle_while(
        &self,
        requester: Option<UserId>,
        worth: impl Fn(&MusicRequest) -> bool,
        more: impl Fn() -> bool,
    ) -> Result<u64, Obstacle> {
        let now = self.desk.now();
        let mut settled: u64 = 0;
        let mut obstacle = None;
        let mut after = None;
        loop {
            let overdue = self.requests.overdue(&Overdue { requester, now, after, limit: BATCH }).await?;
            let expiring =
                overdue.iter().filter(|request| worth(request)).map(|request| self.expire(request));
            for expired in join_all(expiring).await {
                match expired {
                    Ok(moved) => settled = settled.saturating_add(u64::from(moved)),
                    Err(other) => obstacle = obstacle.or(Some(other)),
                }
            }
            after = overdue.last().and_then(|last| last.state.expires_at().map(|at| (at, last.id)));
            let last = u32::try_from(overdue.len()).is_ok_and(|found| found < BATCH);
            if last || after.is_none() || !more() {
                return obstacle.map_or(Ok(settled), Err);
            }
        }
    }

    /// Settles one request; one that moved meanwhile was settled by somebody else.
    async fn expire(&self, request: &MusicRequest) -> Result<bool, Obstacle> {
        let operation = self.desk.ids.operation();
        let origin = Origin::system(operation, self.desk.now());
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
