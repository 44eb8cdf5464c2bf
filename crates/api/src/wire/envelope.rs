//! The two envelopes: success with data, and failure with a code.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{HttpResponse, HttpResponseBuilder};
use futures_util::stream::LocalBoxStream;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::code_names::{ErrorCode, ValidationRule};
use crate::wire::error::{ApiError, Code};
use crate::wire::server_sent_events;
use crate::wire::validation_texts::{ErrorDetails, Errors};
use cuepoint_transport::rate_limits::RateLimitStatus;
use cuepoint_views::json_members;
use cuepoint_views::wire::money::Number;
use cuepoint_views::wire::names;
use cuepoint_views::wire::write_json::WriteJson;

/// The header of the repeated answer to a repeated command.
pub const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const RESOURCE: HeaderName = HeaderName::from_static("x-ratelimit-resource");
/// The `Retry-After` of transient failures, in seconds.
const RETRY_AFTER_SECONDS: u32 = 1;

/// A capacity that fits most bodies, in bytes: a page of 15 requests has six thousand.
const USUAL_BODY: usize = 8_192;

/// A success.
#[derive(Debug, Serialize, ToSchema)]
pub struct Success<T> {
    /// Always `ok`.
    #[schema(value_type = names::SuccessStatus)]
    status: &'static str,
    /// Message for debugging only.
    #[schema(example = "Done.")]
    message: &'static str,
    /// Data of the answer.
    data: T,
}

json_members!([<T: WriteJson>] Success<T> { status [], message [], data [] });

/// A success without a message.
#[derive(Debug, Serialize, ToSchema)]
pub struct BareSuccess<T> {
    /// Always `ok`.
    #[schema(value_type = names::SuccessStatus)]
    status: &'static str,
    /// Data of the answer.
    data: T,
}

json_members!([<T: WriteJson>] BareSuccess<T> { status [], data [] });

/// A failure.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Failure)]
pub struct FailureEnvelope<'a> {
    /// Always `error`.
    #[schema(value_type = names::FailureStatus)]
    status: &'static str,
    /// Code for programs.
    #[schema(value_type = ErrorCode)]
    code: &'static str,
    /// Message for people.
    #[schema(example = "The amount field is required.")]
    message: &'a str,
    /// With failures of fields: a list of messages for each field.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        value_type = Option<std::collections::BTreeMap<String, Vec<String>>>,
        nullable = false,
        example = json!({"amount": ["The amount field is required."]})
    )]
    errors: Option<&'a Errors>,
    /// With failures of fields: the field, the rule and the limit of each message, in the same order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<FieldDetail>>, nullable = false)]
    details: Option<ErrorDetails<'a>>,
    /// With `invalid_transition`: the current status of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "played")]
    current: Option<&'static str>,
    /// With `invalid_transition`: the statuses that the caller can set now, regardless of time limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!(["rejected"]))]
    allowed: Option<&'a [&'static str]>,
    /// With `events_expired`: the position of the oldest event that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1, example = 1200)]
    oldest: Option<i64>,
    /// With `events_lost`: the newest position before the loss. A client that continues after it misses no further
    /// event.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0, example = 1234)]
    continue_after: Option<i64>,
    /// With `gig_open`: the id of the gig that has not ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1, example = 5)]
    gig: Option<i64>,
    /// With `wallet_owes`: the debt of the owner, in major units of the wallet's currency.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, format = "decimal", nullable = false, example = 12.50)]
    owed: Option<&'a Number>,
    /// `X-Request-Id` of the answer.
    #[schema(example = "0192f7c1-8a3b-7c4d-9e5f-60718293a4b5")]
    request_id: &'a str,
}

/// A problem of a field, for programs.
#[derive(Debug, ToSchema)]
pub struct FieldDetail {
    /// Name of the field, as in `errors`.
    #[schema(example = "amount")]
    pub field: String,
    /// Rule that the value violates. Programs can translate the message by it.
    #[schema(value_type = ValidationRule, example = "min")]
    pub rule: String,
    /// Limit of the rule: a number, or a list of numbers or names; null for rules without a limit.
    #[schema(example = 1)]
    pub limit: Option<serde_json::Value>,
}

/// A success before it is sent, with the status and `Location` that its operation declares.
#[derive(Debug)]
pub struct ApiResponse {
    /// The id of the created object.
    created: Option<String>,
    replayed: bool,
    body: Body,
}

/// Chunks of a body; a failure aborts the connection, so that a partial body is never taken for the whole.
pub type BodyStream = LocalBoxStream<'static, Result<Bytes, Box<dyn std::error::Error>>>;

enum Body {
    Whole(Vec<u8>),
    Stream(BodyStream),
    EventStream(BodyStream),
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // The body may contain tokens.
            Self::Whole(body) => write!(f, "Whole({} bytes)", body.len()),
            Self::Stream(_) | Self::EventStream(_) => f.write_str("Stream"),
        }
    }
}

impl ApiResponse {
    /// This data with a message.
    ///
    /// # Errors
    /// [`Code::Internal`] when serialization fails.
    pub fn new<T: Serialize>(message: &'static str, data: T) -> Result<Self, ApiError> {
        Self::of(&Success { status: "ok", message, data })
    }

    /// This view with a message, in the same bytes as [`ApiResponse::new`], but written without serde.
    pub fn view<T: WriteJson + Serialize>(message: &'static str, data: T) -> Self {
        Self::written(&Success { status: "ok", message, data })
    }

    /// This view without a message.
    pub fn bare<T: WriteJson + Serialize>(data: T) -> Self {
        Self::written(&BareSuccess { status: "ok", data })
    }

    /// No body.
    #[must_use]
    pub const fn empty() -> Self {
        Self { created: None, replayed: false, body: Body::Whole(Vec::new()) }
    }

    /// A streamed body; the chunks form the whole envelope.
    #[must_use]
    pub fn streamed(stream: BodyStream) -> Self {
        Self { created: None, replayed: false, body: Body::Stream(stream) }
    }

    /// A body of server-sent events.
    #[must_use]
    pub fn event_stream(stream: BodyStream) -> Self {
        Self { created: None, replayed: false, body: Body::EventStream(stream) }
    }

    /// Adds the id of the created object.
    #[must_use]
    pub fn at(mut self, id: impl ToString) -> Self {
        self.created = Some(id.to_string());
        self
    }

    /// Marks the answer as a replay.
    #[must_use]
    pub fn replayed(mut self) -> Self {
        self.replayed = true;
        self
    }

    /// Whether there is no body.
    fn is_empty(&self) -> bool {
        matches!(&self.body, Body::Whole(body) if body.is_empty())
    }

    /// The answer as a response with this status, or 204 without a body; `Location` is the created object's address
    /// below `list`.
    #[must_use]
    pub fn respond(self, status: StatusCode, list: Option<&str>) -> HttpResponse {
        let mut response =
            if self.is_empty() { HttpResponse::build(StatusCode::NO_CONTENT) } else { json(status) };
        if let (Some(list), Some(id)) = (list, self.created) {
            response.insert_header((header::LOCATION, format!("{list}/{id}")));
        }
        if self.replayed {
            response.insert_header((REPLAYED, "true"));
        }
        match self.body {
            Body::Whole(body) => response.body(body),
            Body::Stream(stream) => response.streaming(stream),
            Body::EventStream(stream) => response
                .content_type(server_sent_events::MEDIA_TYPE)
                // Some reverse proxies would collect the events before they send them.
                .insert_header(("X-Accel-Buffering", "no"))
                .streaming(stream),
        }
    }

    fn of<T: Serialize>(envelope: &T) -> Result<Self, ApiError> {
        let mut body = Vec::with_capacity(USUAL_BODY);
        serde_json::to_writer(&mut body, envelope).map_err(ApiError::internal)?;
        Ok(Self { created: None, replayed: false, body: Body::Whole(body) })
    }

    fn written<T: WriteJson + Serialize>(envelope: &T) -> Self {
        let mut body = Vec::with_capacity(USUAL_BODY);
        envelope.write_json(&mut body);
        // So that every test over HTTP compares the two.
        debug_assert_eq!(
            serde_json::to_vec(envelope).ok().as_ref(),
            Some(&body),
            "a view differs from serde's"
        );
        Self { created: None, replayed: false, body: Body::Whole(body) }
    }
}

impl ApiError {
    /// The failure as a response; its cause is only logged.
    #[must_use]
    pub fn respond(self, request_id: &str) -> HttpResponse {
        let details = &self.details;
        if let Some(cause) = &details.cause {
            if self.code == Code::Internal {
                tracing::error!(error = cause.as_ref(), code = self.code.name(), "failed");
            } else {
                tracing::warn!(error = cause.as_ref(), code = self.code.name(), "failed");
            }
        }
        let mut response = json(self.code.status());
        response.insert_header((header::CACHE_CONTROL, "no-store"));
        let failure = FailureEnvelope {
            status: "error",
            code: self.code.name(),
            message: &self.message,
            errors: Some(&details.errors).filter(|errors| !errors.is_empty()),
            details: Some(details.errors.details()).filter(|_| !details.errors.is_empty()),
            current: details.transition.as_ref().map(|transition| transition.current),
            allowed: details.transition.as_ref().map(|transition| transition.allowed.as_slice()),
            oldest: details.oldest,
            continue_after: details.continue_after,
            gig: details.gig,
            owed: details.owed.as_ref(),
            request_id,
        };
        let body = serde_json::to_vec(&failure).unwrap_or_default();
        let mut response = response.body(body);
        self.add_headers(response.headers_mut());
        if self.code == Code::PayloadTooLarge {
            // The rest of the body is not read, so the connection cannot be reused.
            response.head_mut().set_connection_type(actix_web::http::ConnectionType::Close);
        }
        response
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        if let Some(challenge) = challenge(self.code) {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if let Some(allow) = self.details.allow.as_deref().and_then(|allow| HeaderValue::from_str(allow).ok())
        {
            headers.insert(header::ALLOW, allow);
        }
        if let Some(quota) = self.details.quota {
            headers.insert(header::RETRY_AFTER, quota.retry_after_seconds.into());
            show(quota.into(), headers);
        }
        let default = is_worth_trying_again(self.code).then_some(RETRY_AFTER_SECONDS);
        if let Some(seconds) = self.details.retry_after_seconds.or(default) {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
    }
}

/// Adds the state of the quota, unless the answer already reports an exhausted one.
pub fn show(status: RateLimitStatus, headers: &mut HeaderMap) {
    if !headers.contains_key(LIMIT) {
        headers.insert(LIMIT, status.limit.into());
        headers.insert(REMAINING, status.remaining.into());
        headers.insert(RESET, status.reset_seconds.into());
        headers.insert(RESOURCE, HeaderValue::from_static(status.resource));
    }
}

/// Whether a retry of the same request may succeed shortly.
const fn is_worth_trying_again(code: Code) -> bool {
    matches!(code, Code::Unavailable | Code::IdempotencyInFlight)
}

/// The `WWW-Authenticate` challenge of a 401 (RFC 6750, section 3).
const fn challenge(code: Code) -> Option<&'static str> {
    match code {
        Code::Unauthenticated
        | Code::InvalidCredentials
        | Code::InvalidRefreshToken
        | Code::InvalidSignature => Some(r#"Bearer realm="cuepoint""#),
        Code::InvalidToken => Some(
            r#"Bearer realm="cuepoint", error="invalid_token", error_description="The access token is invalid""#,
        ),
        Code::TokenExpired => Some(
            r#"Bearer realm="cuepoint", error="invalid_token", error_description="The access token has expired""#,
        ),
        Code::SessionEnded => Some(
            r#"Bearer realm="cuepoint", error="invalid_token", error_description="The session has ended""#,
        ),
        Code::InsufficientScope => Some(r#"Bearer realm="cuepoint", error="insufficient_scope""#),
        _ => None,
    }
}

fn json(status: StatusCode) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    response.insert_header((header::CONTENT_TYPE, HeaderValue::from_static("application/json")));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::error::Transition;
    use actix_web::body::to_bytes;
    use cuepoint_transport::rate_limits::Quota;
    use serde_json::{Value, json};

    async fn sent(response: HttpResponse) -> (HeaderMap, Value) {
        let headers = response.headers().clone();
        let body = to_bytes(response.into_body()).await.unwrap();
        (headers, serde_json::from_slice(&body).unwrap())
    }

    #[actix_web::test]
    async fn a_success_has_status_message_and_data() {
        let answer = ApiResponse::new("Done.", json!({"id": 1})).unwrap().at(1);
        let response = answer.replayed().respond(StatusCode::CREATED, Some("http://x"));
        assert_eq!(response.status(), StatusCode::CREATED);
        let (headers, body) = sent(response).await;
        assert_eq!(body, json!({"status": "ok", "message": "Done.", "data": {"id": 1}}));
        assert_eq!(headers.get("location").unwrap(), "http://x/1");
        assert_eq!(headers.get("idempotency-replayed").unwrap(), "true");
        assert_eq!(headers.get("content-type").unwrap(), "application/json");
    }

    #[actix_web::test]
    async fn a_view_is_written_in_its_envelope_as_compact_json() {
        let envelopes = [
            (
                ApiResponse::view("Done.", "a \"view\""),
                r#"{"status":"ok","message":"Done.","data":"a \"view\""}"#,
            ),
            (ApiResponse::bare(7_i64), r#"{"status":"ok","data":7}"#),
        ];
        for (answer, expected) in envelopes {
            let body = to_bytes(answer.respond(StatusCode::OK, None).into_body()).await.unwrap();
            assert_eq!(body, expected);
        }
    }

    #[actix_web::test]
    async fn a_failure_has_only_relevant_keys() {
        let (_, body) = sent(ApiError::from(Code::NotFound).respond("r1")).await;
        assert_eq!(
            body,
            json!({"status": "error", "code": "not_found", "message": "Not found.", "request_id": "r1"})
        );
        let moved = ApiError::invalid_transition(Transition { current: "played", allowed: vec![] });
        let (_, body) = sent(moved.respond("r1")).await;
        assert_eq!((&body["current"], &body["allowed"]), (&json!("played"), &json!([])));
    }

    #[actix_web::test]
    async fn internal_causes_never_reach_a_client() {
        let (_, body) = sent(ApiError::internal("the secret cause").respond("r1")).await;
        assert!(!body.to_string().contains("secret"));
    }

    #[actix_web::test]
    async fn error_codes_set_their_headers() {
        for code in Code::ALL.iter().copied() {
            let (headers, _) = sent(ApiError::from(code).respond("r1")).await;
            let unauthorized = code.status() == StatusCode::UNAUTHORIZED;
            assert!(!unauthorized || headers.contains_key("www-authenticate"), "{code:?}");
            let again = [Code::Unavailable, Code::IdempotencyInFlight].contains(&code);
            assert_eq!(headers.contains_key("retry-after"), again, "{code:?}");
        }
        let quota = Quota { resource: "x_per_hour", limit: 60, retry_after_seconds: 7, reset_seconds: 61 };
        let (headers, _) = sent(ApiError::rate_limited(quota).respond("r1")).await;
        assert_eq!(headers.get("retry-after").unwrap(), "7");
        assert_eq!(headers.get("x-ratelimit-limit").unwrap(), "60");
        assert_eq!(headers.get("x-ratelimit-remaining").unwrap(), "0");
        assert_eq!(headers.get("x-ratelimit-reset").unwrap(), "61");
        assert_eq!(headers.get("x-ratelimit-resource").unwrap(), "x_per_hour");
        let (headers, _) = sent(ApiError::method_not_allowed("GET, HEAD".to_owned()).respond("r1")).await;
        assert_eq!(headers.get("allow").unwrap(), "GET, HEAD");
    }
}
