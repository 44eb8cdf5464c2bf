//! Music requests: made by guests, answered by DJs.

use std::sync::Arc;

use crate::ids::{RequestId, UserId};
use crate::ledger::Rejection;
use crate::money::Money;
use crate::music_request::{
    Move, MoveRefusal, MusicRequest, NewRequest, OpenRefusal, Party, RequestFilter, RequestStatus,
    RequestTerms,
};
use crate::page::{PageRequest, Rows};
use crate::plans;
use crate::ports::{Applied, ApplyError, MusicRequests, People, Unavailable};
use crate::service::desk::{Command, Desk, Obstacle};
use crate::service::expiry::Expiry;

/// What a DJ says to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DjAnswer {
    /// It will be played.
    Accept,
    /// It will not be played.
    Reject,
    /// It was played.
    Play,
}

impl From<DjAnswer> for Move {
    fn from(answer: DjAnswer) -> Self {
        match answer {
            DjAnswer::Accept => Self::Accept,
            DjAnswer::Reject => Self::Reject,
            DjAnswer::Play => Self::Play,
        }
    }
}

/// Which of a person's requests a list shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ListFilter {
    /// Only those with this status.
    pub status: Option<RequestStatus>,
    /// Only those addressed to this DJ.
    pub dj: Option<UserId>,
}

/// Why a request is not made.
#[derive(Debug)]
pub enum OpenRequestError {
    /// There is no such person, they are no DJ, or it is the caller.
    NoSuchDj,
    /// The offer is below this list price.
    FeeBelowPrice(Money),
    /// The DJ takes no requests now.
    DjOffline,
    /// The caller cannot pay the fee.
    InsufficientFunds,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

/// Why a request or a withdrawal is not there for the caller.
#[derive(Debug)]
pub enum AddressedError {
    /// There is none, or it is none of the caller's business.
    NotFound,
    /// The caller has to do with it, but not as the party that this takes.
    Forbidden,
    /// The storage cannot be reached.
    Unavailable(Unavailable),
}

/// Why a request does not move.
#[derive(Debug)]
pub enum MoveRequestError {
    /// It does not stand where the move starts.
    InvalidTransition {
        /// Where it stands.
        current: RequestStatus,
        /// Where it could go instead, by whoever may move it there; time aside.
        allowed: Vec<RequestStatus>,
    },
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl From<Obstacle> for OpenRequestError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<OpenRefusal> for OpenRequestError {
    fn from(refusal: OpenRefusal) -> Self {
        match refusal {
            OpenRefusal::NoSuchDj => Self::NoSuchDj,
            OpenRefusal::FeeBelowPrice(price) => Self::FeeBelowPrice(price),
            OpenRefusal::DjOffline => Self::DjOffline,
        }
    }
}

impl From<ApplyError> for OpenRequestError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Rejected(Rejection::InsufficientFunds { .. }) => Self::InsufficientFunds,
            other => Self::Obstacle(other.into()),
        }
    }
}

impl From<Unavailable> for AddressedError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

impl From<Obstacle> for MoveRequestError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<MoveRefusal> for MoveRequestError {
    fn from(refusal: MoveRefusal) -> Self {
        match refusal {
            MoveRefusal::InvalidTransition { current, allowed } => {
                Self::InvalidTransition { current, allowed }
            }
            MoveRefusal::OutOfRange => Self::Obstacle(Obstacle::OutOfRange),
        }
    }
}

/// The use cases of music requests.
#[derive(Clone)]
pub struct Requests {
    pub(super) desk: Desk,
    pub(super) requests: Arc<dyn MusicRequests>,
    pub(super) people: Arc<dyn People>,
    pub(super) expiry: Expiry,
    pub(super) terms: RequestTerms,
}

impl Requests {
    /// Makes a request, its fee held. Short of funds, the caller's own overdue fees are given back first.
    ///
    /// # Errors
    /// [`OpenRequestError`].
    pub async fn open(&self, command: &Command, new: NewRequest) -> Result<Applied, OpenRequestError> {
        let dj = self.people.profile(new.dj).await.map_err(Obstacle::from)?.map(|profile| profile.user);
        let id = self.desk.ids.next_request().await.map_err(Obstacle::from)?;
        let origin = self.desk.origin(command, self.desk.ids.operation());
        match plans::open_request(origin, id, command.caller, dj.as_ref(), new, &self.terms) {
            Ok(plan) => {
                self.expiry.apply_with_own_funds(command.caller, plan).await.map_err(OpenRequestError::from)
            }
            Err(refusal) => self.desk.refuse(command.key, refusal.into()).await,
        }
    }

    /// A request as its requester or its DJ sees it now.
    ///
    /// # Errors
    /// [`AddressedError`], never [`AddressedError::Forbidden`].
    pub async fn visible(&self, caller: UserId, id: RequestId) -> Result<MusicRequest, AddressedError> {
        self.stored(caller, id).await.map(|(request, _)| request.seen_at(self.desk.now()))
    }

    /// A request addressed to the caller, as it is stored, to be answered.
    ///
    /// # Errors
    /// [`AddressedError`].
    pub async fn addressed(&self, caller: UserId, id: RequestId) -> Result<MusicRequest, AddressedError> {
        self.as_party(caller, id, Party::Dj).await
    }

    /// A request that the caller made, as it is stored, to be cancelled.
    ///
    /// # Errors
    /// [`AddressedError`].
    pub async fn own(&self, caller: UserId, id: RequestId) -> Result<MusicRequest, AddressedError> {
        self.as_party(caller, id, Party::Requester).await
    }

    /// The DJ's answer to a request that [`Requests::addressed`] found.
    ///
    /// # Errors
    /// [`MoveRequestError`].
    pub async fn answer(
        &self,
        command: &Command,
        request: MusicRequest,
        answer: DjAnswer,
    ) -> Result<Applied, MoveRequestError> {
        self.change(command, request, answer.into()).await
    }

    /// Takes back a request that [`Requests::own`] found.
    ///
    /// # Errors
    /// [`MoveRequestError`].
    pub async fn cancel(
        &self,
        command: &Command,
        request: MusicRequest,
    ) -> Result<Applied, MoveRequestError> {
        self.change(command, request, Move::Cancel).await
    }

    /// A page of the requests that the caller made, as they are seen now.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn made_by(
        &self,
        caller: UserId,
        filter: ListFilter,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        self.list(
            RequestFilter {
                requester: Some(caller),
                dj: filter.dj,
                status: filter.status,
                now: self.desk.now(),
            },
            page,
        )
        .await
    }

    /// A page of the requests addressed to the caller, as they are seen now.
    ///
    /// # Errors
    /// [`Unavailable`].
    pub async fn addressed_to(
        &self,
        caller: UserId,
        status: Option<RequestStatus>,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        self.list(RequestFilter { requester: None, dj: Some(caller), status, now: self.desk.now() }, page)
            .await
    }

    /// Gives back the fees of all requests whose time is over, and says how many there were.
    ///
    /// # Errors
    /// [`Obstacle`]; those settled before it stay settled.
    pub async fn sweep(&self) -> Result<u64, Obstacle> {
        self.expiry.settle().await
    }

    async fn list(
        &self,
        filter: RequestFilter,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        let Rows { rows, total } = self.requests.requests(&filter, page).await?;
        let rows = rows.into_iter().map(|request| request.seen_at(filter.now)).collect();
        Ok(Rows { rows, total })
    }

    async fn stored(&self, caller: UserId, id: RequestId) -> Result<(MusicRequest, Party), AddressedError> {
        let request = self.requests.request(id).await?.ok_or(AddressedError::NotFound)?;
        match request.party(caller) {
            Party::Stranger => Err(AddressedError::NotFound),
            party @ (Party::Requester | Party::Dj) => Ok((request, party)),
        }
    }

    async fn as_party(
        &self,
        caller: UserId,
        id: RequestId,
        wanted: Party,
    ) -> Result<MusicRequest, AddressedError> {
        let (request, party) = self.stored(caller, id).await?;
        if party == wanted { Ok(request) } else { Err(AddressedError::Forbidden) }
    }

    async fn change(
        &self,
        command: &Command,
        request: MusicRequest,
        to: Move,
    ) -> Result<Applied, MoveRequestError> {
        let origin = self.desk.origin(command, self.desk.ids.operation());
        let id = request.id;
        let load = || self.requests.request(id);
        let decide = |origin, request: &_| Ok(plans::move_request(origin, request, to, &self.terms)?);
        self.desk.change(origin, request, load, decide).await
    }
}
