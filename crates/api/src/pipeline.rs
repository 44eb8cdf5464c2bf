//! The checks of a request before its handler, in the order of the contract.
//!
//! The router matches path, method and network. The pipeline then checks token, staff role, rate limit,
//! headers with the form of the idempotency key, size, media type and JSON; a provider's signature is verified
//! over the body, after its size. The handler and the executor check the rest: key, id and entity, ownership,
//! fields, rate limit of a user, state, limits, funds. After a slow body the executor checks the
//! principal again.

use std::sync::Arc;

use actix_web::http::header;
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse, rt};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::operation::{Fingerprint, IdempotencyKey, KeyScope};
use cuepoint_domain::ports::Clock as _;

use crate::admission::{admit, count};
use crate::call::ApiCall;
use crate::declaration::Declaration;
use crate::endpoint::{Body, Endpoint, Provider};
use crate::reliance::ensure_reliable;
use crate::state::ApiState;
use crate::wire::envelope::{self, ApiResponse};
use crate::wire::error::{ApiError, Code};
use crate::wire::headers::{self, Signature};
use crate::wire::query::Query;
use crate::wire::validation_texts::Errors;
use cuepoint_adapters::observability::logged_request::in_current_request;
use cuepoint_adapters::signed_messages::SignedMessage;
use cuepoint_transport::deadline::RequestDeadline;
use cuepoint_transport::rate_limits::Class;
use cuepoint_transport::request_body::{self, BodyRefusal};
use cuepoint_transport::request_limits::RequestLimits;
use cuepoint_views::wire::json::{BodyError, Object};

/// Takes a call, with the id in its path, through all checks to its handler.
///
/// # Errors
/// The first check that fails.
pub(crate) async fn answer(
    operation: &Declaration,
    api: &Arc<ApiState>,
    request: &HttpRequest,
    id: Option<&str>,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let answer = handle(operation, api, request, id, payload).await;
    let is_accepted = match &answer {
        Ok(response) => !response.headers().contains_key(envelope::REPLAYED),
        Err(error) => error.code.status() != StatusCode::UNPROCESSABLE_ENTITY,
    };
    if !is_accepted {
        RequestLimits::new(&api.limits, request).count_as_not_accepted();
    }
    answer
}

async fn handle(
    operation: &Declaration,
    api: &Arc<ApiState>,
    request: &HttpRequest,
    id: Option<&str>,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let call = |body: &Bytes, key| call(operation, api, request, id, body, key);
    let respond = |answer: ApiResponse| {
        let list = operation.answers.location.map(|path| format!("{}{path}", api.settings.public_url));
        answer.respond(operation.answers.status, list.as_deref())
    };
    let (judging, handling) = match &operation.run {
        Endpoint::Plain(run) => return run.handle((Arc::clone(api), request.clone())).await,
        Endpoint::Open(run) | Endpoint::OpenKeyed(run) => {
            count(operation.class, api, request)?;
            headers::accepts(operation.answers.media_type(), request)?;
            let call = call(&receive(operation, api, request, payload).await?, None)?;
            (Judging::of(operation, &call)?, run.handle(call))
        }
        Endpoint::Optional(action, run) => {
            let principal = if request.headers().contains_key(header::AUTHORIZATION) {
                Some(admit(*action, operation, api, request).await?)
            } else {
                count(Class::Public, api, request)?;
                None
            };
            headers::accepts(operation.answers.media_type(), request)?;
            let call = call(&receive(operation, api, request, payload).await?, None)?;
            (Judging::of(operation, &call)?, run.handle((call, principal)))
        }
        Endpoint::Member(action, run) => {
            let principal = admit(*action, operation, api, request).await?;
            headers::accepts(operation.answers.media_type(), request)?;
            let body = receive(operation, api, request, payload).await?;
            let call = call(&body, None)?;
            (Judging::of(operation, &call)?, run.handle((call, principal)))
        }
        Endpoint::Command(action, run) => {
            let principal = admit(*action, operation, api, request).await?;
            headers::accepts(operation.answers.media_type(), request)?;
            let key = key(operation, request, &principal)?;
            let body = receive(operation, api, request, payload).await?;
            let call = call(&body, key)?;
            (Judging::of(operation, &call)?, run.handle((call, principal)))
        }
        Endpoint::Provider(by, run) => {
            // Only messages that fail verification are counted, so that genuine ones are never delayed.
            let received = receive_signed(*by, operation, api, request, payload).await.or_else(|refused| {
                count(operation.class, api, request)?;
                Err(refused)
            });
            let call = call(&received?, None)?;
            (Judging::of(operation, &call)?, run.handle(call))
        }
    };
    let Judging { deadline, refusals } = judging;
    if operation.method == Method::GET {
        let answer = deadline.bound(handling).await;
        return ApiError::with_messages(answer, &refusals).map(respond);
    }
    // A separate task, since a started change runs to its end even if the client disconnects or the deadline
    // passes, and keeps its key in flight until then. Only a command that had to wait for its key ends at the
    // deadline; the plan that it submitted is still applied, with its effects.
    let handled = rt::spawn(in_current_request(handling));
    let answer = deadline.bound(async { handled.await.map_err(ApiError::internal)? });
    answer.await.map(respond)
}

/// What remains of a call once its handler has it.
struct Judging {
    deadline: RequestDeadline,
    refusals: Errors,
}

impl Judging {
    /// Refuses query parameters at once if the handler changes something and reads neither a body nor the input of
    /// a command, with which they would be judged. A read has no effect, so that its parameters are judged last:
    /// errors about its object come first.
    fn of(operation: &Declaration, call: &ApiCall) -> Result<Self, ApiError> {
        let reads_input = operation.run.is_command() || operation.body.takes == Body::Json;
        if operation.method != Method::GET && !reads_input {
            call.judged(Ok(()))?;
        }
        Ok(Self { deadline: call.deadline, refusals: call.refusals.clone() })
    }
}

/// The call of the handler. Its deadline begins now.
fn call(
    operation: &Declaration,
    api: &Arc<ApiState>,
    request: &HttpRequest,
    id: Option<&str>,
    body: &Bytes,
    key: Option<KeyScope>,
) -> Result<ApiCall, ApiError> {
    let read = if operation.is_strict() { Query::strict } else { Query::parse };
    let query = read(request.query_string());
    Ok(ApiCall {
        api: Arc::clone(api),
        refusals: query.refusals(|name| operation.has_parameter(name)),
        read_only: operation.read_only_fields(),
        query,
        request: request.clone(),
        path: operation.path,
        class: operation.class,
        filters: operation.filters,
        deadline: RequestDeadline::of_request_read_now(),
        id: id.map(str::to_owned),
        body: parse(operation.body.takes, request, body)?,
        key: key.map(|scope| IdempotencyKey { scope, fingerprint: Fingerprint::of(body) }),
    })
}

/// The idempotency key, if the request has one.
fn key(
    operation: &Declaration,
    request: &HttpRequest,
    principal: &Principal,
) -> Result<Option<KeyScope>, ApiError> {
    let key = headers::idempotency_key(request.headers())?;
    let (method, path) = (operation.method.as_str(), request.match_info().as_str());
    Ok(key.map(|key| KeyScope::of(principal.user, method, path, key)))
}

/// The complete body, within the time for it.
async fn receive(
    operation: &Declaration,
    api: &ApiState,
    request: &HttpRequest,
    payload: Payload,
) -> Result<Bytes, ApiError> {
    if operation.body.takes == Body::None {
        return Ok(Bytes::new());
    }
    let body = request_body::receive(request, payload, api.settings.body_timeout).await;
    body.map_err(|refusal| match refusal {
        BodyRefusal::TooLarge => Code::PayloadTooLarge.into(),
        BodyRefusal::TooSlow => ApiError::saying(Code::BadRequest, "The body took too long to arrive."),
        BodyRefusal::Broken(why) => ApiError::caused(Code::BadRequest, why),
    })
}

/// The complete body, once the provider's signature of it is verified.
async fn receive_signed(
    by: Provider,
    operation: &Declaration,
    api: &ApiState,
    request: &HttpRequest,
    payload: Payload,
) -> Result<Bytes, ApiError> {
    let signature = headers::signature(request.headers())?;
    headers::accepts(operation.answers.media_type(), request)?;
    let body = receive(operation, api, request, payload).await?;
    verify(by, api, &signature, &body)?;
    ensure_reliable(operation, api)?;
    Ok(body)
}

/// Verifies that the provider signed this body recently.
fn verify(by: Provider, api: &ApiState, signature: &Signature<'_>, body: &[u8]) -> Result<(), ApiError> {
    let secrets = match by {
        Provider::Topups => &api.secrets.topups,
        Provider::Payouts => &api.secrets.payouts,
    };
    let Signature { id, timestamp, signatures } = *signature;
    let message = SignedMessage { id, timestamp, signatures, body };
    let sent = secrets.verify(message, api.service.authentication.clock.now());
    sent.then_some(()).ok_or_else(|| Code::InvalidSignature.into())
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
