//! The table of error codes: each with its status, its stable name and its default message.

use actix_web::http::StatusCode;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:ident, $code:literal, $message:literal;)+) => {
        /// The machine-readable kind of a failure.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Code {
            $($(#[$doc])* $name,)+
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The HTTP status.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)+
                }
            }

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// The default message.
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
    /// The body is not valid JSON, or repeats a key.
    MalformedJson = BAD_REQUEST, "malformed_json", "The body is not valid JSON.";
    /// A header other than Authorization is invalid.
    BadRequest = BAD_REQUEST, "bad_request", "The request could not be understood.";
    /// The Authorization header is missing.
    Unauthenticated = UNAUTHORIZED, "unauthenticated", "Unauthenticated.";
    /// The Authorization header or its token is invalid.
    InvalidToken = UNAUTHORIZED, "invalid_token", "The token is invalid or has expired.";
    /// The credentials are wrong.
    InvalidCredentials = UNAUTHORIZED, "invalid_credentials", "These credentials do not match our records.";
    /// The principal may not perform this action on the object.
    Forbidden = FORBIDDEN, "forbidden", "This action is unauthorized.";
    /// The operation is reserved for staff.
    InsufficientScope = FORBIDDEN, "insufficient_scope", "This action is for operators or auditors.";
    /// The account is suspended.
    AccountSuspended = FORBIDDEN, "account_suspended", "This account is suspended.";
    /// The route or object does not exist, or is not visible to the principal.
    NotFound = NOT_FOUND, "not_found", "Not found.";
    /// The route does not support the method.
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method_not_allowed", "The method is not allowed here.";
    /// The client does not accept the media type of the answer.
    NotAcceptable = NOT_ACCEPTABLE, "not_acceptable", "This media type cannot be answered.";
    /// The head did not arrive in time.
    RequestTimeout = REQUEST_TIMEOUT, "request_timeout", "The request took too long to arrive.";
    /// The body is larger than 64 KiB.
    PayloadTooLarge = PAYLOAD_TOO_LARGE, "payload_too_large", "The body is larger than 64 KiB.";
    /// The media type of the body is not JSON.
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "The body must be application/json.";
    /// The current status of the object does not allow the transition.
    InvalidTransition = CONFLICT, "invalid_transition", "The current status does not allow this.";
    /// Repeated optimistic concurrency conflicts while the command was decided.
    Conflict = CONFLICT, "conflict", "Something else changed at the same time. Please try again.";
    /// The same command is still running.
    IdempotencyInFlight = CONFLICT, "idempotency_in_flight", "A request with this key is still running.";
    /// The owner of the withdrawal has to pay a debt first.
    WalletOwes = CONFLICT, "wallet_owes", "The wallet has to pay its debt before money can be withdrawn.";
    /// Events are still being delivered once more to the webhook endpoint.
    ReplayRunning = CONFLICT, "replay_running", "A replay is still running.";
    /// The webhook endpoint is paused or disabled.
    EndpointInactive = CONFLICT, "endpoint_inactive", "The webhook endpoint is paused or disabled.";
    /// The previous e-mail address can still be restored, so that there is no second change.
    EmailRestorable = CONFLICT, "email_restorable", "The previous e-mail address can still be restored.";
    /// The DJ accepts no requests now.
    DjOffline = CONFLICT, "dj_offline", "The DJ takes no requests right now.";
    /// Some events after the given position are no longer shown.
    EventsExpired = GONE, "events_expired", "Some events after this position are no longer shown.";
    /// The given position belongs to a lost commit.
    EventsLost = GONE, "events_lost", "Events up to this position were lost.";
    /// A field is missing or invalid, or the body is not an object.
    ValidationFailed = UNPROCESSABLE_ENTITY, "validation_failed", "The given data was invalid.";
    /// The available balance is too small.
    InsufficientFunds = UNPROCESSABLE_ENTITY, "insufficient_funds", "The available balance is too low.";
    /// The key was used with another body.
    IdempotencyKeyReused = UNPROCESSABLE_ENTITY, "idempotency_key_reused",
        "This key was used with another body.";
    /// The command would exceed a limit of the deployment.
    LimitExceeded = UNPROCESSABLE_ENTITY, "limit_exceeded", "This would exceed a limit.";
    /// Too many requests.
    RateLimited = TOO_MANY_REQUESTS, "rate_limited", "Too many requests.";
    /// The head exceeds the server's limit.
    HeadTooLarge = REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large",
        "The request line and the headers are too large or too many.";
    /// An internal error.
    Internal = INTERNAL_SERVER_ERROR, "internal", "Something went wrong on our side.";
    /// A dependency is unavailable.
    Unavailable = SERVICE_UNAVAILABLE, "unavailable", "The service is unavailable. Please try again shortly.";
}
