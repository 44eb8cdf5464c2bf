//! Music requests as their parties see them.

use std::convert::Infallible;
use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Authorized, Loadable as _};
use crate::authorization::{Principal, permission};
use crate::gig::Gig;
use crate::ids::{RequestId, UserId};
use crate::music_request::{
    Addressee, MusicRequest, NewRequest, OpenRefusal, RequestFilter, RequestStatus, judge,
};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::user::{Standing, User};

/// A filter for the requests that a user made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OwnRequestFilter {
    pub status: Option<RequestStatus>,
    /// Only those addressed to this DJ.
    pub dj: Option<UserId>,
}

/// The open gig of a DJ, and the DJ, if there is one with this id.
pub(in crate::application) async fn addressee(
    env: &Environment,
    dj: UserId,
) -> Result<(Option<Gig>, Option<User>), Unavailable> {
    // The gig is read before the profile. If the gig ends between both reads, the profile shows the DJ offline. In the
    // other order, the request would belong to no gig, and the job would not find it.
    let gig = env.gigs.open_gig(dj).await?;
    let dj = env.people.profile(dj).await?.map(|profile| profile.user);
    Ok((gig, dj.filter(User::is_present)))
}

/// Reads music requests.
#[derive(Clone)]
pub struct MusicRequestQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl MusicRequestQueries {
    /// A request in its current state, for its requester or its DJ.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for all others.
    pub async fn visible(&self, principal: &Principal, id: RequestId) -> Result<MusicRequest, Failure> {
        let request = MusicRequest::load(&self.env, id).await?.reveal(principal)?;
        Ok(request.seen_at(self.env.now()))
    }

    /// A page of the requests that the principal made, in their current state.
    pub async fn made_by(
        &self,
        principal: &Principal,
        filter: OwnRequestFilter,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, Failure> {
        let requester = Authorized::<_, permission::ReadRequest>::own(principal)?;
        let OwnRequestFilter { status, dj } = filter;
        self.list(RequestFilter { requester: Some(*requester), dj, status, now: self.env.now() }, page).await
    }

    /// A page of the requests addressed to the principal, in their current state; the filter is read after
    /// the principal was found to be a DJ.
    ///
    /// # Errors
    /// [`Failure::Denied`] for guests; the errors of the filter.
    pub async fn addressed_to<I>(
        &self,
        principal: &Principal,
        read_filter: impl FnOnce() -> Result<(Option<RequestStatus>, PageRequest), I>,
    ) -> Result<Rows<MusicRequest>, CommandError<Infallible, I>> {
        let dj = Authorized::<_, permission::AnswerRequest>::own(principal)?;
        let (status, page) = read_filter().map_err(CommandError::Input)?;
        let filter = RequestFilter { requester: None, dj: Some(*dj), status, now: self.env.now() };
        Ok(self.list(filter, page).await?)
    }

    /// Why a request of a guest account that does not exist yet would be refused. The limits of the queue and the funds are
    /// checked only when the request is opened.
    ///
    /// # Errors
    /// [`Failure::Unavailable`].
    pub async fn refusal_before_account(&self, new: &NewRequest) -> Result<Option<OpenRefusal>, Failure> {
        let (gig, dj) = addressee(&self.env, new.dj).await?;
        let gig = gig.as_ref().map(Gig::request_terms);
        let to = Addressee { gig, guest: Standing::GuestAccount, ..Addressee::of(dj.as_ref()) };
        Ok(judge(None, to, new).err())
    }

    async fn list(&self, filter: RequestFilter, page: PageRequest) -> Result<Rows<MusicRequest>, Failure> {
        let Rows { rows, total } = self.env.requests.requests(&filter, page).await?;
        let rows = rows.into_iter().map(|request| request.seen_at(filter.now)).collect();
        Ok(Rows { rows, total })
    }
}
