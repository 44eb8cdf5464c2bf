//! Music requests as their parties see them.

use std::convert::Infallible;
use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Authorized, Loadable as _};
use crate::authorization::{Principal, permission};
use crate::ids::{RequestId, UserId};
use crate::music_request::{MusicRequest, RequestFilter, RequestStatus};
use crate::page::{PageRequest, Rows};

/// A filter for the requests that a user made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OwnRequestFilter {
    pub status: Option<RequestStatus>,
    /// Only those addressed to this DJ.
    pub dj: Option<UserId>,
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

    async fn list(&self, filter: RequestFilter, page: PageRequest) -> Result<Rows<MusicRequest>, Failure> {
        let Rows { rows, total } = self.env.requests.requests(&filter, page).await?;
        let rows = rows.into_iter().map(|request| request.seen_at(filter.now)).collect();
        Ok(Rows { rows, total })
    }
}
