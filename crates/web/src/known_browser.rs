//! The cookie of a known browser. Sessions of accounts began in it, so that their logins are counted apart from logins by
//! strangers.

use actix_web::cookie::Cookie;
use cuepoint_adapters::security::known_browsers::KnownBrowsers;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ports::Clock as _;

use crate::call::PageCall;
use crate::cookies::PageCookie;
use crate::failure::PageFailure;
use crate::kept_secrets::kept;
use crate::response::PageResponse;

/// The account with this address, and its session that began in this browser, if there is one.
///
/// # Errors
/// [`PageFailure`] if the account cannot be read.
pub(crate) async fn session_of(
    call: &PageCall,
    email: &str,
) -> Result<Option<(UserId, SessionId)>, PageFailure> {
    let cookie = call.cookie(PageCookie::KnownBrowser);
    // Clients without such a cookie cause no look-up.
    let Some(cookie) = cookie.filter(|cookie| KnownBrowsers::may_know(cookie)) else { return Ok(None) };
    let known = call.use_cases().sign_ins.password_mark(email).await?;
    let now = call.state.service.authentication.clock.now();
    let began = |(user, mark)| Some((user, call.state.known_browsers.session(&cookie, user, &mark, now)?));
    Ok(known.and_then(began))
}

/// The answer with the cookie that makes this browser known, because a session of this user began in it. A guest account
/// has no password, and gets no cookie. If no key can sign, the answer stays as it is, because the session has begun.
pub(crate) async fn remembered(
    call: &PageCall,
    answer: PageResponse,
    (user, session): (UserId, SessionId),
) -> PageResponse {
    match cookie(call, user, session).await {
        Some(cookie) => answer.with_cookie(&cookie),
        None => answer,
    }
}

async fn cookie(call: &PageCall, user: UserId, session: SessionId) -> Option<Cookie<'static>> {
    let mark = call.use_cases().sign_ins.password_mark_of(user).await.ok()??;
    let now = call.state.service.authentication.clock.now();
    let before = call.cookie(PageCookie::KnownBrowser);
    let issued = call.state.known_browsers.issue(before.as_deref(), (user, session), &mark, now).ok()?;
    Some(kept(call.state.settings.cookies, PageCookie::KnownBrowser, issued))
}
