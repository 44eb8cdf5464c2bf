//! Observation of every answer: its request id, log line and metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, HttpRequest, HttpResponse, web};
use cuepoint_adapters::networks::Networks;
use cuepoint_adapters::request_ids::new_request_id;

use crate::access_line::{AccessLine, Matched};
use crate::client_address;
use crate::connections::Connection;
use crate::request_gate::RequestGate;
use crate::response_framing::ResponseFraming;
pub use crate::response_headers::strict_transport_security;
use crate::response_headers::{REQUEST_ID, ResponseHeaders};
use crate::undrained_body::UndrainedBody;
use cuepoint_adapters::observability::logged_request::LoggedRequest;
use cuepoint_domain::ids::UserId;

/// The metrics label of methods without a route.
const OTHER_METHOD: &str = "OTHER";

/// The id of a request in the log and in its answer.
#[derive(Clone, Debug)]
struct RequestId(Arc<str>);

/// What the router found.
#[derive(Clone, Copy, Debug)]
struct Routed(Option<Matched>);

/// The authenticated user of a request.
#[derive(Clone, Copy, Debug)]
struct Authenticated(UserId);

/// What [`observe`] needs from the service.
#[derive(Clone, Debug)]
pub struct Observer {
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Networks,
    /// The value of `Strict-Transport-Security`; `None` sends no such header.
    pub transport_security: Option<HeaderValue>,
    /// Whether a path belongs to the documentation, whose page runs scripts.
    pub is_documentation: fn(&str) -> bool,
    /// The answer to a request that failed outside a handler, with its request id.
    pub failure: fn(StatusCode, &str) -> HttpResponse,
}

/// Records the route that a request matched, by its documented path and the declared path that the request matches.
pub fn matched(request: &HttpRequest, route: &'static str, declared: &'static str) {
    request.extensions_mut().insert(Routed(Some(Matched { route, declared })));
}

/// Records that no route matches a request.
pub fn unmatched(request: &HttpRequest) {
    request.extensions_mut().insert(Routed(None));
}

/// Records the authenticated user of a request.
pub fn authenticated(request: &HttpRequest, user: UserId) {
    request.extensions_mut().insert(Authenticated(user));
}

/// The id of the current request.
#[must_use]
pub fn request_id(request: &HttpRequest) -> String {
    request.extensions().get::<RequestId>().map(|RequestId(id)| id.to_string()).unwrap_or_default()
}

/// Answers a request. The log lines of the work for it name it.
///
/// # Errors
/// None: an error without a response becomes one.
pub async fn observe<B: MessageBody + 'static>(
    observer: web::Data<Observer>,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let id: Arc<str> = own_id(request.headers()).unwrap_or_else(new_id).into();
    request.extensions_mut().insert(RequestId(id.clone()));
    let method = known_method(request.method());
    let connection = request.conn_data::<Connection>().cloned();
    let _busy = connection.as_ref().map(Connection::busy);
    let gate = request.conn_data::<RequestGate>().cloned();
    if let Some(gate) = &gate {
        gate.begin(&request);
    }
    let framing = ResponseFraming::of(request.head());
    let undrained_body = UndrainedBody::of(&mut request);
    let client = client_address::find(request.head(), &observer.trusted_proxies);
    request.extensions_mut().insert(client);
    let headers = ResponseHeaders {
        request_id: id.clone(),
        is_documentation: (observer.is_documentation)(request.path()),
        transport_security: observer.transport_security.clone(),
    };
    let logged = LoggedRequest { id: id.clone(), method };
    let began = Instant::now();
    let answered = logged.scope(next.call(request)).await;
    let took = began.elapsed();
    let status = match &answered {
        Ok(response) => response.status(),
        Err(error) => error.as_response_error().status_code(),
    };
    let request = answered.as_ref().ok().map(ServiceResponse::request);
    let routed = request.and_then(|request| request.extensions().get::<Routed>().copied());
    let path = request.zip(routed).map(|(request, Routed(matched))| match matched {
        Some(_) => request.match_info().as_str(),
        None => request.uri().path(),
    });
    let user = request.and_then(|request| request.extensions().get::<Authenticated>().copied());
    AccessLine {
        id: &id,
        client: client.address,
        user: user.map(|Authenticated(user)| user.get()),
        method,
        matched: routed.and_then(|Routed(matched)| matched),
        path,
        status: status.as_u16(),
        took,
    }
    .record();
    let finish = |mut response: HttpResponse| {
        headers.add_to(response.headers_mut());
        let mut response = framing.apply(response);
        if let Some(gate) = gate {
            gate.end(framing.connection_after(&mut response));
        }
        match undrained_body {
            Some(undrained_body) => response.map_body(|_, answer| undrained_body.kept_by(answer)),
            None => response,
        }
    };
    match answered {
        Ok(response) => {
            let (request, response) = enveloped(&observer, response.map_into_boxed_body(), &id).into_parts();
            let response = ServiceResponse::new(request, finish(response));
            Ok(match connection {
                Some(connection) if response.response().body().size() == BodySize::Stream => {
                    response.map_body(|_, answer| connection.timed_by(answer))
                }
                Some(_) | None => response,
            })
        }
        Err(error) => {
            Err(InternalError::from_response(error, finish((observer.failure)(status, &id))).into())
        }
    }
}

impl Observer {
    /// The answer to a request that the web server's parser refused with this status. It has no request yet, nor
    /// a request id.
    pub(crate) fn refused(&self, status: StatusCode) -> HttpResponse {
        let id: Arc<str> = new_id().into();
        AccessLine {
            id: &id,
            client: None,
            user: None,
            method: OTHER_METHOD,
            matched: None,
            path: None,
            status: status.as_u16(),
            took: Duration::ZERO,
        }
        .record();
        let mut response = (self.failure)(status, &id);
        let transport_security = self.transport_security.clone();
        let headers = ResponseHeaders { request_id: id, is_documentation: false, transport_security };
        headers.add_to(response.headers_mut());
        response
    }
}

fn new_id() -> String {
    new_request_id().to_string()
}

/// The client's own request id, if it is 1 to 128 letters, digits, dots, underscores and hyphens.
fn own_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let fits = (1..=128).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    fits.then(|| id.to_owned())
}

/// The name of the method, or `OTHER` without a route for it, so that clients cannot create metric series.
fn known_method(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => OTHER_METHOD,
    }
}

/// Replaces the body of a failure from the web server or a middleware by the answer of [`Observer::failure`].
fn enveloped(observer: &Observer, response: ServiceResponse, id: &str) -> ServiceResponse {
    let status = response.status();
    let failed = status.is_client_error() || status.is_server_error();
    let is_handled = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| {
        [&b"application/json"[..], b"text/html"].iter().any(|own| kind.as_bytes().starts_with(own))
    });
    if !failed || is_handled {
        return response;
    }
    let (request, _) = response.into_parts();
    ServiceResponse::new(request, (observer.failure)(status, id))
}
