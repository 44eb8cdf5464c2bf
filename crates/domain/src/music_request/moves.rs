//! The state machine of a request, and the money that each transition moves.
//!
//! The OpenAPI document shows it as the life cycle of `MusicRequestStatus`. The fee is held at creation, released in
//! full if the song is not played, captured if it is, and returned by new entries if an operator refunds it.

use strum::VariantArray;

use crate::ledger::{Account, PlatformAccount, Transfer, TransferKind};
use crate::money::{Amount, Money};
use crate::music_request::{MusicRequest, RequestState, RequestStatus, RequestTerms};
use crate::timestamp::Timestamp;

/// A transition of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, VariantArray)]
pub enum Move {
    /// The DJ accepts it.
    Accept,
    /// The DJ rejects it.
    Reject,
    /// The DJ has played it.
    Play,
    /// The guest cancels it.
    Cancel,
    /// Its deadline passes.
    Expire,
    /// An operator refunds the fee.
    Refund,
}

/// The actor of a move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum By {
    /// The addressed DJ.
    Dj,
    /// The guest who made the request.
    Requester,
    Clock,
    Operator,
}

impl Move {
    /// Every move.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The only actor allowed to make it.
    #[must_use]
    pub const fn by(self) -> By {
        match self {
            Self::Accept | Self::Reject | Self::Play => By::Dj,
            Self::Cancel => By::Requester,
            Self::Expire => By::Clock,
            Self::Refund => By::Operator,
        }
    }

    /// The resulting status.
    #[must_use]
    pub const fn to(self) -> RequestStatus {
        match self {
            Self::Accept => RequestStatus::Accepted,
            Self::Reject => RequestStatus::Rejected,
            Self::Play => RequestStatus::Played,
            Self::Cancel => RequestStatus::Cancelled,
            Self::Expire => RequestStatus::Expired,
            Self::Refund => RequestStatus::Refunded,
        }
    }

    /// Whether it is refused once the gig of the request has ended: then the fee is only released.
    pub(crate) const fn is_refused_after_gig(self) -> bool {
        matches!(self, Self::Accept | Self::Play)
    }

    /// Whether a request with this status allows it.
    #[must_use]
    pub const fn starts_from(self, status: RequestStatus) -> bool {
        use RequestStatus::{Accepted, Pending, Played};
        match self {
            Self::Accept | Self::Cancel => matches!(status, Pending),
            Self::Reject | Self::Play | Self::Expire => matches!(status, Pending | Accepted),
            Self::Refund => matches!(status, Played),
        }
    }
}

/// The effect of a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// No change: the request is already in the target state.
    Unchanged,
    /// The request changes state, with its money.
    Moved(RequestMove),
}

/// A request's next state and the transfers that go with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestMove {
    /// The next state.
    pub to: RequestState,
    /// The transfers; none if the fee is zero.
    pub transfers: Vec<Transfer>,
}

/// Why a move is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveRefusal {
    /// The move is not allowed from the current state.
    InvalidTransition {
        current: RequestStatus,
        /// The statuses allowed next, for any actor, irrespective of deadlines.
        allowed: Vec<RequestStatus>,
    },
    /// The commission overflows, which no amount within the contract's limits causes.
    OutOfRange,
}

impl MoveRefusal {
    /// The refusal of a move of a request with this status because its gig has ended.
    #[must_use]
    pub fn gig_ended(current: RequestStatus) -> Self {
        refused(current).by_moves(|next| !next.is_refused_after_gig())
    }

    /// The same refusal, with only the statuses that this actor can set next.
    #[must_use]
    pub fn seen_by(self, by: By) -> Self {
        self.by_moves(|next| next.by() == by)
    }

    /// The same refusal, with only the statuses to which one of these moves leads.
    fn by_moves(self, is_possible: impl Fn(Move) -> bool) -> Self {
        match self {
            Self::InvalidTransition { current, mut allowed } => {
                allowed
                    .retain(|status| Move::ALL.iter().any(|next| is_possible(*next) && next.to() == *status));
                Self::InvalidTransition { current, allowed }
            }
            Self::OutOfRange => Self::OutOfRange,
        }
    }
}

/// Decides on a move at `now`. The caller has verified that the actor is [`Move::by`].
///
/// # Errors
/// [`MoveRefusal`]; a request past its deadline counts as expired, whatever is stored.
pub fn decide(
    request: &MusicRequest,
    to: Move,
    terms: &RequestTerms,
    now: Timestamp,
) -> Result<Decision, MoveRefusal> {
    let stored = request.state;
    let seen = stored.seen_at(now);
    if to == Move::Expire {
        return Ok(match seen {
            RequestState::Expired { .. } if stored != seen => {
                Decision::Moved(RequestMove { to: seen, transfers: release(request) })
            }
            _ => Decision::Unchanged,
        });
    }
    if seen.status() == to.to() {
        return Ok(Decision::Unchanged);
    }
    if !to.starts_from(seen.status()) {
        return Err(refused(seen.status()));
    }
    let (state, transfers) = match to {
        Move::Accept => (
            RequestState::Accepted { at: now, play_by: now.plus(terms.played_within(request.gig)) },
            Vec::new(),
        ),
        Move::Reject => (RequestState::Rejected { at: now, displaced: false }, release(request)),
        Move::Cancel => (RequestState::Cancelled { at: now }, release(request)),
        Move::Expire => (seen, release(request)),
        Move::Play => {
            let commission = request.fee.share(terms.commission).ok_or(MoveRefusal::OutOfRange)?;
            (RequestState::Played { at: now, commission }, capture(request, commission)?)
        }
        Move::Refund => match seen {
            RequestState::Played { commission, .. } => {
                (RequestState::Refunded { at: now, commission }, reverse(request, commission)?)
            }
            _ => return Err(refused(seen.status())),
        },
    };
    Ok(Decision::Moved(RequestMove { to: state, transfers }))
}

/// The refusal of a move from this status, with the statuses allowed next for any actor.
fn refused(current: RequestStatus) -> MoveRefusal {
    let allowed = Move::ALL
        .iter()
        .copied()
        .filter(|next| next.by() != By::Clock && next.starts_from(current))
        .map(Move::to)
        .collect();
    MoveRefusal::InvalidTransition { current, allowed }
}

fn transfer(debit: Account, credit: Account, amount: Money, kind: TransferKind) -> Option<Transfer> {
    Amount::new(amount).map(|amount| Transfer { debit, credit, amount, kind })
}

pub(super) fn release(request: &MusicRequest) -> Vec<Transfer> {
    let guest = request.requester;
    transfer(Account::Held(guest), Account::Available(guest), request.fee, TransferKind::Release)
        .into_iter()
        .collect()
}

/// The DJ receives the exact remainder after the commission.
pub(super) fn capture(request: &MusicRequest, commission: Money) -> Result<Vec<Transfer>, MoveRefusal> {
    let rest = request.fee.checked_sub(commission).ok_or(MoveRefusal::OutOfRange)?;
    let held = Account::Held(request.requester);
    let house = Account::Platform(PlatformAccount::Commission);
    let to_dj = transfer(held, Account::Available(request.dj), rest, TransferKind::Capture);
    let to_house = transfer(held, house, commission, TransferKind::Capture);
    Ok(to_dj.into_iter().chain(to_house).collect())
}

pub(super) fn reverse(request: &MusicRequest, commission: Money) -> Result<Vec<Transfer>, MoveRefusal> {
    let rest = request.fee.checked_sub(commission).ok_or(MoveRefusal::OutOfRange)?;
    let guest = Account::Available(request.requester);
    let house = Account::Platform(PlatformAccount::Commission);
    let from_dj = transfer(Account::Available(request.dj), guest, rest, TransferKind::Refund);
    let from_house = transfer(house, guest, commission, TransferKind::Refund);
    Ok(from_dj.into_iter().chain(from_house).collect())
}
