//! The session of a browser: its cookie, its principal, and the ways to the login.

use actix_web::HttpRequest;
use actix_web::cookie::Cookie;
use cuepoint_adapters::security::kept_credentials::{CredentialRefusal, Known};
use cuepoint_domain::application::BrowserSession;
use cuepoint_domain::authorization::{DenialReason, Denied, Principal, Revocation};
use cuepoint_domain::network::ClientNetwork;
use cuepoint_transport::client_address::client_address;
use cuepoint_transport::request_limits::RequestLimits;

use crate::cookies::{Cookies, PageCookie};
use crate::failure::PageFailure;
use crate::state::PageState;

/// The time for which a browser keeps the cookie of a session: longer than any session, whose end the service decides.
const KEPT_SECONDS: i64 = 400 * 24 * 60 * 60;

/// The principal of the session whose cookie the request has, or of the kept session of a guest account; `None` without a cookie or a live session.
///
/// # Errors
/// [`PageFailure`] for a suspended user, an exhausted quota, and a store that cannot be read.
pub(crate) async fn principal(
    state: &PageState,
    request: &HttpRequest,
) -> Result<Option<Principal>, PageFailure> {
    // Without another session, the kept one of a guest account is the browser's session: its money is nowhere else.
    if let Some(cookie) = state.settings.cookies.read(PageCookie::Session, request)
        && let Some(principal) = principal_of(state, request, &cookie).await?
    {
        return Ok(Some(principal));
    }
    match state.settings.cookies.read(PageCookie::Guest, request) {
        Some(kept) => Ok(principal_of(state, request, &kept).await?.filter(Principal::is_guest_account)),
        None => Ok(None),
    }
}

/// The principal of a session with this cookie.
///
/// # Errors
/// As [`principal`].
pub(crate) async fn principal_of(
    state: &PageState,
    request: &HttpRequest,
    cookie: &str,
) -> Result<Option<Principal>, PageFailure> {
    let limits = RequestLimits::new(&state.limits, request);
    let authentication = &state.service.authentication;
    let read = async || {
        let network = client_address(request).address.map(ClientNetwork::of);
        authentication.read_cookie(cookie, network).await
    };
    let kept = match authentication.known_cookie(cookie) {
        Known::Current(kept) => Ok(kept),
        // The cookie of a suspended user is read again each time.
        Known::Outdated(session) => {
            limits.count_session(session).map_err(PageFailure::rate_limited)?;
            read().await
        }
        Known::Unknown => {
            limits.count_look_up().map_err(PageFailure::rate_limited)?;
            read().await
        }
    };
    let found = kept.and_then(|kept| authentication.principal_of(&kept));
    match found {
        Ok(principal) => Ok(Some(principal)),
        Err(CredentialRefusal::Revoked(Revocation::Suspended)) => Err(PageFailure::Suspended),
        Err(CredentialRefusal::Unavailable(unavailable)) => Err(unavailable.into()),
        Err(
            CredentialRefusal::Unknown
            | CredentialRefusal::Expired
            | CredentialRefusal::Revoked(Revocation::SessionEnded),
        ) => Ok(None),
    }
}

/// The cookie of a session that began.
pub(crate) fn begun(cookies: Cookies, session: &BrowserSession) -> Cookie<'static> {
    kept(cookies, PageCookie::Session, session.cookie.0.clone())
}

/// A cookie with the secret of a session.
pub(crate) fn kept(cookies: Cookies, cookie: PageCookie, secret: String) -> Cookie<'static> {
    cookies.keep(cookie, secret, KEPT_SECONDS)
}

/// The principal of a session that began.
pub(crate) fn principal_of_new(session: &BrowserSession) -> Principal {
    let user = &session.profile.user;
    Principal { user: user.id, role: user.role, is_dj: user.is_dj(), session: session.session }
}

/// The failure of a principal without a role for a page.
pub(crate) fn without_role(denied: Denied) -> PageFailure {
    match denied.reason() {
        DenialReason::MembersOnly => PageFailure::Claim,
        _ => PageFailure::NotAllowed,
    }
}

/// The path of the login, which leads on to this path.
pub(crate) fn login_path(next: Option<&str>) -> String {
    with_next("/login", next)
}

/// The path of the claim, which leads on to this path.
pub(crate) fn claim_path(next: Option<&str>) -> String {
    with_next("/claim", next)
}

fn with_next(path: &str, next: Option<&str>) -> String {
    match next {
        Some(next) => {
            let query =
                url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
            format!("{path}?{query}")
        }
        None => path.to_owned(),
    }
}
