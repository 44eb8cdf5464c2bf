//! Login and logout.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{BrowserSession, LoginRefusal};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::text::Password;
use cuepoint_domain::topup::TopupStatus;
use cuepoint_pages::done::Done;
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::front::LoginPage;
use cuepoint_transport::rate_limits::LoginAttempt;

use crate::call::PageCall;
use crate::cookies::PageCookie;
use crate::failure::{PageFailure, or_refusal};
use crate::form::Form;
use crate::next_path;
use crate::response::{INVALID, PageResponse};
use crate::session;

pub(super) async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    render(&call, StatusCode::OK, &call.query, None).await
}

pub(super) async fn send(call: PageCall) -> Result<PageResponse, PageFailure> {
    let (email, password) = (call.form.text("email"), Password::presented(call.form.secret("password")));
    match log_in(&call, email, &password).await? {
        Ok(session) => begun(&call, &session).await,
        Err(refusal) => render(&call, INVALID, &call.form, Some(refusal)).await,
    }
}

/// Begins a session with a password. It counts as a failed login until it succeeds.
///
/// # Errors
/// [`PageFailure`]; the refusal is inside.
pub(super) async fn log_in(
    call: &PageCall,
    email: &str,
    password: &Password,
) -> Result<Result<BrowserSession, LoginRefusal>, PageFailure> {
    let attempt = call.admit_login(email).await?;
    log_in_as_admitted(call, attempt, email, password).await
}

/// Begins a session with a password whose attempt is counted as a failed login already.
///
/// # Errors
/// As [`log_in`].
pub(super) async fn log_in_as_admitted(
    call: &PageCall,
    attempt: LoginAttempt,
    email: &str,
    password: &Password,
) -> Result<Result<BrowserSession, LoginRefusal>, PageFailure> {
    let sign_ins = &call.use_cases().sign_ins;
    let logged_in = sign_ins.login(&call.client_context(), email, password).await;
    call.limits()
        .conclude(attempt, &logged_in, |refusal| matches!(refusal, LoginRefusal::InvalidCredentials));
    or_refusal(logged_in)
}

async fn render(
    call: &PageCall,
    status: StatusCode,
    form: &Form,
    refusal: Option<LoginRefusal>,
) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?;
    let guest = reader.as_ref().filter(|reader| reader.user.is_guest_account());
    let frame = call.frame(reader.as_ref());
    let page = LoginPage {
        frame: &frame,
        email: FieldState::with(form.text("email")),
        refusal,
        next: next_path::local(form.text("next")),
        guest_money: guest.map(|guest| guest.balance.total()).filter(|money| !money.is_zero()),
    };
    let response = PageResponse::html(status, page.render());
    if !call.is_suspended {
        return Ok(response);
    }
    // Another user may log in, and the cookie stays void after the end of the suspension.
    let has_session = call.cookie(PageCookie::Session).is_some();
    let void = if has_session { PageCookie::Session } else { PageCookie::Guest };
    Ok(response.with_cookie(&call.state.settings.cookies.forget(void)))
}

/// The way on from a login or a registration. Money in the guest account of this browser stays there, and its session
/// stays beside the new one. A request that waited for a payment belongs to the guest, so that it is dropped.
pub(super) async fn begun(call: &PageCall, session: &BrowserSession) -> Result<PageResponse, PageFailure> {
    let cookies = call.state.settings.cookies;
    let next = next_path::local(call.form.text("next"));
    let home = if session.profile.user.is_dj() { "/booth" } else { "/" };
    let response = PageResponse::see(next.unwrap_or(home)).with_cookie(&session::begun(cookies, session));
    let response = match call.cookie(PageCookie::Draft) {
        Some(_) => response.with_cookie(&cookies.forget(PageCookie::Draft)),
        None => response,
    };
    if has_money_to_lose(call).await?
        && let Some(cookie) = call.live_session_cookie().await?
    {
        return Ok(response.with_cookie(&session::kept(cookies, PageCookie::Guest, cookie)));
    }
    Ok(response)
}

/// Whether this is the session of a guest account that has money or waits for a payment.
pub(in crate::handlers) async fn has_money_to_lose(call: &PageCall) -> Result<bool, PageFailure> {
    let Some(principal) = call.principal.filter(Principal::is_guest_account) else { return Ok(false) };
    let has_money = call.profile().await?.is_some_and(|profile| !profile.balance.total().is_zero());
    let page = PageRequest::new(1, 1);
    let pending = call.use_cases().topups.list(&principal, Some(TopupStatus::Pending), page).await?;
    Ok(has_money || pending.total > 0)
}

pub(super) async fn log_out(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    // No login leads back to a guest account: its money would be lost.
    if has_money_to_lose(&call).await? {
        return Ok(PageResponse::see("/claim"));
    }
    call.use_cases().sessions.log_out(&call.context(&principal, None, "")).await?;
    Ok(ended(&call, Done::LoggedOut))
}

/// The way on from the end of the session. The session of a guest account that was kept beside it is the browser's
/// session again.
pub(in crate::handlers) fn ended(call: &PageCall, done: Done) -> PageResponse {
    let cookies = call.state.settings.cookies;
    let response = PageResponse::done("/", done)
        .with_cookie(&cookies.forget(PageCookie::Draft))
        .with_cookie(&cookies.forget(PageCookie::Password));
    match call.cookie(PageCookie::Guest) {
        Some(guest) => response
            .with_cookie(&session::kept(cookies, PageCookie::Session, guest))
            .with_cookie(&cookies.forget(PageCookie::Guest)),
        None => response.with_cookie(&cookies.forget(PageCookie::Session)),
    }
}
