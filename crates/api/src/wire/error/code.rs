//! The table of error codes: each with its status, its stable name, its meaning and its default message. A code
//! stands for one thing that a client can do.

use actix_web::http::StatusCode;

use cuepoint_views::wire::schema::text_of;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $status:ident, $code:literal, $message:literal;)+) => {
        /// The machine-readable kind of a failure.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)+
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

            /// The situation, and what the client can do, for the documentation.
            #[must_use]
            pub fn meaning(self) -> String {
                match self {
                    $(Self::$name => text_of(&[$($doc),+]),)+
                }
            }
        }
    };
}

codes! {
    /// The body is not valid JSON, or has a duplicate key.
    MalformedJson = BAD_REQUEST, "malformed_json", "The body is not valid JSON.";
    /// A header other than Authorization is invalid, or the body did not arrive within
    /// `server.body_timeout_seconds`.
    BadRequest = BAD_REQUEST, "bad_request", "The request could not be understood.";
    /// The Authorization header, or a header of a signed message, is missing.
    Unauthenticated = UNAUTHORIZED, "unauthenticated", "Unauthenticated.";
    /// The Authorization header is malformed, or its token was not issued by this service. Refresh it once, then
    /// log in. If it is a personal access token, its owner creates a new one.
    InvalidToken = UNAUTHORIZED, "invalid_token", "The access token is invalid.";
    /// The access token has expired. Refresh it. If it is a personal access token, its owner creates a new one.
    TokenExpired = UNAUTHORIZED, "token_expired", "The access token has expired.";
    /// The session was ended, or the user was erased. Log in. If the token is a personal access token, its owner
    /// creates a new one.
    SessionEnded = UNAUTHORIZED, "session_ended", "The session has ended. Please log in again.";
    /// The refresh token is unknown, used or expired, or its session was ended. Log in.
    InvalidRefreshToken = UNAUTHORIZED, "invalid_refresh_token",
        "The refresh token cannot be used. Please log in again.";
    /// The e-mail address or the password is wrong.
    InvalidCredentials = UNAUTHORIZED, "invalid_credentials", "These credentials do not match our records.";
    /// The signature of a provider's message is wrong or too old.
    InvalidSignature = UNAUTHORIZED, "invalid_signature", "The signature is wrong or too old.";
    /// Only DJs can do this.
    DjOnly = FORBIDDEN, "dj_only", "Only DJs can do this.";
    /// The guest of a request cannot answer it, and its DJ cannot cancel or rate it.
    NotYourRequest = FORBIDDEN, "not_your_request", "Only the other party to this request can do this.";
    /// Operators cannot decide about themselves and their own wallet, withdrawals, top-ups and requests. Another
    /// operator can. A DJ cannot give a tip to themselves.
    OwnAccount = FORBIDDEN, "own_account", "You cannot do this for your own account. Ask another operator.";
    /// An operator who adjusted a wallet cannot approve, reject or fail its owner's withdrawals for 30 days. Another
    /// operator can.
    RecentAdjustment = FORBIDDEN, "recent_adjustment", "You adjusted this balance recently. Ask another operator.";
    /// Withdrawals require a verified e-mail address. `POST /api/v1/auth/email/code` sends a code, and
    /// `POST /api/v1/auth/email/verify` verifies the address.
    EmailUnverified = FORBIDDEN, "email_unverified", "Verify your e-mail address first.";
    /// Only members can do this. The caller is a guest account: `POST /api/v1/auth/claim` makes it a member.
    ClaimRequired = FORBIDDEN, "claim_required", "Add an e-mail address and a password to your account first.";
    /// The DJ has blocked the guest, and accepts neither requests nor tips.
    Blocked = FORBIDDEN, "blocked", "This DJ isn't accepting your requests.";
    /// Only operators, or operators and auditors, can do this. For a personal access token: its scopes do not allow it.
    InsufficientScope = FORBIDDEN, "insufficient_scope", "Your role or your token does not allow this.";
    /// The user is suspended.
    AccountSuspended = FORBIDDEN, "account_suspended", "This account is suspended.";
    /// The route or object does not exist, or **the object is unrelated to the caller**. Also for an id that is not a
    /// positive integer, and for operator routes outside `access.operator_networks`.
    NotFound = NOT_FOUND, "not_found", "Not found.";
    /// The route does not support the method. `Allow` lists the supported ones.
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method_not_allowed", "The method is not allowed here.";
    /// The client does not accept the media type of the answer.
    NotAcceptable = NOT_ACCEPTABLE, "not_acceptable", "Only application/json is available.";
    /// The request line and headers did not arrive within `server.head_timeout_seconds`.
    RequestTimeout = REQUEST_TIMEOUT, "request_timeout", "The request took too long to arrive.";
    /// The body is larger than 64 KiB.
    PayloadTooLarge = PAYLOAD_TOO_LARGE, "payload_too_large", "The body is larger than 64 KiB.";
    /// The body is not declared as JSON.
    UnsupportedMediaType = UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", "The body must be application/json.";
    /// The status does not allow the transition. `current` is the current status, and `allowed` has the statuses that
    /// the caller can set now.
    InvalidTransition = CONFLICT, "invalid_transition", "The current status does not allow this.";
    /// Another gig of the DJ has not ended. `gig` is its id.
    GigOpen = CONFLICT, "gig_open", "Another gig has not ended.";
    /// The state kept changing during the request, or the service does not know the status of an object. Try again.
    Conflict = CONFLICT, "conflict", "Something else changed at the same time. Please try again.";
    /// A request with the same Idempotency-Key is still running.
    IdempotencyInFlight = CONFLICT, "idempotency_in_flight", "A request with this Idempotency-Key is still running.";
    /// The owner of the wallet has to pay a debt first. `owed` is its amount.
    WalletOwes = CONFLICT, "wallet_owes", "The wallet's debt must be paid before its money can be used.";
    /// The user cannot be erased while a balance is available, held or owed.
    WalletNotEmpty = CONFLICT, "wallet_not_empty", "Empty the wallet and pay any debt first.";
    /// The user cannot be erased while a recent top-up is pending.
    TopupPending = CONFLICT, "topup_pending", "A top-up is pending. Its money may still arrive.";
    /// No active operator would remain.
    LastOperator = CONFLICT, "last_operator",
        "This is the last active operator. Give somebody else the role first.";
    /// An operator has already resolved the message, or settled the money in suspense.
    AlreadySettled = CONFLICT, "already_settled", "This has already been settled.";
    /// A replay to the webhook endpoint is still running.
    ReplayRunning = CONFLICT, "replay_running", "A replay is still running.";
    /// A test of the webhook endpoint is still running.
    TestRunning = CONFLICT, "test_running", "A test of this webhook endpoint is still running.";
    /// The webhook endpoint is paused or disabled.
    EndpointInactive = CONFLICT, "endpoint_inactive", "The webhook endpoint is paused or disabled.";
    /// The previous e-mail address can still be restored. Until then, the address cannot be changed again, nor the
    /// user be erased. The message names the time.
    EmailRestorable = CONFLICT, "email_restorable", "The previous e-mail address can still be restored.";
    /// The secret of the webhook endpoint was lost. Rotate it.
    SecretLost = CONFLICT, "secret_lost", "The secret of this webhook endpoint was lost. Rotate it first.";
    /// Another operator has taken over the webhook endpoint that was created with this Idempotency-Key.
    EndpointTaken = CONFLICT, "endpoint_taken",
        "Another operator has taken over the webhook endpoint that was created with this Idempotency-Key.";
    /// The DJ does not accept requests now.
    DjOffline = CONFLICT, "dj_offline", "The DJ isn't taking requests right now.";
    /// The events after the given position are no longer shown. `oldest` is the position of the oldest event that is.
    EventsExpired = GONE, "events_expired", "Some events after this position are no longer available.";
    /// A restore or a failover lost the event at the given position. Reload the state, and continue at `head`.
    /// `continue_after` is the newest position before the loss.
    EventsLost = GONE, "events_lost", "Events up to this position were lost.";
    /// A field is missing, invalid or prohibited, a query parameter is invalid, unknown or repeated, or the body is
    /// not an object. `errors` and `details` list the fields.
    ValidationFailed = UNPROCESSABLE_ENTITY, "validation_failed", "The given data was invalid.";
    /// The available balance is too low.
    InsufficientFunds = UNPROCESSABLE_ENTITY, "insufficient_funds", "The available balance is too low.";
    /// The payment provider refused the top-up. Another attempt needs another Idempotency-Key.
    TopupRefused = UNPROCESSABLE_ENTITY, "topup_refused", "The payment provider refused the top-up.";
    /// The Idempotency-Key was used with another body.
    IdempotencyKeyReused = UNPROCESSABLE_ENTITY, "idempotency_key_reused",
        "This Idempotency-Key was used with a different body.";
    /// A limit of the deployment would be exceeded. The message names it.
    LimitExceeded = UNPROCESSABLE_ENTITY, "limit_exceeded", "This would exceed a limit of the deployment.";
    /// Too many requests, failed logins, codes or waiting passwords. Wait for the time in `Retry-After`.
    RateLimited = TOO_MANY_REQUESTS, "rate_limited", "Too many requests.";
    /// The user has the maximum number of open streams at this server. Close one.
    TooManyStreams = TOO_MANY_REQUESTS, "too_many_streams",
        "This account already has the maximum number of open event streams.";
    /// The request line and headers are too large or too many.
    HeadTooLarge = REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large",
        "The request line or headers are too large, or there are too many headers.";
    /// An error of the service.
    Internal = INTERNAL_SERVER_ERROR, "internal", "Something went wrong on our side.";
    /// The deployment does not offer this: top-ups, e-mail or messages to phones. Do not try again.
    NotConfigured = NOT_IMPLEMENTED, "not_configured", "This deployment does not offer this feature.";
    /// The service cannot do this now. Try again after the time in `Retry-After`, with the same Idempotency-Key: the
    /// request may have been applied.
    Unavailable = SERVICE_UNAVAILABLE, "unavailable", "The service is unavailable. Please try again shortly.";
}
