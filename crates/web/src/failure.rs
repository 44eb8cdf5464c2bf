//! Why a page is not shown or a form has no effect, as a page with the same status.

use actix_web::http::StatusCode;
use cuepoint_adapters::security::password_queue::PATIENCE_SECONDS;
use cuepoint_domain::application::{CommandError, CreateGuestRefusal, Failure};
use cuepoint_domain::authorization::{DenialReason, Revocation};
use cuepoint_domain::ports::{HashingError, Unavailable};
use cuepoint_pages::error::Problem;
use cuepoint_transport::deadline::DeadlinePassed;
use cuepoint_transport::rate_limits::Quota;
use cuepoint_transport::request_body::BodyRefusal;
use cuepoint_transport::request_limits::{AttemptRefusal, CodeRefusal};

/// The `Retry-After` of a failure that lasts for an unknown time, in seconds.
const SECONDS_UNTIL_ANOTHER_ATTEMPT: u32 = 5;

/// Why a page is not shown.
#[derive(Debug)]
pub enum PageFailure {
    /// There is no such page, or the user may not know of it.
    NotFound,
    /// The user has no permission.
    NotAllowed,
    /// The user is suspended.
    Suspended,
    /// The page exists for another method alone.
    WrongMethod,
    /// A login is required.
    Login,
    /// The account has to be claimed first.
    Claim,
    /// The browser keeps as many wallets with money as its guest cookie holds.
    WalletsFull,
    /// The form was sent by another site.
    ForeignForm,
    /// Another change came first.
    Outdated,
    /// The body is too large.
    TooLarge,
    /// The body is no form, or did not arrive.
    NoForm,
    /// A rate limit was exceeded; seconds until another attempt.
    TooMany(u32),
    /// The store or another service does not answer.
    Unavailable {
        /// Whether the form may have taken effect.
        may_have_moved_money: bool,
    },
    /// A bug, with its cause for the log.
    Broken(String),
}

impl PageFailure {
    /// The status of the response.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAllowed | Self::Suspended | Self::Claim | Self::ForeignForm => StatusCode::FORBIDDEN,
            Self::Login => StatusCode::UNAUTHORIZED,
            Self::Outdated | Self::WalletsFull => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NoForm => StatusCode::BAD_REQUEST,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Seconds until another attempt may succeed.
    #[must_use]
    pub const fn retry_after_seconds(&self) -> Option<u32> {
        match self {
            Self::TooMany(seconds) => Some(*seconds),
            Self::Unavailable { .. } => Some(SECONDS_UNTIL_ANOTHER_ATTEMPT),
            _ => None,
        }
    }

    /// What the page says. Only a form can have moved money.
    #[must_use]
    pub const fn problem<'a>(&self, incident: &'a str, is_form: bool) -> Problem<'a> {
        match self {
            Self::NotFound | Self::WrongMethod => Problem::NotFound,
            Self::NotAllowed | Self::Claim | Self::Login => Problem::NotAllowed,
            Self::Suspended => Problem::Suspended,
            Self::ForeignForm => Problem::ForeignForm,
            Self::NoForm => Problem::NoForm,
            Self::Outdated | Self::WalletsFull => Problem::Outdated,
            Self::TooLarge => Problem::TooLarge,
            Self::TooMany(_) => Problem::TooMany,
            Self::Unavailable { may_have_moved_money } => {
                Problem::Unavailable { may_have_moved_money: is_form && *may_have_moved_money }
            }
            Self::Broken(_) => Problem::Broken { incident, may_have_moved_money: is_form },
        }
    }

    /// The failure of a look-up or another check that precedes every change.
    #[must_use]
    pub const fn before_change() -> Self {
        Self::Unavailable { may_have_moved_money: false }
    }

    /// An exhausted quota.
    #[must_use]
    pub const fn rate_limited(quota: Quota) -> Self {
        Self::TooMany(quota.retry_after_seconds)
    }
}

impl From<Failure> for PageFailure {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotFound => Self::NotFound,
            Failure::Denied(denied) => match denied.reason() {
                DenialReason::Concealed => Self::NotFound,
                DenialReason::MembersOnly => Self::Claim,
                DenialReason::DjsOnly
                | DenialReason::GuestOfRequestOnly
                | DenialReason::DjOfRequestOnly
                | DenialReason::OwnEntity
                | DenialReason::RoleMissing => Self::NotAllowed,
            },
            Failure::WrongRole | Failure::RecentAdjustment => Self::NotAllowed,
            Failure::Unclaimed(_) => Self::Claim,
            Failure::Revoked(revocation) => revocation.into(),
            Failure::UnknownPrincipal => Self::Login,
            Failure::Unreliable(_) => Self::before_change(),
            Failure::KeyReused | Failure::Conflict | Failure::OutOfRange => Self::Outdated,
            Failure::InFlight => Self::Unavailable { may_have_moved_money: true },
            Failure::Broken(what) => Self::Broken(what.to_owned()),
            Failure::Signing(error) => Self::Broken(error.to_string()),
            Failure::TooManyPasswords(_) => Self::TooMany(PATIENCE_SECONDS),
            Failure::Busy => Self::before_change(),
            Failure::Unavailable(Unavailable(cause)) => {
                tracing::warn!(%cause, "a page was not shown");
                Self::Unavailable { may_have_moved_money: true }
            }
        }
    }
}

/// A refusal that no page words in its own way.
impl<R: Into<Self>> From<CommandError<R>> for PageFailure {
    fn from(error: CommandError<R>) -> Self {
        match error {
            CommandError::Refused(refusal) => refusal.into(),
            CommandError::Input(never) => match never {},
            CommandError::Failed(failure) => failure.into(),
        }
    }
}

/// The result of a use case with refusals that the page words in its own way.
///
/// # Errors
/// Every other failure.
pub fn or_refusal<T, R>(done: Result<T, CommandError<R>>) -> Result<Result<T, R>, PageFailure> {
    match done {
        Ok(value) => Ok(Ok(value)),
        Err(CommandError::Refused(refusal)) => Ok(Err(refusal)),
        Err(CommandError::Input(never)) => match never {},
        Err(CommandError::Failed(failure)) => Err(failure.into()),
    }
}

impl From<CreateGuestRefusal> for PageFailure {
    fn from(refusal: CreateGuestRefusal) -> Self {
        match refusal {
            CreateGuestRefusal::KeyUsed => Self::Outdated,
            CreateGuestRefusal::NotYet => Self::before_change(),
        }
    }
}

impl From<Revocation> for PageFailure {
    fn from(revocation: Revocation) -> Self {
        match revocation {
            Revocation::SessionEnded => Self::Login,
            Revocation::Suspended => Self::Suspended,
        }
    }
}

impl From<Unavailable> for PageFailure {
    fn from(Unavailable(cause): Unavailable) -> Self {
        tracing::warn!(%cause, "a page was not shown");
        Self::before_change()
    }
}

impl From<DeadlinePassed> for PageFailure {
    fn from(_: DeadlinePassed) -> Self {
        Self::Unavailable { may_have_moved_money: true }
    }
}

impl From<BodyRefusal> for PageFailure {
    fn from(refusal: BodyRefusal) -> Self {
        match refusal {
            BodyRefusal::TooLarge => Self::TooLarge,
            BodyRefusal::TooSlow | BodyRefusal::Broken(_) => Self::NoForm,
        }
    }
}

impl From<AttemptRefusal> for PageFailure {
    fn from(refusal: AttemptRefusal) -> Self {
        match refusal {
            AttemptRefusal::Quota(quota) => Self::rate_limited(quota),
            AttemptRefusal::Queue(HashingError::TooManyWaiting(_)) => Self::TooMany(PATIENCE_SECONDS),
            AttemptRefusal::Queue(HashingError::Unavailable(unavailable))
            | AttemptRefusal::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<CodeRefusal<Failure>> for PageFailure {
    fn from(refusal: CodeRefusal<Failure>) -> Self {
        match refusal {
            CodeRefusal::Quota(quota) => Self::rate_limited(quota),
            CodeRefusal::Unknown => Self::NotFound,
            CodeRefusal::Failed(failure) => failure.into(),
        }
    }
}
