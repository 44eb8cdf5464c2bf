//! The open requests of guest accounts in a gig.

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::gig::Gig;
use crate::music_request::MusicRequest;
use crate::ports::GigRequests;
use crate::timestamp::Timestamp;

/// The open requests of guest accounts in the queue of a gig, with those of no gig that were created after `oldest`.
pub(in crate::application) async fn open_of_guest_accounts(
    env: &Environment,
    gig: &Gig,
    oldest: Timestamp,
) -> Result<Vec<MusicRequest>, Failure> {
    let now = env.now();
    let mut requests = env.gigs.gig_requests(gig, GigRequests::Open, oldest).await?;
    requests.retain(|request| request.state.seen_at(now).status().holds_fee());
    let guests = requests.iter().map(|request| request.requester).collect();
    let accounts = env.people.guest_accounts(&guests).await?;
    requests.retain(|request| accounts.contains(&request.requester));
    Ok(requests)
}
