//! The admission of requests with a token: its principal, their role, and the quota.

use actix_web::{HttpMessage as _, HttpRequest};
use cuepoint_adapters::security::authentication::Authentication;
use cuepoint_adapters::security::kept_credentials::{CredentialRefusal, Known, is_personal};
use cuepoint_adapters::security::tokens::TokenRefusal;
use cuepoint_domain::authorization::{Action, Capacity, Principal, Scope};
use cuepoint_domain::ids::SessionId;
use cuepoint_domain::ports::Clock as _;
use cuepoint_domain::text::Line;
use cuepoint_domain::user::personal_token::PersonalToken;
use cuepoint_transport::client_address::client;
use cuepoint_transport::observe;
use cuepoint_transport::rate_limits::Class;
use cuepoint_transport::request_limits::RequestLimits;

use crate::call::AuthorizedUntil;
use crate::declaration::Declaration;
use crate::mapping::MOVED;
use crate::reliance::ensure_reliable;
use crate::state::ApiState;
use crate::wire::error::{ApiError, Code};
use crate::wire::headers;

/// Authenticates a request and counts it: for its principal, for the session of a genuine token that is not accepted,
/// or else for its client address, so that tokens cannot be guessed without limit.
pub(crate) async fn admit(
    action: Action,
    operation: &Declaration,
    api: &ApiState,
    request: &HttpRequest,
) -> Result<Principal, ApiError> {
    if let Ok(token) = headers::bearer(request.headers())
        && is_personal(token)
    {
        let principal = admit_program(token, action, operation, api, request).await?;
        ensure_reliable(operation, api)?;
        return Ok(principal);
    }
    let limits = RequestLimits::new(&api.limits, request);
    let principal = match authenticate(api, request) {
        Ok(principal) => principal,
        // Expired tokens of a venue must not use up the quota of its address.
        Err(Rejected { error, session: Some(session) }) => {
            limits.count_session(session).map_err(ApiError::rate_limited)?;
            return Err(explained(error, session, api).await);
        }
        Err(Rejected { error, session: None }) => {
            count(Class::Other, api, request)?;
            return Err(error);
        }
    };
    observe::authenticated(request, principal.user);
    if let Err(denied) = principal.has_role_for(action) {
        limits.count_session(principal.session).map_err(ApiError::rate_limited)?;
        if !action.is_for_staff() {
            return Err(denied.into());
        }
        record_denied(operation, api, &principal, request).await;
        return Err(for_staff(action));
    }
    limits.count_principal(operation.class, &principal).map_err(ApiError::rate_limited)?;
    ensure_reliable(operation, api)?;
    Ok(principal)
}

/// A request without a usable token.
struct Rejected {
    error: ApiError,
    /// The session of a genuine token.
    session: Option<SessionId>,
}

impl From<ApiError> for Rejected {
    fn from(error: ApiError) -> Self {
        Self { error, session: None }
    }
}

/// The failure of a request with an ended session. If a wallet link ended it, the message says so: a guest who has found
/// the phone again cannot log in, and learns where the money is.
async fn explained(error: ApiError, session: SessionId, api: &ApiState) -> ApiError {
    let is_moved = error.code == Code::SessionEnded
        && api.service.use_cases.wallet_links.ended(session).await.unwrap_or_default();
    if is_moved { ApiError::saying(error.code, MOVED) } else { error }
}

/// The failure of a principal without a role for this action.
fn for_staff(action: Action) -> ApiError {
    let message = match action.rule().scope(Capacity::Auditor) {
        Scope::Nothing => "Only operators can do this.",
        Scope::Own | Scope::Others | Scope::Everything => "Only operators and auditors can do this.",
    };
    ApiError::saying(Code::InsufficientScope, message)
}

/// Counts a request without a token. Its fields are not known yet.
pub(crate) fn count(class: Class, api: &ApiState, request: &HttpRequest) -> Result<(), ApiError> {
    let class = match class {
        Class::Refreshes => Class::RefreshLookups,
        class if class.counts_valid_calls_only() => Class::Public,
        class => class,
    };
    RequestLimits::new(&api.limits, request).count(class).map_err(ApiError::rate_limited)
}

/// The principal of the access token with their current role.
fn authenticate(api: &ApiState, request: &HttpRequest) -> Result<Principal, Rejected> {
    let token = headers::bearer(request.headers())?;
    let Authentication { tokens, revocations, clock, .. } = &api.service.authentication;
    let verified = tokens.verify(token, revocations.epoch(), clock.now()).map_err(|refusal| {
        let session = match refusal {
            TokenRefusal::Expired(session) => Some(session),
            TokenRefusal::Invalid => None,
        };
        Rejected { error: refusal.into(), session }
    })?;
    let checked = revocations.check(verified);
    checked.map_err(|revocation| Rejected { error: revocation.into(), session: Some(verified.session) })
}

/// Records a denied request to an operation of staff in the security log.
async fn record_denied(
    operation: &Declaration,
    api: &ApiState,
    principal: &Principal,
    request: &HttpRequest,
) {
    let name = Line::from_stored(format!("{} {}", operation.method, operation.path));
    api.service.use_cases.security_log.record_denied(principal, name, client(request)).await;
}

/// The message for a personal access token without the scope of the operation.
const NOT_IN_SCOPE: &str = "The scopes of this personal access token do not allow this.";

/// Authenticates a request with a personal access token, and counts it for the token, or for the client address if the
/// token is unknown.
///
/// # Errors
/// 401 for a token that is not valid, 403 for one without the scope, 429, and 503 if the store cannot be read.
async fn admit_program(
    token: &str,
    action: Action,
    operation: &Declaration,
    api: &ApiState,
    request: &HttpRequest,
) -> Result<Principal, ApiError> {
    let Authentication { personal_tokens, revocations, clock, store, .. } = &api.service.authentication;
    let (epoch, now) = (revocations.epoch(), clock.now());
    let limits = RequestLimits::new(&api.limits, request);
    let count_token = |id| limits.count_session(id).map_err(ApiError::rate_limited);
    let read = || personal_tokens.read(&**store, token, epoch, now);
    // Counted before the store is read, to limit the reads.
    let kept = match personal_tokens.known(token, revocations, now) {
        Known::Current(kept) => {
            count_token(kept.id())?;
            kept
        }
        Known::Outdated(id) => {
            count_token(id)?;
            read().await?
        }
        Known::Unknown => {
            let found = if PersonalToken::is_well_formed(token) {
                limits.count_look_up().map_err(ApiError::rate_limited)?;
                read().await
            } else {
                Err(CredentialRefusal::Unknown)
            };
            if matches!(found, Err(CredentialRefusal::Unknown)) {
                count(Class::Other, api, request)?;
            }
            let kept = found?;
            count_token(kept.id())?;
            kept
        }
    };
    let principal = kept.principal(revocations, now)?;
    observe::authenticated(request, principal.user);
    if !action.is_permitted_by(&kept.credential().scopes) {
        if action.is_for_staff() {
            record_denied(operation, api, &principal, request).await;
        }
        return Err(ApiError::saying(Code::InsufficientScope, NOT_IN_SCOPE));
    }
    request.extensions_mut().insert(AuthorizedUntil(kept.until()));
    Ok(principal)
}
