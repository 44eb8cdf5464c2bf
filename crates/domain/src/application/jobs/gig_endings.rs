//! The end of gigs: the fees of their open requests are released in full.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::apply;
use crate::gig::Gig;
use crate::ids::GigId;
use crate::music_request::{Move, MusicRequest};
use crate::operation::{OperationMetadata, Rejection, plans};
use crate::ports::{Applied, ApplyError, GigRequests};
use crate::text::Line;

/// The number of gigs that are read together.
const GIGS: u32 = 100;
/// The number of requests that are rejected concurrently, so that a store with group commit can batch them.
const BATCH: usize = 64;
/// The reason of the rejection of a request whose gig has ended.
const GIG_ENDED: &str = "gig_ended";

/// Ends the gigs that are due, and rejects the open requests of ended ones; any number of servers may do so
/// concurrently.
#[derive(Clone)]
pub struct GigEndings {
    pub(in crate::application) env: Arc<Environment>,
}

impl GigEndings {
    /// Ends each gig that was open for too long, or whose DJ is suspended or erased, and rejects the open requests of
    /// each ended gig. Returns the number of closed requests.
    ///
    /// # Errors
    /// The first [`Failure`]. One gig that fails does not delay the others.
    pub async fn run(&self) -> Result<u64, Failure> {
        let mut failure = self.end_due().await.err();
        let mut released: u64 = 0;
        let mut after = None;
        loop {
            let ended = self.env.gigs.unsettled_gigs(after, GIGS).await?;
            for gig in &ended {
                match self.release(gig).await {
                    Ok(requests) => released = released.saturating_add(requests),
                    Err(other) => failure = failure.or(Some(other)),
                }
            }
            after = ended.last().map(|gig| gig.id);
            if after.is_none() || u32::try_from(ended.len()).is_ok_and(|read| read < GIGS) {
                return failure.map_or(Ok(released), Err);
            }
        }
    }

    /// Rejects the open requests of a gig that has just ended.
    ///
    /// # Errors
    /// [`Failure`]; the next run rejects the rest.
    pub async fn release_of(&self, id: GigId) -> Result<u64, Failure> {
        let gig = self.env.ledger.stored(id).await?.filter(|gig| gig.ended_at.is_some());
        match gig {
            Some(gig) => self.release(&gig).await,
            None => Ok(0),
        }
    }

    /// Ends the gigs that are due. A failure does not delay the other gigs.
    async fn end_due(&self) -> Result<(), Failure> {
        let opened_by = self.env.now().minus(self.env.terms.longest_gig);
        let (mut failure, mut after) = (None, None);
        loop {
            let due = self.env.gigs.gigs_to_end(opened_by, after, GIGS).await?;
            let ending = due.iter().map(|gig| async move {
                match apply(&self.env, plans::end_gig(self.env.system(), gig), None).await {
                    Ok(_) | Err(ApplyError::Rejected(Rejection::Stale)) => Ok(()),
                    Err(error) => Err(Failure::from(error)),
                }
            });
            failure = join_all(ending).await.into_iter().fold(failure, |first, one| first.or(one.err()));
            after = due.last().map(|gig| gig.id);
            if after.is_none() || u32::try_from(due.len()).is_ok_and(|read| read < GIGS) {
                return failure.map_or(Ok(()), Err);
            }
        }
    }

    /// Rejects the open requests of an ended gig, and settles it once none can follow.
    async fn release(&self, gig: &Gig) -> Result<u64, Failure> {
        let oldest = self.env.terms.requests.oldest_open(gig.opened_at);
        let open = self.env.gigs.gig_requests(gig, GigRequests::Open, oldest).await?;
        let mut released: u64 = 0;
        let mut failure = None;
        for batch in open.chunks(BATCH) {
            for rejected in join_all(batch.iter().map(|request| self.reject(request))).await {
                match rejected {
                    Ok(moved) => released = released.saturating_add(u64::from(moved)),
                    Err(other) => failure = failure.or(Some(other)),
                }
            }
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        if open.is_empty() && gig.settles_at(self.env.now()) {
            self.env.gigs.settle_gig(gig.id).await?;
        }
        Ok(released)
    }

    /// Rejects one request, or lets it expire if its deadline has passed. After a conflict, the next run looks again.
    async fn reject(&self, request: &MusicRequest) -> Result<bool, Failure> {
        let now = self.env.now();
        let is_overdue = request.state.expires_at().is_some_and(|deadline| deadline <= now);
        let to = if is_overdue { Move::Expire } else { Move::Reject };
        let reason = (!is_overdue).then(|| Line::from_stored(GIG_ENDED.to_owned()));
        let metadata = OperationMetadata { reason, ..self.env.system() };
        let Ok(plan) = plans::move_request(metadata, request, to, &self.env.terms.requests) else {
            return Ok(false);
        };
        match apply(&self.env, plan, None).await {
            Ok(Applied::Fresh(_)) => Ok(true),
            Ok(Applied::Replayed(_)) | Err(ApplyError::Rejected(Rejection::Stale)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
