//! The table of codes: each with its status, the name that clients may rely on, and what it says.

use actix_web::http::StatusCode;

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
    /// Only the staff may.
    InsufficientScope = FORBIDDEN, "insufficient_scope", "This action is for operators or auditors.";
    /// The account was suspended.
    AccountSuspended = FORBIDDEN, "account_suspended", "This account is suspended.";
    /// There is no such route or object, or it is none of the caller's business.
    NotFound = NOT_FOUND, "not_found", "Not found.";
    /// The route has no such method.
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method_not_allowed", "The method is not allowed here.";
    /// The client takes no JSON.
    NotAcceptable = NOT_ACCEPTABLE, "not_acceptable", "Only application/json can be answered.";
    /// The head did not arrive in time.
    RequestTimeout = REQUEST_TIMEOUT, "request_timeout", "The request took too long to arrive.";
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
    /// It would pass a limit of the deployment.
    LimitExceeded = UNPROCESSABLE_ENTITY, "limit_exceeded", "This would exceed a limit.";
    /// Too many requests.
    RateLimited = TOO_MANY_REQUESTS, "rate_limited", "Too many requests.";
    /// The head is larger than the server reads.
    HeadTooLarge = REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large",
        "The request line and the headers are too large or too many.";
    /// Something went wrong inside.
    Internal = INTERNAL_SERVER_ERROR, "internal", "Something went wrong on our side.";
    /// Something outside cannot be reached.
    Unavailable = SERVICE_UNAVAILABLE, "unavailable", "The service is unavailable. Please try again shortly.";
}
