//! What happens around every answer: its request id, its line in the log, its measurement, and the headers that all
//! answers have.

use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, HttpRequest, web};
use tracing::Instrument as _;
use uuid::Uuid;

use crate::app::App;
use crate::http::error::{ApiError, Code};

/// The header that carries a request id.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a request is called in the log and in its answer.
#[derive(Clone, Debug)]
struct RequestId(String);

/// The id of the request that is being answered.
#[must_use]
pub fn request_id(request: &HttpRequest) -> String {
    request.extensions().get::<RequestId>().map(|RequestId(id)| id.clone()).unwrap_or_default()
}

/// Answers a request within its span.
///
/// # Errors
/// Never as a bare error: what has no response gets one.
pub async fn observe<B: MessageBody + 'static>(
    app: web::Data<App>,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let id =
        own_id(request.headers()).unwrap_or_else(|| Uuid::from_u128(app.store.operation().0).to_string());
    request.extensions_mut().insert(RequestId(id.clone()));
    let method = known_method(request.method());
    let private = request.path().starts_with("/api/");
    let span = tracing::info_span!("request", request_id = %id, method);
    let began = Instant::now();
    async move {
        let answered = next.call(request).await;
        let (status, route) = match &answered {
            Ok(response) => (response.status(), response.request().match_pattern()),
            Err(error) => (error.as_response_error().status_code(), None),
        };
        record(method, route.as_deref().unwrap_or("unknown"), status, began);
        match answered {
            Ok(response) => {
                let mut response = enveloped(response.map_into_boxed_body(), &id);
                add_headers(response.headers_mut(), &id, private);
                Ok(response)
            }
            Err(error) => {
                let mut response = failure(status).respond(&id);
                add_headers(response.headers_mut(), &id, private);
                Err(InternalError::from_response(error, response).into())
            }
        }
    }
    .instrument(span)
    .await
}

/// The client's own request id, if it is 1 to 128 letters, digits, dots, underscores and hyphens.
fn own_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let fits = (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    fits.then(|| id.to_owned())
}

/// The method's name; one that no route has is called `OTHER`, so that clients cannot invent measurements.
fn known_method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "OTHER",
    }
}

fn record(method: &'static str, route: &str, status: StatusCode, began: Instant) {
    let took = began.elapsed();
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    tracing::info!(route, status = status.as_u16(), milliseconds, "answered");
    let labels =
        [("method", method.to_owned()), ("route", route.to_owned()), ("status", status.as_str().to_owned())];
    metrics::counter!("http_requests_total", &labels).increment(1);
    metrics::histogram!("http_request_duration_seconds", &labels).record(took);
}

fn add_headers(headers: &mut HeaderMap, id: &str, private: bool) {
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if private {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// A failure that the web server or a middleware answered in its own words gets the envelope of all failures.
fn enveloped(response: ServiceResponse, id: &str) -> ServiceResponse {
    let status = response.status();
    let failed = status.is_client_error() || status.is_server_error();
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !failed || is_json {
        return response;
    }
    let (request, _) = response.into_parts();
    ServiceResponse::new(request, failure(status).respond(id))
}

fn failure(status: StatusCode) -> ApiError {
    let code = Code::ALL.iter().copied().find(|code| code.status() == status && *code != Code::MalformedJson);
    let fallback = if status.is_client_error() { Code::BadRequest } else { Code::Internal };
    code.unwrap_or(fallback).into()
}
