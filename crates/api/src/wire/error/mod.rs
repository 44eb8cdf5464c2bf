//! API failures: the code ([`Code`]) and its details.

mod code;

use std::borrow::Cow;

use actix_web::http::StatusCode;
pub use code::Code;

use crate::wire::validation_texts::{Errors, FieldProblem};
use cuepoint_transport::deadline::DeadlinePassed;
use cuepoint_transport::rate_limits::Quota;
use cuepoint_views::wire::money::Number;

/// The `Retry-After`, in seconds, while the revocation list or the clock is unreliable.
const SECONDS_UNTIL_RELIABLE: u32 = 5;

/// The two keys of a rejected transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// The current status.
    pub current: &'static str,
    /// The statuses that the caller can set now.
    pub allowed: Vec<&'static str>,
}

/// A failure before it is sent.
#[derive(Debug)]
pub struct ApiError {
    pub code: Code,
    pub message: Cow<'static, str>,
    /// Details of some failures.
    pub details: Box<Details>,
}

/// Details that only some failures have.
#[derive(Debug, Default)]
pub struct Details {
    /// The validation messages of each invalid field.
    pub errors: Errors,
    /// The states of an invalid transition.
    pub transition: Option<Transition>,
    /// The quota of a rate limit.
    pub quota: Option<Quota>,
    /// The allowed methods of a route.
    pub allow: Option<String>,
    /// Seconds until a retry may succeed, if longer than the default.
    pub retry_after_seconds: Option<u32>,
    /// The oldest shown position.
    pub oldest: Option<i64>,
    /// The position after which a reader of a lost position continues.
    pub continue_after: Option<i64>,
    /// The gig that has not ended.
    pub gig: Option<i64>,
    /// The debt of a wallet.
    pub owed: Option<Number>,
    /// The cause, which is only logged.
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl From<DeadlinePassed> for ApiError {
    fn from(passed: DeadlinePassed) -> Self {
        Self::caused(Code::Unavailable, passed)
    }
}

impl From<Code> for ApiError {
    fn from(code: Code) -> Self {
        Self::with(code, Details::default())
    }
}

impl ApiError {
    /// The message for fields that only DJs have.
    pub const DJ_FIELDS: &str = "Only DJs can set online, fee_upcoming_artist and fee_popular_song.";

    /// The message for a balance that would exceed its maximum.
    pub const BALANCE_TOO_LARGE: &str = "This would exceed the largest possible balance.";

    /// The failure for a status of the web server.
    #[must_use]
    pub fn from_status(status: StatusCode) -> Self {
        let mut codes = Code::ALL.iter().copied();
        let code = codes.find(|code| code.status() == status && *code != Code::MalformedJson);
        let fallback = if status.is_client_error() { Code::BadRequest } else { Code::Internal };
        code.unwrap_or(fallback).into()
    }

    fn with(code: Code, details: Details) -> Self {
        Self { code, message: Cow::Borrowed(code.message()), details: Box::new(details) }
    }

    /// The failure with a more specific message.
    #[must_use]
    pub fn saying(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..Self::from(code) }
    }

    /// The failure of a call that this deployment does not serve for this many seconds.
    #[must_use]
    pub fn not_now(message: &'static str, retry_after_seconds: u32) -> Self {
        Self { message: message.into(), ..Self::after(Code::Unavailable, retry_after_seconds) }
    }

    /// A failure that lasts for this many seconds.
    #[must_use]
    pub fn after(code: Code, retry_after_seconds: u32) -> Self {
        let details = Details { retry_after_seconds: Some(retry_after_seconds), ..Details::default() };
        Self::with(code, details)
    }

    /// A failure of these fields; as in Laravel, the first validation message is also the message.
    #[must_use]
    pub fn invalid(errors: Errors) -> Self {
        let code = Code::ValidationFailed;
        let message = errors.summary().map_or(Cow::Borrowed(code.message()), Cow::Owned);
        Self { message, ..Self::with(code, Details { errors, ..Details::default() }) }
    }

    /// The result of reading fields, with further validation messages; a failure for another reason stays as it is.
    ///
    /// # Errors
    /// The failure of the read, or 422 with the messages.
    pub fn with_messages<T>(read: Result<T, Self>, messages: &Errors) -> Result<T, Self> {
        if messages.is_empty() {
            return read;
        }
        let mut errors = match read {
            Ok(_) => Errors::default(),
            Err(error) if error.code == Code::ValidationFailed => error.details.errors,
            Err(error) => return Err(error),
        };
        errors.merge(messages);
        Err(Self::invalid(errors))
    }

    /// A failure of one field whose value is well formed.
    #[must_use]
    pub fn of_field(code: Code, field: &'static str, problem: FieldProblem) -> Self {
        let errors = Errors::one(field, problem);
        let message = errors.summary().map_or(Cow::Borrowed(code.message()), Cow::Owned);
        Self { message, ..Self::with(code, Details { errors, ..Details::default() }) }
    }

    /// A failure whose cause is only logged.
    pub fn caused(code: Code, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::with(code, Details { cause: Some(cause.into()), ..Details::default() })
    }

    /// A failure that lasts until this server's revocation list and clock are reliable again.
    pub fn unreliable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let retry_after_seconds = Some(SECONDS_UNTIL_RELIABLE);
        Self::with(
            Code::Unavailable,
            Details { cause: Some(cause.into()), retry_after_seconds, ..Details::default() },
        )
    }

    /// An internal failure.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::caused(Code::Internal, cause)
    }

    /// Too many requests.
    #[must_use]
    pub fn rate_limited(quota: Quota) -> Self {
        Self::with(Code::RateLimited, Details { quota: Some(quota), ..Details::default() })
    }

    /// A method that the route does not support.
    #[must_use]
    pub fn method_not_allowed(allow: String) -> Self {
        Self::with(Code::MethodNotAllowed, Details { allow: Some(allow), ..Details::default() })
    }

    /// Events that are no longer shown, before the oldest position that is.
    #[must_use]
    pub fn events_expired(oldest: i64) -> Self {
        Self::with(Code::EventsExpired, Details { oldest: Some(oldest), ..Details::default() })
    }

    /// A position of a lost commit, and the position after which its reader continues.
    #[must_use]
    pub fn events_lost(continue_after: i64) -> Self {
        let details = Details { continue_after: Some(continue_after), ..Details::default() };
        Self::with(Code::EventsLost, details)
    }

    /// A withdrawal whose owner has to pay this debt first.
    #[must_use]
    pub fn wallet_owes(owed: Number) -> Self {
        Self::with(Code::WalletOwes, Details { owed: Some(owed), ..Details::default() })
    }

    /// A second gig while this one has not ended.
    #[must_use]
    pub fn gig_open(gig: i64) -> Self {
        Self::with(Code::GigOpen, Details { gig: Some(gig), ..Details::default() })
    }

    /// A transition that the current status does not allow.
    #[must_use]
    pub fn invalid_transition(transition: Transition) -> Self {
        Self::with(Code::InvalidTransition, Details { transition: Some(transition), ..Details::default() })
    }
}
