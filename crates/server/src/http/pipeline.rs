//! Takes a call from its bytes to its answer: every check in the contract's order, in one place.
//!
//! Route and method come first and are the router's, and so is from where a route can be reached. Then, here: token,
//! operator role, rate limit, headers, size, media type, JSON, idempotency key; a provider's signature is judged over
//! the body, after its size. Then, in the handler and its use case: id and object, the caller's role, fields, the rate
//! limit of an account, state, limits, funds.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap};
use actix_web::web::{Bytes, BytesMut, Payload};
use actix_web::{HttpMessage as _, HttpRequest, rt};
use cuepoint_domain::access::{Caller, Turned};
use cuepoint_domain::ledger::{Fingerprint, IdempotencyKey, KeyScope, Receipt};
use cuepoint_domain::ports::{Applied, Clock};
use cuepoint_domain::text::Line;
use futures_util::StreamExt as _;
use tracing::Instrument as _;

use crate::adapters::webhooks::SignedMessage;
use crate::app::App;
use crate::http::call::Call;
use crate::http::reliance::ensure_reliable;
use crate::http::route::{Access, Body, Commanded, Endpoint, Provider, Route};
use crate::http::transport::client_address::{client_address, visitor};
use crate::http::transport::deadline::Deadline;
use crate::http::transport::rate_limits::{Class, Subject};
use crate::http::wire::envelope::Answer;
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::headers::{self, Signature};
use crate::http::wire::json::{BodyError, Object};
use crate::http::wire::query::Query;

/// The largest body, in bytes.
const MAX_BODY: usize = 64 * 1024;

/// Takes a call through every check and its handler.
///
/// # Errors
/// The first check that fails.
pub async fn answer(
    route: &Rc<Route>,
    app: &Arc<App>,
    request: &HttpRequest,
    payload: Payload,
) -> Result<Answer, ApiError> {
    let caller = admit(route, app, request).await?;
    let received = receive(route, app, request, payload, caller.as_ref()).await;
    let (key, body) = received.or_else(|refused| {
        // A provider's own messages are not held up: only what is not proven to be one is counted.
        if matches!(route.access, Access::Provider(_)) {
            count(route.class, address(request), app, request)?;
        }
        Err(refused)
    })?;
    let deadline = Deadline::of_request_read_now();
    // The body may have taken its time, and whoever sent it may have been shut out meanwhile.
    let caller = caller.map(|caller| as_they_stand(route, app, caller)).transpose()?;
    let call = Call {
        app: Arc::clone(app),
        query: Query::parse(request.query_string()),
        request: request.clone(),
        path: route.path,
        deadline,
        id: request.match_info().get("id").map(str::to_owned),
        body: parse(route.body, request, &body)?,
        key: key.map(|scope| IdempotencyKey { scope, fingerprint: Fingerprint::of(&body) }),
    };
    let handling = handle(Rc::clone(route), Arc::clone(app), call, caller);
    if route.method == Method::GET {
        return deadline.bound(handling).await;
    }
    // A task of its own: what was begun is done, whether the caller goes away or the deadline passes, and until then its
    // key stays taken.
    let handled = rt::spawn(handling.in_current_span());
    deadline.bound(async { handled.await.map_err(ApiError::internal)? }).await
}

/// Has a call answered by its handler.
async fn handle(
    route: Rc<Route>,
    app: Arc<App>,
    call: Call,
    caller: Option<Caller>,
) -> Result<Answer, ApiError> {
    let (key, until) = (call.key, call.deadline.for_waits());
    match (&route.endpoint, caller) {
        (Endpoint::Open(run), _) => run(call).await,
        (Endpoint::Call(run), Some(caller)) => run(call, caller).await,
        (Endpoint::Command(command), Some(caller)) => match key {
            None => carry_out(command, call, caller).await,
            Some(key) => {
                // So may whoever waited for their own first call with this key.
                let in_turn = async {
                    let caller = as_they_stand(&route, &app, caller)?;
                    carry_out(command, call, caller).await
                };
                app.in_flight.alone(key.scope, until, in_turn).await?
            }
        },
        (Endpoint::Call(_) | Endpoint::Command(_), None) => Err(Code::Unauthenticated.into()),
        (Endpoint::Plain(_), _) => Err(ApiError::internal("a plain route is answered by the router")),
    }
}

/// Does a command, unless it was done before with the same key: what it came to then is the answer.
async fn carry_out(command: &Commanded, call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let app = Arc::clone(&call.app);
    if let Some(key) = call.key
        && let Some(receipt) = app.services.replay(key.scope, key.fingerprint).await?
    {
        return show_again(command, call, receipt).await;
    }
    match (command.run)(call.clone(), caller).await? {
        Applied::Fresh(receipt) => (command.view)(&app, &receipt),
        Applied::Replayed(receipt) => show_again(command, call, receipt).await,
    }
}

/// Shows a retry what the command came to the first time.
async fn show_again(command: &Commanded, call: Call, receipt: Receipt) -> Result<Answer, ApiError> {
    let app = Arc::clone(&call.app);
    let receipt = match &command.again {
        Some(again) => again(call, receipt).await?,
        None => receipt,
    };
    Ok((command.view)(&app, &receipt)?.replayed())
}

/// Who calls, where that matters, once they are counted: by themselves, or by their address where they are nobody or
/// not who they would have to be, so that tokens cannot be tried without end.
async fn admit(route: &Route, app: &App, request: &HttpRequest) -> Result<Option<Caller>, ApiError> {
    if matches!(route.access, Access::Provider(_)) {
        return Ok(None);
    }
    let mut caller = identify(route.access, app, request);
    let known = caller.as_ref().ok().copied().flatten();
    let denied = known.filter(|known| !could(route.access, known));
    if denied.is_some() {
        caller = Err(Code::InsufficientScope.into());
    }
    let subject = known.filter(|_| caller.is_ok()).map(|known| Subject::Caller(known.user));
    // Trying tokens is not what a class of routes is for, so that it uses up none.
    let class = if caller.is_ok() { route.class } else { Class::Other };
    count(class, subject.unwrap_or_else(|| address(request)), app, request)?;
    if let Some(denied) = denied {
        note_denied(route, app, &denied, request).await;
    }
    let caller = caller?;
    ensure_reliable(route, app)?;
    Ok(caller)
}

/// Counts a call, and notes what is left for the answer's headers.
fn count(class: Class, subject: Subject, app: &App, request: &HttpRequest) -> Result<(), ApiError> {
    if let Some(standing) = app.limits.admit(class, subject).map_err(ApiError::rate_limited)? {
        request.extensions_mut().insert(standing);
    }
    Ok(())
}

fn address(request: &HttpRequest) -> Subject {
    Subject::address(client_address(request).address)
}

/// Who calls, where that matters, as they stand now.
fn identify(access: Access, app: &App, request: &HttpRequest) -> Result<Option<Caller>, ApiError> {
    let Access::Caller(_) = access else { return Ok(None) };
    let token = headers::bearer(request.headers())?;
    let verified = app.tokens.verify(token, app.revocations.epoch(), app.clock.now());
    let caller = verified.map_err(|_| Code::InvalidToken)?;
    Ok(Some(judged(app, caller)?))
}

/// Whether a caller could do at all what a route is for; what takes staff is refused before anything is looked for.
fn could(access: Access, caller: &Caller) -> bool {
    match access {
        Access::Caller(action) => !action.is_for_staff() || caller.could(action).is_ok(),
        Access::Open | Access::Provider(_) => true,
    }
}

/// Notes that somebody called what takes staff.
async fn note_denied(route: &Route, app: &App, caller: &Caller, request: &HttpRequest) {
    let what = Line::from_stored(format!("{} {}", route.method, route.path));
    app.services.staff.denied(caller, what, visitor(request)).await;
}

/// The caller that a valid token names, as they stand now.
fn judged(app: &App, caller: Caller) -> Result<Caller, ApiError> {
    app.revocations.judge(caller).map_err(|turned| match turned {
        Turned::SessionEnded => Code::InvalidToken.into(),
        Turned::Suspended => Code::AccountSuspended.into(),
    })
}

/// A caller who was let in a while ago, if they still would be.
fn as_they_stand(route: &Route, app: &App, caller: Caller) -> Result<Caller, ApiError> {
    let caller = judged(app, caller)?;
    if !could(route.access, &caller) {
        return Err(Code::InsufficientScope.into());
    }
    ensure_reliable(route, app)?;
    Ok(caller)
}

/// The key and the body, once the headers are right and the body is there, and a provider's signature with them.
async fn receive(
    route: &Route,
    app: &App,
    request: &HttpRequest,
    payload: Payload,
    caller: Option<&Caller>,
) -> Result<(Option<KeyScope>, Bytes), ApiError> {
    let signature = match route.access {
        Access::Provider(by) => Some((by, headers::signature(request.headers())?)),
        Access::Open | Access::Caller(_) => None,
    };
    headers::accepts_json(request)?;
    let key = match (&route.endpoint, caller) {
        (Endpoint::Command(_), Some(caller)) => headers::idempotency_key(request.headers())?
            .map(|key| KeyScope::of(caller.user, route.method.as_str(), request.match_info().as_str(), key)),
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

/// Whether the provider sent this body, a short while ago.
fn verify(by: Provider, app: &App, signature: &Signature<'_>, body: &[u8]) -> Result<(), ApiError> {
    let secrets = match by {
        Provider::Topups => &app.secrets.topups,
        Provider::Payouts => &app.secrets.payouts,
    };
    let Signature { id, timestamp, signatures } = *signature;
    let message = SignedMessage { id, timestamp, signatures, body };
    let sent = secrets.verify(message, app.clock.now());
    sent.then_some(())
        .ok_or_else(|| ApiError::saying(Code::InvalidToken, "The signature is wrong or too old."))
}

/// The body, as long as it is not too long; a declared length is believed before a byte is read.
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

/// How long a body is said to be.
fn declared_length(headers: &HeaderMap) -> Option<usize> {
    let length: u64 = headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()?;
    Some(usize::try_from(length).unwrap_or(usize::MAX))
}

/// The object that the body is; where none is needed, no body is an object without a key.
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
