//! The session of a browser: its cookie, its owner, and the ways to the login.

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

/// The owner of a cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// There is no cookie, or its session has ended.
    Nobody,
    /// The session of this user.
    Principal(Principal),
    /// The session of a suspended user, which a later end of the suspension does not revive.
    Suspended,
}

impl Owner {
    /// The principal; `None` without a session that counts.
    pub(crate) const fn principal(self) -> Option<Principal> {
        match self {
            Self::Principal(principal) => Some(principal),
            Self::Nobody | Self::Suspended => None,
        }
    }
}

/// The owner of the session whose cookie the request has, or of the kept session of a guest account.
///
/// # Errors
/// [`PageFailure`] for an exhausted quota, and a store that cannot be read.
pub(crate) async fn owner(state: &PageState, request: &HttpRequest) -> Result<Owner, PageFailure> {
    // Without another session, the kept one of a guest account is the browser's session: its money is nowhere else.
    if let Some(cookie) = state.settings.cookies.read(PageCookie::Session, request) {
        let owner = owner_of(state, request, &cookie).await?;
        if owner != Owner::Nobody {
            return Ok(owner);
        }
    }
    let Some(kept) = state.settings.cookies.read(PageCookie::Guest, request) else {
        return Ok(Owner::Nobody);
    };
    Ok(match owner_of(state, request, &kept).await? {
        Owner::Principal(member) if !member.is_guest_account() => Owner::Nobody,
        owner => owner,
    })
}

/// The owner of a session with this cookie.
///
/// # Errors
/// As [`owner`].
pub(crate) async fn owner_of(
    state: &PageState,
    request: &HttpRequest,
    cookie: &str,
) -> Result<Owner, PageFailure> {
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
    match kept.and_then(|kept| authentication.principal_of(&kept)) {
        Ok(principal) => Ok(Owner::Principal(principal)),
        Err(CredentialRefusal::Unavailable(unavailable)) => Err(unavailable.into()),
        Err(CredentialRefusal::Revoked(Revocation::Suspended)) => Ok(Owner::Suspended),
        Err(
            CredentialRefusal::Unknown
            | CredentialRefusal::Expired
            | CredentialRefusal::Revoked(Revocation::SessionEnded),
        ) => Ok(Owner::Nobody),
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

/// The path of a page that leads on to another one.
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
