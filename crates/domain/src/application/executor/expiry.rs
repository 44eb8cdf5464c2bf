//! Settlement of overdue requests.

use std::sync::Arc;

use futures_util::future::join_all;
use time::Duration;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::apply;
use crate::ids::UserId;
use crate::music_request::{Move, MusicRequest, Overdue};
use crate::operation::{Rejection, plans};
use crate::ports::{Applied, ApplyError, Unavailable};

/// The number of requests settled concurrently, so that a store with group commit can batch them.
const BATCH: u32 = 64;
/// The time for which a command that lacked money waits for its own overdue fees.
const OWN_FUNDS_WITHIN: Duration = Duration::seconds(2);

/// Settles overdue requests; any number of servers may do so concurrently.
#[derive(Clone, Copy)]
pub(in crate::application) struct Expiry<'a> {
    pub(in crate::application) env: &'a Arc<Environment>,
}

impl Expiry<'_> {
    /// Settles every overdue request, and returns their number.
    ///
    /// A failed settlement does not delay the others; the first failure is returned at the end.
    pub(in crate::application) async fn settle(&self) -> Result<u64, Failure> {
        self.settle_while(None, |_| true, || true).await
    }

    /// Releases a user's overdue fees, as many as possible within two seconds; one that cannot be released
    /// stays as it is.
    pub(in crate::application) async fn settle_own(&self, payer: UserId) -> Result<(), Unavailable> {
        let until = self.env.now().plus(OWN_FUNDS_WITHIN);
        let in_time = || self.env.now() < until;
        let worth = |request: &MusicRequest| !request.fee.is_zero();
        match self.settle_while(Some(payer), worth, in_time).await {
            Err(Failure::Unavailable(unavailable)) => Err(unavailable),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    async fn settle_while(
        &self,
        requester: Option<UserId>,
        worth: impl Fn(&MusicRequest) -> bool,
        more: impl Fn() -> bool,
    ) -> Result<u64, Failure> {
        let now = self.env.now();
        let mut settled: u64 = 0;
        let mut failure = None;
        let mut after = None;
        loop {
            let overdue = self.env.requests.overdue(&Overdue { requester, now, after, limit: BATCH }).await?;
            let expiring =
                overdue.iter().filter(|request| worth(request)).map(|request| self.expire(request));
            for expired in join_all(expiring).await {
                match expired {
                    Ok(moved) => settled = settled.saturating_add(u64::from(moved)),
                    Err(other) => failure = failure.or(Some(other)),
                }
            }
            after = overdue.last().and_then(|last| last.state.expires_at().map(|at| (at, last.id)));
            let last = u32::try_from(overdue.len()).is_ok_and(|found| found < BATCH);
            if last || after.is_none() || !more() {
                return failure.map_or(Ok(settled), Err);
            }
        }
    }

    /// Settles one request; after a conflict, another server or its DJ has settled it.
    async fn expire(&self, request: &MusicRequest) -> Result<bool, Failure> {
        let metadata = self.env.system();
        let Ok(plan) = plans::move_request(metadata, request, Move::Expire, &self.env.terms.requests) else {
            return Ok(false);
        };
        match apply(self.env, plan, None).await {
            Ok(Applied::Fresh(_)) => Ok(true),
            Ok(Applied::Replayed(_)) | Err(ApplyError::Rejected(Rejection::Stale)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
