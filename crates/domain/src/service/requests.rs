//! Music requests: made by guests, answered by DJs.

use std::sync::Arc;

use crate::access::{Action, Caller, Denied, Whose};
use crate::ids::{RequestId, UserId};
use crate::ledger::Rejection;
use crate::money::Money;
use crate::music_request::{
    Move, MoveRefusal, MusicRequest, NewRequest, OpenRefusal, Party, RequestFilter, RequestStatus,
    RequestTerms,
};
use crate::page::{PageRequest, Rows};
use crate::plans;
use crate::ports::{Applied, ApplyError, Blocks, MusicRequests, People};
use crate::service::desk::{Command, Desk, Obstacle};
use crate::service::expiry::Expiry;
use crate::service::profiles::FindError;

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
    /// The DJ takes no requests from the caller.
    Blocked,
    /// The DJ takes no requests now.
    DjOffline,
    /// The caller has this many open requests with the DJ, and no more are allowed.
    TooManyOpen(u32),
    /// The caller cannot pay the fee.
    InsufficientFunds,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
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
            OpenRefusal::Blocked => Self::Blocked,
            OpenRefusal::DjOffline => Self::DjOffline,
        }
    }
}

impl From<ApplyError> for OpenRequestError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Rejected(Rejection::InsufficientFunds { .. }) => Self::InsufficientFunds,
            ApplyError::Rejected(Rejection::TooManyOpen(most)) => Self::TooManyOpen(most),
            other => Self::Obstacle(other.into()),
        }
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
    pub(super) blocks: Arc<dyn Blocks>,
    pub(super) expiry: Expiry,
    pub(super) terms: RequestTerms,
}

impl Requests {
    /// Makes a request, its fee held. Short of funds, the caller's own overdue fees are given back first.
    ///
    /// # Errors
    /// [`OpenRequestError`].
    pub async fn open(&self, command: &Command, new: NewRequest) -> Result<Applied, OpenRequestError> {
        command.may(Action::OpenRequest, Whose::Own)?;
        let dj = self.people.profile(new.dj).await.map_err(Obstacle::from)?.map(|profile| profile.user);
        let dj = dj.filter(|dj| dj.erased_at.is_none());
        let blocked = self.blocks.is_blocked(new.dj, command.caller.user).await.map_err(Obstacle::from)?;
        let id = self.desk.ids.next_request().await.map_err(Obstacle::from)?;
        let origin = self.desk.origin(command, self.desk.ids.operation());
        match plans::open_request(origin, id, command.caller.user, dj.as_ref(), blocked, new, &self.terms) {
            Ok(plan) => self
                .expiry
                .apply_with_own_funds(command.caller.user, plan)
                .await
                .map_err(OpenRequestError::from),
            Err(refusal) => self.desk.refuse(command.key, refusal.into()).await,
        }
    }

    /// A request as its requester or its DJ sees it now.
    ///
    /// # Errors
    /// [`FindError`], never [`FindError::Denied`].
    pub async fn visible(&self, caller: &Caller, id: RequestId) -> Result<MusicRequest, FindError> {
        self.stored(caller, id).await.map(|request| request.seen_at(self.desk.now()))
    }

    /// A request addressed to the caller, as it is stored, to be answered.
    ///
    /// # Errors
    /// [`FindError`]; denied is who made it.
    pub async fn addressed(&self, caller: &Caller, id: RequestId) -> Result<MusicRequest, FindError> {
        let request = self.stored(caller, id).await?;
        caller.may(Action::AnswerRequest, Whose::of(request.dj, caller))?;
        Ok(request)
    }

    /// A request that the caller made, as it is stored, to be cancelled.
    ///
    /// # Errors
    /// [`FindError`]; denied is its DJ.
    pub async fn own(&self, caller: &Caller, id: RequestId) -> Result<MusicRequest, FindError> {
        let request = self.stored(caller, id).await?;
        caller.may(Action::CancelRequest, Whose::of(request.requester, caller))?;
        Ok(request)
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
        command.may(Action::AnswerRequest, Whose::of(request.dj, &command.caller))?;
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
        command.may(Action::CancelRequest, Whose::of(request.requester, &command.caller))?;
        self.change(command, request, Move::Cancel).await
    }

    /// A page of the requests that the caller made, as they are seen now.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn made_by(
        &self,
        caller: &Caller,
        filter: ListFilter,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, FindError> {
        caller.may(Action::ReadRequest, Whose::Own)?;
        self.list(
            RequestFilter {
                requester: Some(caller.user),
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
    /// [`FindError`]; denied is who is no DJ.
    pub async fn addressed_to(
        &self,
        caller: &Caller,
        status: Option<RequestStatus>,
        page: PageRequest,
    ) -> Result<Rows<MusicRequest>, FindError> {
        caller.may(Action::AnswerRequest, Whose::Own)?;
        let filter = RequestFilter { requester: None, dj: Some(caller.user), status, now: self.desk.now() };
        self.list(filter, page).await
    }

    /// Gives back the fees of all requests whose time is over, and says how many there were.
    ///
    /// # Errors
    /// [`Obstacle`]; those settled before it stay settled.
    pub async fn sweep(&self) -> Result<u64, Obstacle> {
        self.expiry.settle().await
    }

    async fn list(&self, filter: RequestFilter, page: PageRequest) -> Result<Rows<MusicRequest>, FindError> {
        let Rows { rows, total } = self.requests.requests(&filter, page).await?;
        let rows = rows.into_iter().map(|request| request.seen_at(filter.now)).collect();
        Ok(Rows { rows, total })
    }

    /// A request that the caller has to do with, as it is stored.
    async fn stored(&self, caller: &Caller, id: RequestId) -> Result<MusicRequest, FindError> {
        let request = self.requests.request(id).await?.ok_or(FindError::NotFound)?;
        let whose = whose(&request, caller);
        caller.may(Action::ReadRequest, whose).map_err(|Denied| FindError::NotFound)?;
        Ok(request)
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

/// A request is the caller's own if they are either party.
pub(super) fn whose(request: &MusicRequest, caller: &Caller) -> Whose {
    match request.party(caller.user) {
        Party::Requester | Party::Dj => Whose::Own,
        Party::Stranger => Whose::Others,
    }
}
