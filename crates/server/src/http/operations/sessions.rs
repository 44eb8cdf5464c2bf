//! One's own sessions.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::SessionId;

use crate::http::call::{self, Call};
use crate::http::openapi::bodies::PageQuery;
use crate::http::operations::views::{ActiveSession, Nothing};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::page::Page;

/// Lists the caller's sessions that have not ended.
#[utoipa::path(
    get,
    path = "/api/v1/auth/sessions",
    operation_id = "listSessions",
    tag = "Accounts",
    params(PageQuery),
    responses((status = 200, description = "A page of sessions.", body = Success<Page<ActiveSession>>)),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let paging = call.paging(&[]);
    let rows = call.app.services.sessions.list(&caller, paging.request()).await?;
    call::page("Sessions.", &paging, &rows, |session| ActiveSession::new(session, caller.session))
}

/// Ends one of the caller's sessions, with its refresh token and its access tokens.
///
/// The server that answers refuses its tokens at once, others within seconds.
#[utoipa::path(
    delete,
    path = "/api/v1/auth/sessions/{id}",
    operation_id = "endSession",
    tag = "Accounts",
    responses((status = 200, description = "The session is ended.", body = Success<Nothing>)),
)]
pub async fn end(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let id = call.id(SessionId::new)?;
    call.app.services.sessions.end(&caller, id, call.visitor()).await?;
    call.refresh_revocations().await;
    Answer::ok("Session ended.", Nothing {})
}

/// Ends all of the caller's sessions, the one of this call too.
#[utoipa::path(
    post,
    path = "/api/v1/auth/logout-everywhere",
    operation_id = "logoutEverywhere",
    tag = "Accounts",
    request_body = Nothing,
    responses((status = 200, description = "All sessions are ended.", body = Success<Nothing>)),
)]
pub async fn end_all(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    call.app.services.sessions.end_all(&caller, call.visitor()).await?;
    call.refresh_revocations().await;
    Answer::ok("Logged out everywhere.", Nothing {})
}
