//! The caller's sessions.

use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::SessionId;

use crate::call::{self, ApiCall};
use crate::declaration::{ok, operations, optional_json, page};
use crate::endpoint::authenticated;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::ApiError;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::session::ActiveSessionView;

operations! {
    /// List the caller's sessions
    ///
    /// Active sessions, newest first.
    GET "/api/v1/auth/sessions" "listSessions" {
        tag: SignIn,
        run: authenticated(Action::UseCredentials, list),
        answers: page::<ActiveSessionView>("A page of sessions, newest first."),
    }

    /// End a session
    ///
    /// Ends one of the caller's sessions with its refresh token and access tokens. The answering server
    /// rejects its tokens at once, other servers within seconds.
    DELETE "/api/v1/auth/sessions/{id}" "endSession" {
        tag: SignIn,
        run: authenticated(Action::UseCredentials, end),
        answers: ok::<Empty>("The session has ended."),
    }

    /// End all sessions
    ///
    /// Ends all of the caller's sessions, including the one of this request.
    POST "/api/v1/auth/logout-everywhere" "logoutEverywhere" {
        tag: SignIn,
        run: authenticated(Action::UseCredentials, end_all),
        answers: ok::<Empty>("All sessions have ended."),
        class: Class::Guess,
        body: optional_json::<Empty>(),
    }
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let paging = call.paging();
    let rows = call.use_cases().sessions.list(&principal, paging.request()).await?;
    call::page("Sessions.", &paging, &rows, |session| ActiveSessionView::new(session, principal.session))
}

async fn end(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let id = call.id(SessionId::new)?;
    call.use_cases().sessions.end(&call.context(&principal), id).await?;
    ApiResponse::new("Session ended.", Empty {})
}

async fn end_all(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    call.use_cases().sessions.end_all(&call.context(&principal)).await?;
    ApiResponse::new("Logged out everywhere.", Empty {})
}
