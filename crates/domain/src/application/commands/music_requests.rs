//! Commands about music requests.

use futures_util::future::try_join;
use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure, InvalidTransition};
use crate::application::executor::{Command, Decide, Decided};
use crate::application::queries::addressee;
use crate::authorization::{Principal, permission};
use crate::gig::Gig;
use crate::ids::{RatingId, RequestId, UserId};
use crate::money::Money;
use crate::music_request::{
    Addressee, By, Move, MoveRefusal, MusicRequest, NewRequest, OpenRefusal, QueueRefusal, RequestRating,
    RequestStatus, Stars,
};
use crate::operation::{Rejection, plans};
use crate::ports::{GigRequests, Unavailable};
use crate::text::Line;
use crate::user::Standing;

/// Makes a request and holds its fee. In a full queue, a request with a fee takes the place of one without. If funds are
/// insufficient, or the guest owes money, the guest's own overdue fees are released first.
#[derive(Clone, Copy, Debug)]
pub struct OpenRequest;

/// Cancels a pending request, as its requester.
#[derive(Clone, Copy, Debug)]
pub struct CancelRequest {
    pub id: RequestId,
}

/// Accepts, rejects or plays a request, as its DJ.
#[derive(Clone, Copy, Debug)]
pub struct AnswerRequest {
    pub id: RequestId,
}

/// Refunds a played request, as an operator who is neither party.
#[derive(Clone, Copy, Debug)]
pub struct RefundRequest {
    pub id: RequestId,
}

/// Rates a played request, as its requester.
#[derive(Clone, Copy, Debug)]
pub struct RateRequest {
    pub id: RequestId,
}

/// A DJ's answer to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DjAnswer {
    /// It will be played.
    Accept,
    /// It will not be played.
    Reject,
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

/// Why a request is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OpenRequestRefusal {
    /// The rule of a new request refuses it.
    #[error(transparent)]
    Rule(#[from] OpenRefusal),
    /// The guest already has this number of open requests with the DJ, the maximum.
    #[error("{0} requests are open already")]
    TooManyOpen(u32),
    /// The queue of the gig of the DJ has no room.
    #[error(transparent)]
    NoRoom(#[from] QueueRefusal),
    /// The guest owes this amount, and the fee is not zero.
    #[error("the guest owes money")]
    WalletOwes(Money),
    /// The guest's balance is insufficient.
    #[error("insufficient funds")]
    InsufficientFunds,
}

impl From<MoveRefusal> for CommandError<InvalidTransition> {
    fn from(refusal: MoveRefusal) -> Self {
        match refusal {
            MoveRefusal::InvalidTransition { current, allowed } => {
                Self::Refused(InvalidTransition::new(current, allowed, RequestStatus::name))
            }
            MoveRefusal::OutOfRange => Self::Failed(Failure::OutOfRange),
        }
    }
}

fn decide_move<C: Command<Entity = MusicRequest, Refusal = InvalidTransition>>(
    Decide { env, metadata, entity: request, .. }: Decide<'_, C>,
    to: Move,
) -> Decided<C> {
    plans::move_request(metadata, request, to, &env.terms.requests)
        .map_err(|refusal| refusal.seen_by(to.by()).into())
}

/// The standing of the principal, which is stored with the request.
async fn standing(env: &Environment, principal: &Principal) -> Result<Standing, Unavailable> {
    if principal.is_guest_account() {
        return Ok(Standing::GuestAccount);
    }
    let facts = env.people.standing(principal.user).await?;
    Ok(facts.map_or(Standing::Unproven, Standing::of))
}

impl Command for OpenRequest {
    type Permission = permission::OpenRequest;
    type Entity = ();
    type Input = NewRequest;
    type Output = MusicRequest;
    type Refusal = OpenRequestRefusal;

    fn id(&self) {}

    async fn decide(
        &self,
        Decide { env, metadata, principal, input: new, displaces, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        let (open_gig, dj) = addressee(env, new.dj).await?;
        let gig = open_gig.as_ref().map(Gig::request_terms);
        let guest = principal.user;
        let is_blocked = env.blocks.is_blocked(new.dj, guest);
        let (blocks_guest, standing) = try_join(is_blocked, standing(env, principal)).await?;
        let to = Addressee { user: dj.as_ref(), blocks_guest, gig, guest: standing };
        let (id, terms) = (env.ids.next_request().await?, &env.terms.requests);
        let plan = plans::open_request(metadata, id, guest, to, new.clone(), terms)
            .map_err(CommandError::refused)?;
        let Some(gig) = open_gig.filter(|_| displaces) else { return Ok(plan) };
        let open = env.gigs.gig_requests(&gig, GigRequests::OpenInGig, gig.opened_at).await?;
        Ok(plans::displacing(plan, env.ids.operation(), open))
    }

    fn payer(&self, principal: &Principal, _: &NewRequest) -> Option<UserId> {
        Some(principal.user)
    }

    fn rejected(rejection: Rejection) -> CommandError<OpenRequestRefusal> {
        match rejection {
            Rejection::InsufficientFunds { .. } => {
                CommandError::Refused(OpenRequestRefusal::InsufficientFunds)
            }
            Rejection::WalletOwes { owed } => CommandError::Refused(OpenRequestRefusal::WalletOwes(owed)),
            Rejection::TooManyOpen(most) => CommandError::Refused(OpenRequestRefusal::TooManyOpen(most)),
            Rejection::NoRoom(refusal) => CommandError::Refused(OpenRequestRefusal::NoRoom(refusal)),
            other => Failure::from(other).into(),
        }
    }
}

impl Command for CancelRequest {
    type Permission = permission::CancelRequest;
    type Entity = MusicRequest;
    type Input = ();
    type Output = MusicRequest;
    type Refusal = InvalidTransition;

    fn id(&self) -> RequestId {
        self.id
    }

    async fn decide(&self, inputs: Decide<'_, Self>) -> Decided<Self> {
        decide_move(inputs, Move::Cancel)
    }
}

impl Command for RateRequest {
    type Permission = permission::RateRequest;
    type Entity = MusicRequest;
    type Input = Stars;
    type Output = RequestRating;
    type Refusal = InvalidTransition;

    fn id(&self) -> RequestId {
        self.id
    }

    async fn decide(
        &self,
        Decide { env, metadata, entity: request, input: stars, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        let earlier = env.ledger.stored(RatingId::of(request.id)).await?;
        plans::rate_request(metadata, request, earlier, *stars).map_err(CommandError::from)
    }
}

impl Command for AnswerRequest {
    type Permission = permission::AnswerRequest;
    type Entity = MusicRequest;
    type Input = DjAnswer;
    type Output = MusicRequest;
    type Refusal = InvalidTransition;

    fn id(&self) -> RequestId {
        self.id
    }

    async fn decide(&self, inputs: Decide<'_, Self>) -> Decided<Self> {
        let to = (*inputs.input).into();
        decide_move(inputs, to)
    }

    fn rejected(rejection: Rejection) -> CommandError<InvalidTransition> {
        match rejection {
            Rejection::GigEnded(current) => MoveRefusal::gig_ended(current).seen_by(By::Dj).into(),
            other => Failure::from(other).into(),
        }
    }
}

impl Command for RefundRequest {
    type Permission = permission::RefundRequest;
    type Entity = MusicRequest;
    /// The reason.
    type Input = Line;
    type Output = MusicRequest;
    type Refusal = InvalidTransition;

    fn id(&self) -> RequestId {
        self.id
    }

    async fn decide(&self, inputs: Decide<'_, Self>) -> Decided<Self> {
        decide_move(inputs, Move::Refund)
    }

    fn reason(reason: &Line) -> Option<&Line> {
        Some(reason)
    }
}
