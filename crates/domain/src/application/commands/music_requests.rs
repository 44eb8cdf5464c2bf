//! Commands about music requests.

use thiserror::Error;

use crate::application::error::{CommandError, Failure, InvalidTransition};
use crate::application::executor::{Command, Decide, Decided};
use crate::authorization::{Principal, permission};
use crate::ids::{RatingId, RequestId, UserId};
use crate::money::Money;
use crate::music_request::{
    Addressee, By, Move, MoveRefusal, MusicRequest, NewRequest, OpenRefusal, RequestRating, RequestStatus,
    Stars,
};
use crate::operation::{Rejection, plans};
use crate::text::Line;

/// Makes a request and holds its fee. If funds are insufficient, or the guest owes money, the guest's own overdue fees
/// are released first.
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
    /// The gig of the DJ has this many open requests, the maximum.
    #[error("{0} requests are open in the gig")]
    QueueFull(u32),
    /// Guest accounts have this many open requests in the gig of the DJ, their maximum.
    #[error("{0} requests of guest accounts are open in the gig")]
    QueueFullForGuests(u32),
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

impl Command for OpenRequest {
    type Permission = permission::OpenRequest;
    type Entity = ();
    type Input = NewRequest;
    type Output = MusicRequest;
    type Refusal = OpenRequestRefusal;

    fn id(&self) {}

    async fn decide(
        &self,
        Decide { env, metadata, principal, input: new, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        // Before the profile: if the gig ends between both reads, the DJ is offline in the second one. In the other order,
        // the request would belong to no gig, and the job would not find it.
        let gig = env.gigs.open_gig(new.dj).await?.map(|gig| gig.request_terms());
        let dj = env.people.profile(new.dj).await?.map(|profile| profile.user);
        let dj = dj.filter(|dj| dj.is_present());
        let blocks_guest = env.blocks.is_blocked(new.dj, principal.user).await?;
        let by_guest_account = principal.is_guest_account();
        let to = Addressee { user: dj.as_ref(), blocks_guest, gig, by_guest_account };
        let (id, terms) = (env.ids.next_request().await?, &env.terms.requests);
        plans::open_request(metadata, id, principal.user, to, new.clone(), terms)
            .map_err(CommandError::refused)
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
            Rejection::QueueFull(most) => CommandError::Refused(OpenRequestRefusal::QueueFull(most)),
            Rejection::QueueFullForGuests(most) => {
                CommandError::Refused(OpenRequestRefusal::QueueFullForGuests(most))
            }
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
