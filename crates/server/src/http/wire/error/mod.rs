//! Every failure that a client can see: what it is ([`Code`]), what goes with it, and what the domain's errors become.

mod code;

use std::borrow::Cow;

pub use code::Code;

use crate::http::wire::messages::Errors;

/// The `Retry-After`, in seconds, of a feature that the deployment has not configured.
const SECONDS_UNTIL_CONFIGURED: u32 = 3_600;
/// The `Retry-After`, in seconds, while the revocation list or the clock is unreliable.
const SECONDS_UNTIL_RELIABLE: u32 = 5;

/// Why something cannot move, as the answer's two more keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// Where it stands.
    pub current: &'static str,
    /// Where it could go instead, by whoever may move it there.
    pub allowed: Vec<&'static str>,
}

/// How often somebody may ask, as the headers of a 429.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quota {
    /// Calls of one window, which is a minute unless the contract says otherwise.
    pub limit: u32,
    /// Seconds until the next one is admitted.
    pub retry_after_seconds: u32,
}

/// The quota of an admitted request after it was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateLimitStatus {
    /// Requests of one minute.
    pub limit: u32,
    /// Requests that would be admitted now.
    pub remaining: u32,
}

/// A failure on its way to a client.
#[derive(Debug)]
pub struct ApiError {
    /// What it is.
    pub code: Code,
    /// What it says.
    pub message: Cow<'static, str>,
    /// What some failures have beside that.
    pub details: Box<Details>,
}

/// What only some failures have.
#[derive(Debug, Default)]
pub struct Details {
    /// The sentences of each wrong field.
    pub errors: Errors,
    /// Of an invalid transition, the states.
    pub transition: Option<Transition>,
    /// Of a rate limit, the quota.
    pub quota: Option<Quota>,
    /// Of a method that a route has not, those that it has.
    pub allow: Option<String>,
    /// In how many seconds the same request may be answered otherwise, where that takes longer than a moment.
    pub retry_after_seconds: Option<u32>,
    /// What the log says and no client sees.
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl From<Code> for ApiError {
    fn from(code: Code) -> Self {
        Self::with(code, Details::default())
    }
}

impl ApiError {
    /// What is said of a balance that cannot grow any more.
    pub const BALANCE_TOO_LARGE: &str = "A balance would be larger than any may be.";

    /// The message if no active operator would remain.
    pub const LAST_OPERATOR: &str = "This is the last active operator. Give somebody else the role first.";

    fn with(code: Code, details: Details) -> Self {
        Self { code, message: Cow::Borrowed(code.message()), details: Box::new(details) }
    }

    /// The failure with a more exact message.
    #[must_use]
    pub fn saying(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..Self::from(code) }
    }

    /// Something that this deployment does not do.
    #[must_use]
    pub fn not_here(message: &'static str) -> Self {
        Self::not_now(message, SECONDS_UNTIL_CONFIGURED)
    }

    /// A call that this deployment does not serve for so many seconds.
    #[must_use]
    pub fn not_now(message: &'static str, retry_after_seconds: u32) -> Self {
        let details = Details { retry_after_seconds: Some(retry_after_seconds), ..Details::default() };
        Self { message: message.into(), ..Self::with(Code::Unavailable, details) }
    }

    /// The failure that fields cause; as Laravel does, the first sentence is also the message.
    #[must_use]
    pub fn invalid(errors: Errors) -> Self {
        let code = Code::ValidationFailed;
        let message = errors.summary().map_or(Cow::Borrowed(code.message()), Cow::Owned);
        Self { message, ..Self::with(code, Details { errors, ..Details::default() }) }
    }

    /// A failure that one field causes, although its value is well formed.
    #[must_use]
    pub fn of_field(code: Code, field: &'static str, sentence: String) -> Self {
        Self::with(code, Details { errors: Errors::one(field, sentence), ..Details::default() })
    }

    /// A failure whose cause only the log sees.
    pub fn caused(code: Code, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::with(code, Details { cause: Some(cause.into()), ..Details::default() })
    }

    /// A failure that lasts until this server knows the revocation list, or the time, again.
    pub fn unreliable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let retry_after_seconds = Some(SECONDS_UNTIL_RELIABLE);
        Self::with(
            Code::Unavailable,
            Details { cause: Some(cause.into()), retry_after_seconds, ..Details::default() },
        )
    }

    /// A failure of ours.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::caused(Code::Internal, cause)
    }

    /// Too many requests.
    #[must_use]
    pub fn rate_limited(quota: Quota) -> Self {
        Self::with(Code::RateLimited, Details { quota: Some(quota), ..Details::default() })
    }

    /// A method that the route has not.
    #[must_use]
    pub fn method_not_allowed(allow: String) -> Self {
        Self::with(Code::MethodNotAllowed, Details { allow: Some(allow), ..Details::default() })
    }

    /// A move that does not start where the object stands.
    #[must_use]
    pub fn invalid_transition(transition: Transition) -> Self {
        Self::with(Code::InvalidTransition, Details { transition: Some(transition), ..Details::default() })
    }
}
