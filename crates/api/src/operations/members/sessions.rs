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
    /// The sessions that have not ended, newest first: at most 100.
    GET "/api/v1/auth/sessions" "listSessions" {
        tag: SignIn,
        run: authenticated(Action::UseSessions, list),
        answers: page::<ActiveSessionView>("A page of sessions, newest first."),
    }

    /// End a session
    ///
    /// Ends one of the caller's sessions. This server refuses its access tokens immediately, and other servers
    /// within two seconds. A session that has ended returns 404 `not_found`. The session of a guest account is the only
    /// way to its money, as for `logout`.
    DELETE "/api/v1/auth/sessions/{id}" "endSession" {
        tag: SignIn,
        run: authenticated(Action::UseSessions, end),
        answers: ok::<Empty>("The session has ended."),
    }

    /// End all sessions
    ///
    /// Ends all sessions of the caller, including the current one. In the same step, it disables the active webhook
    /// endpoints for the caller's own events with the reason `security`. The e-mail about the logout names them.
    /// Endpoints for all events stay active. If the caller has set the URL of one, an e-mail to all active
    /// operators lists it. The session of a guest account is the only way to its money, as for `logout`.
    POST "/api/v1/auth/logout-everywhere" "logoutEverywhere" {
        tag: SignIn,
        run: authenticated(Action::UseSessions, end_all),
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
    let strands = id == principal.session && strands_money(&call, &principal).await?;
    call.use_cases().sessions.end(&call.context(&principal), id).await?;
    ApiResponse::new(if strands { STRANDED } else { "Session ended." }, Empty {})
}

async fn end_all(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let strands = strands_money(&call, &principal).await?;
    call.use_cases().sessions.end_all(&call.context(&principal)).await?;
    ApiResponse::new(if strands { STRANDED } else { "Logged out everywhere." }, Empty {})
}

/// The message of an end that leaves money in a guest account.
pub(super) const STRANDED: &str = "The session has ended, and money is left in the guest account. No login leads to it: ask \
                                   an operator for a wallet link.";

/// Whether the end of the caller's session leaves money in a guest account.
async fn strands_money(call: &ApiCall, principal: &Principal) -> Result<bool, ApiError> {
    if !principal.is_guest_account() {
        return Ok(false);
    }
    Ok(call.use_cases().profiles.own(principal).await?.loses_money_with_its_session())
}
