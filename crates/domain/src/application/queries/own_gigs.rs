//! The open gigs in which a guest has an open request.

use futures_util::future::{try_join, try_join_all};

use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::application::queries::BoardQueries;
use crate::application::queries::gig_of_code::present_user;
use crate::authorization::{Principal, permission};
use crate::gig::Gig;
use crate::ids::UserId;
use crate::music_request::{MusicRequest, RequestFilter, RequestStatus};
use crate::page::PageRequest;
use crate::user::User;

/// The newest open requests of each status that are looked at.
const NEWEST: u32 = 20;

/// An open gig in which a guest has an open request.
#[derive(Clone, PartialEq, Debug)]
pub struct GigOfGuest {
    pub gig: Gig,
    pub dj: User,
}

impl BoardQueries {
    /// The open gigs in which the principal has an open request, the one of the newest request first.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn gigs_of_guest(&self, principal: &Principal) -> Result<Vec<GigOfGuest>, Failure> {
        let guest = *Authorized::<_, permission::ReadRequest>::own(principal)?;
        let open = async |status| {
            let filter =
                RequestFilter { requester: Some(guest), dj: None, status: Some(status), now: self.env.now() };
            self.env.requests.requests(&filter, PageRequest::new(1, NEWEST)).await
        };
        let (pending, accepted) =
            try_join(open(RequestStatus::Pending), open(RequestStatus::Accepted)).await?;
        let mut requests: Vec<MusicRequest> = pending.rows.into_iter().chain(accepted.rows).collect();
        requests.sort_unstable_by_key(|request| std::cmp::Reverse(request.id));
        let mut djs: Vec<UserId> = Vec::new();
        for request in requests {
            if !djs.contains(&request.dj) {
                djs.push(request.dj);
            }
        }
        let gigs = djs.into_iter().map(async |dj| {
            let Some(gig) = self.env.gigs.open_gig(dj).await? else { return Ok(None) };
            let dj = present_user(&self.env, dj).await?.filter(|dj| dj.suspended_at.is_none());
            Ok::<_, Failure>(dj.map(|dj| GigOfGuest { gig, dj }))
        });
        Ok(try_join_all(gigs).await?.into_iter().flatten().collect())
    }
}
