//! The session of a browser: its cookie, its owner, and the ways to the login.

use actix_web::cookie::Cookie;
use actix_web::{HttpMessage as _, HttpRequest};
use cuepoint_adapters::security::kept_credentials::{CredentialRefusal, Known};
use cuepoint_domain::application::BrowserSession;
use cuepoint_domain::authorization::{DenialReason, Denied, Principal, Revocation};
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::user::Role;
use cuepoint_transport::client_address::client_address;
use cuepoint_transport::request_limits::RequestLimits;

use crate::cookies::{Cookies, PageCookie};
use crate::failure::PageFailure;
use crate::kept_secrets;
use crate::state::PageState;

/// The owner of a cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// There is no cookie, or its session has ended, or the database does not know it.
    Nobody,
    /// The session of this user.
    Principal(Principal),
    /// The session of a suspended user.
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

/// What the database knows of a secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SecretState {
    /// No session has it. It may belong to a database that comes back.
    Unknown,
    /// Its session has ended or expired.
    Ended,
    /// Its owner is suspended.
    Suspended {
        /// Whether its owner has a guest account, whose session outlasts the suspension.
        is_guest_account: bool,
    },
    /// The session of this principal.
    InForce(Principal),
}

/// Marks a request for which the look-up of a secret that is not in memory was counted.
#[derive(Clone, Copy, Debug)]
struct LookUp;

/// The owner of the session whose cookie the request has. Without a session, the newest guest account in the guest cookie
/// that is in force acts, because its money can be reached in no other way.
///
/// # Errors
/// [`PageFailure`] for an exhausted quota, and a store that cannot be read.
pub(crate) async fn owner(state: &PageState, request: &HttpRequest) -> Result<Owner, PageFailure> {
    if let Some(secret) = state.settings.cookies.read(PageCookie::Session, request) {
        match state_of(state, request, &secret).await? {
            SecretState::InForce(principal) => return Ok(Owner::Principal(principal)),
            SecretState::Suspended { .. } => return Ok(Owner::Suspended),
            SecretState::Unknown | SecretState::Ended => {}
        }
    }
    let mut owner = Owner::Nobody;
    for secret in kept_secrets::secrets(state.settings.cookies, request) {
        match state_of(state, request, &secret).await? {
            SecretState::InForce(guest) if guest.is_guest_account() => return Ok(Owner::Principal(guest)),
            SecretState::Suspended { is_guest_account: true } => owner = Owner::Suspended,
            _ => {}
        }
    }
    Ok(owner)
}

/// What the database knows of a secret.
///
/// # Errors
/// As [`owner`].
pub(crate) async fn state_of(
    state: &PageState,
    request: &HttpRequest,
    secret: &str,
) -> Result<SecretState, PageFailure> {
    let limits = RequestLimits::new(&state.limits, request);
    let authentication = &state.service.authentication;
    let read = async || {
        let network = client_address(request).address.map(ClientNetwork::of);
        authentication.read_cookie(secret, network).await
    };
    let known = authentication.known_cookie(secret);
    let is_read = !matches!(known, Known::Current(_));
    let kept = match known {
        Known::Current(kept) => Ok(kept),
        // The cookie of a suspended user is read again each time.
        Known::Outdated(session) => {
            limits.count_session(session).map_err(PageFailure::rate_limited)?;
            read().await
        }
        Known::Unknown if authentication.has_no_session(secret) => Err(CredentialRefusal::Unknown),
        Known::Unknown => {
            // Counted once for each request, so that a browser with many secrets does not use up the quota of others.
            if request.extensions_mut().insert(LookUp).is_none() {
                limits.count_look_up().map_err(PageFailure::rate_limited)?;
            }
            read().await
        }
    };
    let kept = match kept {
        Ok(kept) => kept,
        Err(CredentialRefusal::Unavailable(unavailable)) => return Err(unavailable.into()),
        Err(_) => return Ok(SecretState::Unknown),
    };
    match authentication.principal_of(&kept) {
        Ok(principal) => {
            if is_read && principal.is_guest_account() {
                kept_secrets::note_visit(request, &kept.credential().0);
            }
            Ok(SecretState::InForce(principal))
        }
        Err(CredentialRefusal::Unavailable(unavailable)) => Err(unavailable.into()),
        Err(CredentialRefusal::Revoked(Revocation::Suspended)) => {
            Ok(SecretState::Suspended { is_guest_account: kept.owner().role == Role::Guest })
        }
        Err(
            CredentialRefusal::Unknown
            | CredentialRefusal::Expired
            | CredentialRefusal::Revoked(Revocation::SessionEnded),
        ) => Ok(SecretState::Ended),
    }
}

/// Whether a wallet link ended a session of this browser, which has no other session now.
///
/// # Errors
/// As [`owner`].
pub(crate) async fn is_moved(state: &PageState, request: &HttpRequest) -> Result<bool, PageFailure> {
    let cookies = state.settings.cookies;
    let own = cookies.read(PageCookie::Session, request);
    for secret in own.into_iter().chain(kept_secrets::secrets(cookies, request)) {
        // An ended session is in memory, because the owner was read before.
        if let Known::Current(kept) = state.service.authentication.known_cookie(&secret)
            && state.service.use_cases.wallet_links.ended(kept.id()).await?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The cookie of a session that began.
pub(crate) fn begun(cookies: Cookies, session: &BrowserSession) -> Cookie<'static> {
    kept_secrets::kept(cookies, PageCookie::Session, session.cookie.0.clone())
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
