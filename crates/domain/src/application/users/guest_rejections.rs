//! The rejection of the newest requests that count as guests', by the DJ of a gig.

use std::ops::{Bound, RangeBounds as _};
use std::sync::Arc;

use futures_util::future::join_all;
use time::Duration;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::{Context, Executor, Loadable as _, apply};
use crate::authorization::permission::RunGig;
use crate::gig::Gig;
use crate::ids::{GigId, UserId};
use crate::music_request::{Move, MusicRequest, RequestStatus};
use crate::operation::{Actor, OperationMetadata, Rejection, plans};
use crate::ports::{Applied, ApplyError, GigRequests};
use crate::timestamp::Timestamp;
use crate::user::guest_account::RecentMinutes;

/// The number of requests that are rejected concurrently, so that a store with group commit can batch them.
const BATCH: usize = 64;

/// The rejections of a gig that failed. Their requests stay open.
#[derive(Debug)]
pub struct FailedRejections {
    /// The gig.
    pub gig: GigId,
    /// The number of requests.
    pub requests: usize,
    /// The first failure.
    pub first: Failure,
}

/// Rejects requests that count as guests'.
#[derive(Clone)]
pub struct GuestRejections {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
}

impl GuestRejections {
    /// Begins to reject the pending requests that count as guests' and were made in the principal's gig within this time,
    /// and returns their number. Each rejection is a change of its own. Nothing is stored: after a crash, the DJ repeats
    /// it. After the last rejection, failures are reported.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for a gig of another DJ.
    pub async fn reject(
        &self,
        context: &Context,
        gig: GigId,
        within: RecentMinutes,
        report: impl FnOnce(FailedRejections) + Send + 'static,
    ) -> Result<usize, Failure> {
        let after = self.env.now().minus(within.duration());
        self.reject_made(context, gig, (Bound::Excluded(after), Bound::Unbounded), report).await
    }

    /// Begins the same for those that were made from the time of one request to that of another one, which a DJ has seen.
    /// Of those made more than [`RecentMinutes::MAX`] ago, none is rejected.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for a gig of another DJ.
    pub async fn reject_seen(
        &self,
        context: &Context,
        gig: GigId,
        (since, until): (Timestamp, Timestamp),
        report: impl FnOnce(FailedRejections) + Send + 'static,
    ) -> Result<usize, Failure> {
        let oldest = self.env.now().minus(Duration::minutes(RecentMinutes::MAX.into()));
        let made = (Bound::Included(since.max(oldest)), Bound::Included(until));
        self.reject_made(context, gig, made, report).await
    }

    async fn reject_made(
        &self,
        context: &Context,
        gig: GigId,
        made: (Bound<Timestamp>, Bound<Timestamp>),
        report: impl FnOnce(FailedRejections) + Send + 'static,
    ) -> Result<usize, Failure> {
        let gig = Gig::load(&self.env, gig).await?.reveal(&context.principal)?;
        self.executor
            .perform::<RunGig, _, _>(context, async |dj, _, _| {
                let env = &self.env;
                let now = env.now();
                let oldest = env.terms.requests.oldest_open(gig.opened_at);
                let mut requests = env.gigs.gig_requests(&gig, GigRequests::Open, oldest).await?;
                requests.retain(|request| {
                    let is_pending = request.state.seen_at(now).status() == RequestStatus::Pending;
                    is_pending && request.counts_as_guest && made.contains(&request.created_at)
                });
                let (matching, env, dj, gig) = (requests.len(), env.clone(), *dj, gig.id);
                env.ports.tasks.clone().spawn(Box::pin(async move {
                    let mut failures = Vec::new();
                    for batch in requests.chunks(BATCH) {
                        let rejected = join_all(batch.iter().map(|request| reject(&env, request, dj))).await;
                        failures.extend(rejected.into_iter().filter_map(Result::err));
                    }
                    let requests = failures.len();
                    if let Some(first) = failures.into_iter().next() {
                        report(FailedRejections { gig, requests, first });
                    }
                }));
                Ok(matching)
            })
            .await
    }
}

/// Rejects a request unless it was changed meanwhile.
async fn reject(env: &Arc<Environment>, request: &MusicRequest, dj: UserId) -> Result<(), Failure> {
    let metadata = OperationMetadata { actor: Actor::User(dj), ..env.system() };
    let Ok(plan) = plans::move_request(metadata, request, Move::Reject, &env.terms.requests) else {
        return Ok(());
    };
    match apply(env, plan, None).await {
        Ok(Applied::Fresh(_) | Applied::Replayed(_)) | Err(ApplyError::Rejected(Rejection::Stale)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
