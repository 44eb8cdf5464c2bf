//! The checks of a request before its handler, in the order of the contract.
//!
//! The router matches path, method and network. The pipeline then checks token, staff role, rate limit,
//! headers, size, media type, JSON and the form of the idempotency key; a provider's signature is verified
//! over the body, after its size. The handler and the executor check the rest: key, id and entity, ownership,
//! fields, rate limit of an account, state, limits, funds.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use actix_web::web::{Bytes, BytesMut, Payload};
use actix_web::{HttpMessage as _, HttpRequest, rt};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ledger::{Fingerprint, IdempotencyKey, KeyScope};
use cuepoint_domain::ports::Clock as _;
use cuepoint_domain::text::Line;
use futures_util::StreamExt as _;
use tracing::Instrument as _;

use crate::adapters::security::authentication::Authentication;
use crate::adapters::webhooks::SignedMessage;
use crate::app::App;
use crate::http::call::ApiCall;
use crate::http::reliance::ensure_reliable;
use crate::http::route::{Access, Body, Endpoint, Provider, Route};
use crate::http::transport::client_address::{client, client_address};
use crate::http::transport::deadline::RequestDeadline;
use crate::http::transport::rate_limits::{Class, RateLimitSubject};
use crate::http::wire::envelope::ApiResponse;
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::headers::{self, Signature};
use crate::http::wire::json::{BodyError, Object};
use crate::http::wire::query::Query;

/// The largest body, in bytes.
const MAX_BODY: usize = 64 * 1024;

/// Takes a call through all checks to its handler.
///
/// # Errors
/// The first check that fails.
pub async fn answer(
    route: &Rc<Route>,
    app: &Arc<App>,
    request: &HttpRequest,
    payload: Payload,
) -> Result<ApiResponse, ApiError> {
    let principal = admit(route, app, request).await?;
    let received = receive(route, app, request, payload, principal.as_ref()).await;
    let (key, body) = received.or_else(|refused| {
        // Only messages that fail verification are counted, so that genuine ones are never delayed.
        if matches!(route.access, Access::Provider(_)) {
            count(route.class, address(request), app, request)?;
        }
        Err(refused)
    })?;
    let deadline = RequestDeadline::of_request_read_now();
    let principal = principal.map(|principal| still_admitted(route, app, principal)).transpose()?;
    let call = ApiCall {
        app: Arc::clone(app),
        query: Query::parse(request.query_string()),
        request: request.clone(),
        path: route.path,
        deadline,
        id: request.match_info().get("id").map(str::to_owned),
        body: parse(route.body, request, &body)?,
        key: key.map(|scope| IdempotencyKey { scope, fingerprint: Fingerprint::of(&body) }),
    };
    let handling = handle(Rc::clone(route), call, principal);
    if route.method == Method::GET {
        return deadline.bound(handling).await;
    }
    // A separate task, since a started command runs to its end even if the client disconnects or the deadline
    // passes, and keeps its key in flight until then.
    let handled = rt::spawn(handling.in_current_span());
    deadline.bound(async { handled.await.map_err(ApiError::internal)? }).await
}

/// Calls the handler.
async fn handle(
    route: Rc<Route>,
    call: ApiCall,
    principal: Option<Principal>,
) -> Result<ApiResponse, ApiError> {
    match (&route.endpoint, principal) {
        (Endpoint::Open(run), _) => run(call).await,
        (Endpoint::Authenticated(run) | Endpoint::Command(run), Some(principal)) => {
            run(call, principal).await
        }
        (Endpoint::Authenticated(_) | Endpoint::Command(_), None) => Err(Code::Unauthenticated.into()),
        (Endpoint::Plain(_), _) => Err(ApiError::internal("a plain route is answered by the router")),
    }
}

/// Authenticates a request and counts it against the rate limit of its principal, or of its client address
/// without a valid token or role, so that tokens cannot be guessed without limit.
async fn admit(route: &Route, app: &App, request: &HttpRequest) -> Result<Option<Principal>, ApiError> {
    if matches!(route.access, Access::Provider(_)) {
        return Ok(None);
    }
    let mut principal = authenticate(route.access, app, request);
    let known = principal.as_ref().ok().copied().flatten();
    let denied = known.filter(|known| !has_role(route.access, known));
    if denied.is_some() {
        principal = Err(Code::InsufficientScope.into());
    }
    let subject = known.filter(|_| principal.is_ok()).map(|known| RateLimitSubject::Principal(known.user));
    // A rejected token does not use up the quota of a class of routes.
    let class = if principal.is_ok() { route.class } else { Class::Other };
    count(class, subject.unwrap_or_else(|| address(request)), app, request)?;
    if let Some(denied) = denied {
        record_denied(route, app, &denied, request).await;
    }
    let principal = principal?;
    ensure_reliable(route, app)?;
    Ok(principal)
}

/// Counts a request, and keeps the rate limit status for the response headers.
fn count(class: Class, subject: RateLimitSubject, app: &App, request: &HttpRequest) -> Result<(), ApiError> {
    if let Some(status) = app.limits.admit(class, subject).map_err(ApiError::rate_limited)? {
        request.extensions_mut().insert(status);
    }
    Ok(())
}

fn address(request: &HttpRequest) -> RateLimitSubject {
    RateLimitSubject::address(client_address(request).address)
}

/// The principal of the access token with their current role, if the route requires a token.
fn authenticate(access: Access, app: &App, request: &HttpRequest) -> Result<Option<Principal>, ApiError> {
    let Access::Principal(_) = access else { return Ok(None) };
    let token = headers::bearer(request.headers())?;
    let Authentication { tokens, revocations, clock, .. } = &app.authentication;
    let verified = tokens.verify(token, revocations.epoch(), clock.now());
    let principal = verified.map_err(|_| Code::InvalidToken)?;
    Ok(Some(revocations.check(principal)?))
}

/// Whether the principal's role allows the action of a staff route; checked before any lookup.
fn has_role(access: Access, principal: &Principal) -> bool {
    match access {
        Access::Principal(action) => !action.is_for_staff() || principal.has_role_for(action).is_ok(),
        Access::Open | Access::Provider(_) => true,
    }
}

/// Records a denied request to a staff route in the security log.
async fn record_denied(route: &Route, app: &App, principal: &Principal, request: &HttpRequest) {
    let operation = Line::from_stored(format!("{} {}", route.method, route.path));
    app.services.security_log.record_denied(principal, operation, client(request)).await;
}

/// Rechecks the principal after a possibly slow read of the body: not revoked, and with their current role.
fn still_admitted(route: &Route, app: &App, principal: Principal) -> Result<Principal, ApiError> {
    let principal = app.authentication.revocations.check(principal)?;
    if !has_role(route.access, &principal) {
        return Err(Code::InsufficientScope.into());
    }
    ensure_reliable(route, app)?;
    Ok(principal)
}

/// The idempotency key, the body and a provider's signature, once the headers are valid and the body is
/// complete.
async fn receive(
    route: &Route,
    app: &App,
    request: &HttpRequest,
    payload: Payload,
    principal: Option<&Principal>,
) -> Result<(Option<KeyScope>, Bytes), ApiError> {
    let signature = match route.access {
        Access::Provider(by) => Some((by, headers::signature(request.headers())?)),
        Access::Open | Access::Principal(_) => None,
    };
    headers::accepts_json(request)?;
    let key = match (&route.endpoint, principal) {
        (Endpoint::Command(_), Some(principal)) => headers::idempotency_key(request.headers())?.map(|key| {
            KeyScope::of(principal.user, route.method.as_str(), request.match_info().as_str(), key)
        }),
        _ => None,
    };
    let body = tokio::time::timeout(app.settings.body_timeout, read(route.body, request, payload));
    let body = body.await.map_err(|_| ApiError::saying(Code::BadRequest, "The body took too long."))??;
    if let Some((by, signature)) = signature {
        verify(by, app, &signature, &body)?;
        ensure_reliable(route, app)?;
    }
    Ok((key, body))
}

/// Verifies that the provider signed this body recently.
fn verify(by: Provider, app: &App, signature: &Signature<'_>, body: &[u8]) -> Result<(), ApiError> {
    let secrets = match by {
        Provider::Topups => &app.secrets.topups,
        Provider::Payouts => &app.secrets.payouts,
    };
    let Signature { id, timestamp, signatures } = *signature;
    let message = SignedMessage { id, timestamp, signatures, body };
    let sent = secrets.verify(message, app.authentication.clock.now());
    sent.then_some(())
        .ok_or_else(|| ApiError::saying(Code::InvalidToken, "The signature is wrong or too old."))
}

/// Reads the body up to the size limit. A declared length over the limit is rejected before any byte is read.
async fn read(takes: Body, request: &HttpRequest, mut payload: Payload) -> Result<Bytes, ApiError> {
    if takes == Body::None {
        return Ok(Bytes::new());
    }
    let declared = declared_length(request.headers());
    if declared.is_some_and(|length| length > MAX_BODY) {
        return Err(Code::PayloadTooLarge.into());
    }
    let ends_at = headers::wants_web_socket(request.headers()).then(|| declared.unwrap_or(0));
    let mut body = BytesMut::new();
    while ends_at.is_none_or(|end| body.len() < end)
        && let Some(chunk) = payload.next().await
    {
        let chunk = chunk.map_err(|error| ApiError::caused(Code::BadRequest, error.to_string()))?;
        if body.len().saturating_add(chunk.len()) > MAX_BODY {
            return Err(Code::PayloadTooLarge.into());
        }
        body.extend_from_slice(&chunk);
    }
    body.truncate(ends_at.unwrap_or(MAX_BODY));
    Ok(body.freeze())
}

/// The declared length of the body.
fn declared_length(headers: &HeaderMap) -> Option<usize> {
    let length: u64 = headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()?;
    Some(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Parses the body as an object; an optional body that is missing is an empty object.
fn parse(takes: Body, request: &HttpRequest, body: &[u8]) -> Result<Object, ApiError> {
    if takes == Body::None || (takes == Body::Optional && body.is_empty()) {
        return Ok(Object::default());
    }
    if !body.is_empty() && !headers::is_json(request.headers()) {
        return Err(Code::UnsupportedMediaType.into());
    }
    Object::parse(body).map_err(|error| match error {
        BodyError::Malformed(why) => ApiError::saying(Code::MalformedJson, why),
        BodyError::NotAnObject => ApiError::saying(Code::ValidationFailed, "The body must be a JSON object."),
    })
}
