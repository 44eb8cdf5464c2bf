//! Reads of all requests of a gig. Users choose the number and the texts of these requests.

use std::sync::Arc;

use futures_channel::oneshot;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::ids::{GigId, UserId};
use crate::music_request::MusicRequest;
use crate::ports::{IdsInGig, LongWorkRefusal};

/// The number of requests that are in memory at the same time.
pub(super) const PART: usize = 500;

/// The result of work that is done in the turn of a DJ.
///
/// # Errors
/// Those of the work, and [`Failure::Busy`].
pub(super) async fn in_turn_of<T: Send + 'static>(
    env: &Environment,
    dj: UserId,
    work: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Result<T, Failure> {
    let (caller, result) = oneshot::channel();
    let work = Box::pin(async move { drop(caller.send(work.await)) });
    env.ports.long_work.in_turn_of(dj, work).await?;
    result.await.unwrap_or_else(|_| Err(LongWorkRefusal::Interrupted.into()))
}

/// Hands each request of a gig that is not cancelled to a function, in the order of their ids and as they are now. Returns
/// the number of cancelled ones: without a limit on them, anybody could make the work longer.
///
/// # Errors
/// [`Failure::OutOfRange`] if the function returns `None`.
pub(super) async fn each_request(
    env: &Arc<Environment>,
    gig: GigId,
    mut each: impl FnMut(MusicRequest) -> Option<()> + Send,
) -> Result<u64, Failure> {
    let now = env.now();
    let IdsInGig { ids, cancelled } = env.gigs.ids_in_gig(gig).await?;
    for part in ids.chunks(PART) {
        for request in env.gigs.requests_of(part).await? {
            each(request.seen_at(now)).ok_or(Failure::OutOfRange)?;
        }
    }
    Ok(cancelled)
}
