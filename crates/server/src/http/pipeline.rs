//! Takes a call from its bytes to its answer: every check in the contract's order, in one place.
//!
//! Route and method come first and are the router's. Then, here: token, operator role, rate limit, headers, size,
//! media type, JSON, idempotency key; a provider's signature is judged over the body, after its size. Then, in the handler and its use case: id and object, the caller's role, fields,
//! state, limits, funds.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::{Bytes, BytesMut, Payload};
use cuepoint_domain::ledger::{Fingerprint, IdempotencyKey, KeyScope};
use cuepoint_domain::people::Role;
use cuepoint_domain::ports::Applied;
use futures_util::StreamExt as _;

use crate::app::App;
use crate::http::call::Call;
use crate::http::envelope::Answer;
use crate::http::error::{ApiError, Code};
use crate::http::headers::{self, Signature};
use crate::http::json::{BodyError, Object};
use crate::http::query::Query;
use crate::http::route::{Access, Body, Commanded, Endpoint, Provider, Route};
use crate::security::tokens::Identity;
use crate::webhooks::SignedMessage;

/// The largest body, in bytes.
const MAX_BODY: usize = 64 * 1024;
/// How long a body may take to arrive, so that nobody can hold up a stop by dripping one.
const BODY_TIMEOUT: Duration = Duration::from_secs(20);

/// Takes a call through every check and its handler.
///
/// # Errors
/// The first check that fails.
pub async fn answer(
    route: &Route,
    app: &Arc<App>,
    request: &HttpRequest,
    payload: Payload,
) -> Result<Answer, ApiError> {
    let caller = identify(route.access, app, request)?;
    let signature = match route.access {
        Access::Provider(by) => Some((by, headers::signature(request.headers())?)),
        Access::Open | Access::Member | Access::Operator => None,
    };
    // A rate limiter goes here: it knows the caller, or the peer where there is none, and has read nothing yet.
    headers::accepts_json(request)?;
    let key = match (&route.endpoint, &caller) {
        (Endpoint::Command(_), Some(caller)) => headers::idempotency_key(request.headers())?
            .map(|key| KeyScope::of(caller.user, route.method.as_str(), request.match_info().as_str(), key)),
        _ => None,
    };
    let body = tokio::time::timeout(BODY_TIMEOUT, read(route.body, request, payload));
    let body = body.await.map_err(|_| ApiError::saying(Code::BadRequest, "The body took too long."))??;
    if let Some((by, signature)) = signature {
        verify(by, app, &signature, &body)?;
    }
    let key = key.map(|scope| IdempotencyKey { scope, fingerprint: Fingerprint::of(&body) });
    let call = Call {
        app: Arc::clone(app),
        query: Query::parse(request.query_string()),
        path: route.path,
        id: request.match_info().get("id").map(str::to_owned),
        body: parse(route.body, request, &body)?,
        key,
    };
    match (&route.endpoint, caller) {
        (Endpoint::Open(run), _) => run(call).await,
        (Endpoint::Member(run), Some(caller)) => run(call, caller).await,
        (Endpoint::Command(command), Some(caller)) => match key {
            None => carry_out(command, call, caller).await,
            Some(key) => app.in_flight.alone(key.scope, carry_out(command, call, caller)).await?,
        },
        (Endpoint::Member(_) | Endpoint::Command(_), None) => Err(Code::Unauthenticated.into()),
        (Endpoint::Plain(_), _) => Err(ApiError::internal("a plain route is answered by the router")),
    }
}

/// Does a command, unless it was done before with the same key: what it came to then is the answer.
async fn carry_out(command: &Commanded, call: Call, caller: Identity) -> Result<Answer, ApiError> {
    let app = Arc::clone(&call.app);
    if let Some(key) = call.key
        && let Some(receipt) = app.services.replay(key.scope, key.fingerprint).await?
    {
        return Ok((command.view)(&app, &receipt)?.replayed());
    }
    match (command.run)(call, caller).await? {
        Applied::Fresh(receipt) => (command.view)(&app, &receipt),
        Applied::Replayed(receipt) => Ok((command.view)(&app, &receipt)?.replayed()),
    }
}

/// Who calls, where that matters.
fn identify(access: Access, app: &App, request: &HttpRequest) -> Result<Option<Identity>, ApiError> {
    if matches!(access, Access::Open | Access::Provider(_)) {
        return Ok(None);
    }
    let token = headers::bearer(request.headers())?;
    let identity = app.tokens.verify(token, app.clock.now()).map_err(|_| Code::InvalidToken)?;
    if access == Access::Operator && identity.role != Role::Operator {
        return Err(Code::InsufficientScope.into());
    }
    Ok(Some(identity))
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
    let declared = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if declared
        .and_then(|length| length.parse::<u64>().ok())
        .is_some_and(|length| usize::try_from(length).map_or(true, |length| length > MAX_BODY))
    {
        return Err(Code::PayloadTooLarge.into());
    }
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| ApiError::caused(Code::BadRequest, error.to_string()))?;
        if body.len().saturating_add(chunk.len()) > MAX_BODY {
            return Err(Code::PayloadTooLarge.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
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
