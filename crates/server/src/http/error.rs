//! Every failure that a client can see: one table of codes, and the one place where the domain's errors become them.

use std::borrow::Cow;

use actix_web::http::StatusCode;
use cuepoint_domain::address::{AddressError, DestinationRefusal};
use cuepoint_domain::money::Currency;
use cuepoint_domain::people::ProfileRefusal;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::service::{
    AddressedError, AdjustError, CancelWithdrawalError, ChangeProfileError, FindError, LoginError,
    MoveRequestError, Obstacle, OpenRequestError, OpenWithdrawalError, OperatorMoveError, RefreshError,
    RegisterError, ReplayError, TellError, TopupError,
};
use cuepoint_domain::withdrawal::Limit;

use crate::http::sentence::{self, Errors};
use crate::topups::NoTopups;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:ident, $code:literal, $message:literal;)+) => {
        /// What went wrong, as a machine reads it.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Code {
            $($(#[$doc])* $name,)+
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The status that it is answered with.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)+
                }
            }

            /// The name that clients may rely on.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// What it says unless something more exact is known.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self {
                    $(Self::$name => $message,)+
                }
            }
        }
    };
}

codes! {
    /// The body is no JSON, or names a key twice.
    MalformedJson = BAD_REQUEST, "malformed_json", "The body is not valid JSON.";
    /// A header other than Authorization is unusable.
    BadRequest = BAD_REQUEST, "bad_request", "The request could not be understood.";
    /// There is no Authorization header.
    Unauthenticated = UNAUTHORIZED, "unauthenticated", "Unauthenticated.";
    /// Something is wrong with the Authorization header or its token.
    InvalidToken = UNAUTHORIZED, "invalid_token", "The token is invalid or has expired.";
    /// The login is wrong.
    InvalidCredentials = UNAUTHORIZED, "invalid_credentials", "These credentials do not match our records.";
    /// The caller has the wrong part in it.
    Forbidden = FORBIDDEN, "forbidden", "This action is unauthorized.";
    /// Only operators may.
    InsufficientScope = FORBIDDEN, "insufficient_scope", "This action is for operators.";
    /// The account was suspended.
    AccountSuspended = FORBIDDEN, "account_suspended", "This account is suspended.";
    /// There is no such route or object, or it is none of the caller's business.
    NotFound = NOT_FOUND, "not_found", "Not found.";
    /// The route has no such method.
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method_not_allowed", "The method is not allowed here.";
    /// The client takes no JSON.
    NotAcceptable = NOT_ACCEPTABLE, "not_acceptable", "Only application/json can be answered.";
    /// The body is larger than 64 KiB.
    PayloadTooLarge = PAYLOAD_TOO_LARGE, "payload_too_large", "The body is larger than 64 KiB.";
    /// The body is not said to be JSON.
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "The body must be application/json.";
    /// The object does not stand where the move starts.
    InvalidTransition = CONFLICT, "invalid_transition", "The current status does not allow this.";
    /// The state kept moving while the command was decided.
    Conflict = CONFLICT, "conflict", "Something else changed at the same time. Please try again.";
    /// The same command is still running.
    IdempotencyInFlight = CONFLICT, "idempotency_in_flight", "A request with this key is still running.";
    /// The DJ takes no requests now.
    DjOffline = CONFLICT, "dj_offline", "The DJ takes no requests right now.";
    /// A field is missing or wrong, or the body is no object.
    ValidationFailed = UNPROCESSABLE_ENTITY, "validation_failed", "The given data was invalid.";
    /// The caller has not that much.
    InsufficientFunds = UNPROCESSABLE_ENTITY, "insufficient_funds", "The available balance is too low.";
    /// The key stands for another body.
    IdempotencyKeyReused = UNPROCESSABLE_ENTITY, "idempotency_key_reused",
        "This key was used with another body.";
    /// A withdrawal would pass a limit.
    LimitExceeded = UNPROCESSABLE_ENTITY, "limit_exceeded", "This would exceed a withdrawal limit.";
    /// Too many requests.
    RateLimited = TOO_MANY_REQUESTS, "rate_limited", "Too many requests.";
    /// Something went wrong inside.
    Internal = INTERNAL_SERVER_ERROR, "internal", "Something went wrong on our side.";
    /// Something outside cannot be reached.
    Unavailable = SERVICE_UNAVAILABLE, "unavailable", "The service is unavailable. Please try again shortly.";
}

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
    /// Requests of one window.
    pub limit: u32,
    /// Seconds until the next one is admitted.
    pub retry_after_seconds: u32,
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
        Self::saying(Code::Unavailable, message)
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

/// What an error of the domain is to a client.
///
/// Sums of money are printed in `currency`.
pub trait IntoApiError {
    /// The failure that a client sees.
    fn into_api_error(self, currency: &Currency) -> ApiError;
}

impl From<Unavailable> for ApiError {
    fn from(Unavailable(cause): Unavailable) -> Self {
        Self::caused(Code::Unavailable, cause)
    }
}

impl From<Obstacle> for ApiError {
    fn from(obstacle: Obstacle) -> Self {
        match obstacle {
            Obstacle::KeyReused => Code::IdempotencyKeyReused.into(),
            Obstacle::Conflict => Code::Conflict.into(),
            Obstacle::UnknownCaller => Code::InvalidToken.into(),
            Obstacle::OutOfRange => Self::saying(Code::LimitExceeded, Self::BALANCE_TOO_LARGE),
            Obstacle::Broken(what) => Self::internal(what),
            Obstacle::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<ReplayError> for ApiError {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::KeyReused => Code::IdempotencyKeyReused.into(),
            ReplayError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<RegisterError> for ApiError {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::EmailTaken => Self::invalid(Errors::one("email", sentence::taken("email"))),
            RegisterError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<LoginError> for ApiError {
    fn from(error: LoginError) -> Self {
        match error {
            LoginError::InvalidCredentials => Code::InvalidCredentials.into(),
            LoginError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<RefreshError> for ApiError {
    fn from(error: RefreshError) -> Self {
        match error {
            RefreshError::Refused => Code::InvalidToken.into(),
            RefreshError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<FindError> for ApiError {
    fn from(error: FindError) -> Self {
        match error {
            FindError::NotFound => Code::NotFound.into(),
            FindError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<AddressedError> for ApiError {
    fn from(error: AddressedError) -> Self {
        match error {
            AddressedError::NotFound => Code::NotFound.into(),
            AddressedError::Forbidden => Code::Forbidden.into(),
            AddressedError::Unavailable(unavailable) => unavailable.into(),
        }
    }
}

impl From<ChangeProfileError> for ApiError {
    fn from(error: ChangeProfileError) -> Self {
        let refusal = match error {
            ChangeProfileError::Refused(refusal) => refusal,
            ChangeProfileError::Obstacle(obstacle) => return obstacle.into(),
        };
        let errors = match refusal {
            ProfileRefusal::NotADj => return Code::Forbidden.into(),
            ProfileRefusal::LatitudeMissing => {
                Errors::one("latitude", sentence::required_with("latitude", "longitude"))
            }
            ProfileRefusal::LongitudeMissing => {
                Errors::one("longitude", sentence::required_with("longitude", "latitude"))
            }
            ProfileRefusal::OffTheMap => Errors::one("latitude", sentence::between("latitude", "-90", "90")),
        };
        Self::invalid(errors)
    }
}

impl IntoApiError for OpenRequestError {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::NoSuchDj => ApiError::invalid(Errors::one("dj_id", sentence::selected("dj_id"))),
            Self::FeeBelowPrice(price) => {
                let sentence = sentence::at_least("fee", &currency.print(price));
                ApiError::invalid(Errors::one("fee", sentence))
            }
            Self::DjOffline => Code::DjOffline.into(),
            Self::InsufficientFunds => {
                ApiError::of_field(Code::InsufficientFunds, "fee", sentence::funds("fee"))
            }
            Self::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<MoveRequestError> for ApiError {
    fn from(error: MoveRequestError) -> Self {
        match error {
            MoveRequestError::InvalidTransition { current, allowed } => {
                let allowed = allowed.into_iter().map(|status| status.name()).collect();
                Self::invalid_transition(Transition { current: current.name(), allowed })
            }
            MoveRequestError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<DestinationRefusal> for ApiError {
    fn from(refusal: DestinationRefusal) -> Self {
        let address = "wallet_address";
        Self::invalid(match refusal {
            DestinationRefusal::Currency => Errors::one("currency", sentence::selected("currency")),
            DestinationRefusal::Network => Errors::one("network", sentence::selected("network")),
            DestinationRefusal::Address(error) => {
                let sentence = match error {
                    AddressError::Malformed => sentence::format(address),
                    AddressError::OtherNetwork => sentence::other_network(address),
                    AddressError::TestNetwork => sentence::test_network(address),
                    AddressError::Ownerless => sentence::ownerless(address),
                };
                Errors::one(address, sentence)
            }
        })
    }
}

impl IntoApiError for OpenWithdrawalError {
    fn into_api_error(self, currency: &Currency) -> ApiError {
        match self {
            Self::Destination(refusal) => refusal.into(),
            Self::LimitExceeded(limit) => {
                let sentence = match limit {
                    Limit::Single(most) => sentence::at_most("amount", &currency.print(most.money())),
                    Limit::Rolling(window) => format!(
                        "No more than {} can be withdrawn within {} hours.",
                        currency.print(window.most.money()),
                        window.length.whole_hours()
                    ),
                };
                ApiError::of_field(Code::LimitExceeded, "amount", sentence)
            }
            Self::InsufficientFunds => {
                ApiError::of_field(Code::InsufficientFunds, "amount", sentence::funds("amount"))
            }
            Self::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<CancelWithdrawalError> for ApiError {
    fn from(error: CancelWithdrawalError) -> Self {
        match error {
            CancelWithdrawalError::InvalidTransition { current, allowed } => {
                let allowed = allowed.into_iter().map(|status| status.name()).collect();
                Self::invalid_transition(Transition { current: current.name(), allowed })
            }
            CancelWithdrawalError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<OperatorMoveError> for ApiError {
    fn from(error: OperatorMoveError) -> Self {
        match error {
            OperatorMoveError::OwnWithdrawal => Code::Forbidden.into(),
            OperatorMoveError::TxidMissing => Self::invalid(Errors::one("txid", sentence::required("txid"))),
            OperatorMoveError::InvalidTransition { current, allowed } => {
                let allowed = allowed.into_iter().map(|status| status.name()).collect();
                Self::invalid_transition(Transition { current: current.name(), allowed })
            }
            OperatorMoveError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<AdjustError> for ApiError {
    fn from(error: AdjustError) -> Self {
        match error {
            AdjustError::NoSuchUser => Self::invalid(Errors::one("user_id", sentence::selected("user_id"))),
            AdjustError::InsufficientFunds => {
                Self::of_field(Code::InsufficientFunds, "amount", sentence::funds("amount"))
            }
            AdjustError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<TellError> for ApiError {
    fn from(error: TellError) -> Self {
        match error {
            TellError::NotFound => Code::NotFound.into(),
            TellError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}

impl From<TopupError> for ApiError {
    fn from(error: TopupError) -> Self {
        match error {
            TopupError::Obstacle(Obstacle::Unavailable(Unavailable(cause))) if cause.is::<NoTopups>() => {
                Self::not_here("Top-ups are not available here.")
            }
            TopupError::Obstacle(obstacle) => obstacle.into(),
        }
    }
}
