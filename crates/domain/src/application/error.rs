//! The errors of use cases: the refusals of each command, and a common set of failures.

use std::convert::Infallible;

use thiserror::Error;

use crate::authorization::{Action, DenialReason, Denied, Revocation};
use crate::entity_ref::EntityKind;
use crate::operation::Rejection;
use crate::ports::{ApplyError, HashingError, LongWorkRefusal, PrincipalRefusal, SigningError, Unavailable};

/// Why a command or another use case failed. `R` is its own refusal, `I` the error of reading its input.
#[derive(Debug, Error)]
pub enum CommandError<R, I = Infallible> {
    /// A rule of this use case refuses it.
    #[error(transparent)]
    Refused(R),
    /// The input is invalid. It was read after the entity was loaded and authorized.
    #[error("the input is invalid")]
    Input(I),
    /// A failure common to all use cases.
    #[error(transparent)]
    Failed(Failure),
}

/// The failures common to all use cases.
#[derive(Debug, Error)]
pub enum Failure {
    /// There is no such entity, or it is concealed from the principal.
    #[error("not found")]
    NotFound,
    /// The principal lacks the permission for this entity.
    #[error("permission denied")]
    Denied(Denied),
    /// The principal has no role for the action.
    #[error("the action is for another role")]
    WrongRole,
    /// The action is for members, and the principal is a guest account.
    #[error("the action is for members, and the principal is a guest account")]
    Unclaimed(Action),
    /// The principal's session ended, or the user is suspended.
    #[error(transparent)]
    Revoked(Revocation),
    /// The revocation list or the clock is currently unreliable.
    #[error("the revocation list or the clock is unreliable: {0}")]
    Unreliable(#[source] Unavailable),
    /// The principal no longer exists.
    #[error("the principal does not exist")]
    UnknownPrincipal,
    /// The idempotency key was used with another body.
    #[error("the idempotency key was used with another body")]
    KeyReused,
    /// A command with the same idempotency key was still running at the deadline.
    #[error("a command with this idempotency key is still running")]
    InFlight,
    /// The operator recently adjusted the wallet whose withdrawal they judge.
    #[error("the operator recently adjusted this wallet")]
    RecentAdjustment,
    /// The state changed between load and apply at every attempt.
    #[error("the state changed while the command was decided")]
    Conflict,
    /// A balance would exceed the largest amount.
    #[error("an amount would be out of range")]
    OutOfRange,
    /// The stored data are inconsistent, as named here.
    #[error("internal error: {0}")]
    Broken(&'static str),
    /// An access token could not be signed.
    #[error(transparent)]
    Signing(SigningError),
    /// This many passwords from the client's network are waiting to be hashed already.
    #[error("{0} passwords from the network are waiting to be hashed")]
    TooManyPasswords(u32),
    /// Too much long work of DJs, such as reports, waits for its turn.
    #[error("too much long work waits for its turn")]
    Busy,
    /// The storage or a provider cannot be reached.
    #[error(transparent)]
    Unavailable(Unavailable),
}

/// The status of an entity does not allow a move.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("invalid transition from {current}")]
pub struct InvalidTransition {
    /// The name of its status.
    pub current: &'static str,
    /// The names of the statuses to which this principal could change it now.
    pub allowed: Vec<&'static str>,
}

impl InvalidTransition {
    /// The refusal of a move from `current`.
    pub(super) fn new<S>(current: S, allowed: Vec<S>, name: fn(S) -> &'static str) -> Self {
        Self { current: name(current), allowed: allowed.into_iter().map(name).collect() }
    }
}

impl<R, I> CommandError<R, I> {
    /// Wraps a refusal.
    pub(super) fn refused(cause: impl Into<R>) -> Self {
        Self::Refused(cause.into())
    }
}

impl<R> CommandError<R> {
    /// Converts the error for a command whose input errors have type `I`.
    pub(super) fn with_input<I>(self) -> CommandError<R, I> {
        match self {
            Self::Refused(refusal) => CommandError::Refused(refusal),
            Self::Input(never) => match never {},
            Self::Failed(failure) => CommandError::Failed(failure),
        }
    }
}

impl<R, I, E: Into<Failure>> From<E> for CommandError<R, I> {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Denied> for Failure {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}

impl From<Unavailable> for Failure {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

impl Failure {
    /// The failure of a principal without a role for an action, before an entity is known.
    pub(super) const fn for_role(denied: Denied) -> Self {
        match denied.reason() {
            DenialReason::MembersOnly => Self::Unclaimed(denied.action),
            _ => Self::WrongRole,
        }
    }
}

impl From<HashingError> for Failure {
    fn from(error: HashingError) -> Self {
        match error {
            HashingError::TooManyWaiting(most) => Self::TooManyPasswords(most),
            HashingError::Unavailable(unavailable) => Self::Unavailable(unavailable),
        }
    }
}

impl From<LongWorkRefusal> for Failure {
    fn from(refusal: LongWorkRefusal) -> Self {
        match refusal {
            LongWorkRefusal::Busy => Self::Busy,
            LongWorkRefusal::Interrupted => Self::Unavailable(Unavailable::new(refusal)),
        }
    }
}

impl From<SigningError> for Failure {
    fn from(error: SigningError) -> Self {
        Self::Signing(error)
    }
}

impl From<PrincipalRefusal> for Failure {
    fn from(refusal: PrincipalRefusal) -> Self {
        match refusal {
            PrincipalRefusal::Revoked(revocation) => Self::Revoked(revocation),
            PrincipalRefusal::Unreliable(cause) => Self::Unreliable(cause),
        }
    }
}

impl From<ApplyError> for Failure {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Rejected(rejection) => rejection.into(),
            ApplyError::Unavailable(unavailable) => Self::Unavailable(unavailable),
        }
    }
}

/// The failure of a command without rejections of its own.
impl From<Rejection> for Failure {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::Stale => Self::Conflict,
            Rejection::NotAnOperator => Self::WrongRole,
            Rejection::KeyReused => Self::KeyReused,
            Rejection::RecentAdjustment => Self::RecentAdjustment,
            Rejection::OutOfRange => Self::OutOfRange,
            Rejection::NotFinalized => Self::Unavailable(Unavailable::new(
                "the upgrade is not finalized: stop all servers of earlier versions, then run `cuepoint finalize-upgrade`",
            )),
            Rejection::Missing(EntityKind::User | EntityKind::Wallet) => Self::UnknownPrincipal,
            Rejection::Missing(_) => Self::Broken("an entity is gone"),
            Rejection::Broken(what) => Self::Broken(what),
            Rejection::InsufficientFunds { .. } => {
                Self::Broken("funds were short where none leave a balance")
            }
            Rejection::GuestTopupLimit(_) => {
                Self::Broken("a limit of guest accounts was checked for no top-up")
            }
            Rejection::WalletOwes { .. } => Self::Broken("a debt was checked where none matters"),
            Rejection::Inactive => Self::Broken("another user was checked where none takes part"),
            Rejection::EmailUnverified => Self::Broken("an address was checked where none matters"),
            Rejection::LimitExceeded(_) => Self::Broken("a limit was passed where none applies"),
            Rejection::TooManyOpen(_) | Rejection::NoRoom(_) => {
                Self::Broken("requests were counted where none is made")
            }
            Rejection::GigOpen(_) => Self::Broken("an open gig was sought where none is opened"),
            Rejection::GigEnded(_) => Self::Broken("the end of a gig was checked where no DJ answers"),
            Rejection::LastOperator => Self::Broken("operators were counted where none is dismissed"),
            Rejection::Profile(_) => Self::Broken("a profile was refused where none changes"),
        }
    }
}
