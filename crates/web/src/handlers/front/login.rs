//! Login and logout.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{BrowserSession, LoginRefusal};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::text::Password;
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::front::LoginPage;
use cuepoint_transport::rate_limits::LoginAttempt;

use crate::call::PageCall;
use crate::cookies::PageCookie;
use crate::failure::{PageFailure, or_refusal};
use crate::form::Form;
use crate::guest_cookie::{self, NextGuestCookie};
use crate::handlers::draft::Draft;
use crate::known_browser;
use crate::next_path;
use crate::response::{INVALID, PageResponse};

pub(super) async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    render(&call, StatusCode::OK, &call.query, None).await
}

pub(super) async fn send(call: PageCall) -> Result<PageResponse, PageFailure> {
    let (email, password) = (call.form.text("email"), Password::presented(call.form.secret("password")));
    let kept = NextGuestCookie::with_own_wallet(&call).await?;
    match log_in(&call, email, &password).await? {
        Ok(session) => Ok(begun(&call, kept, &session).await),
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
    let browser = known_browser::session_of(call, email).await?;
    let (queue, sign_ins) = (&call.state.password_queue, &call.use_cases().sign_ins);
    let attempt = call.limits().admit_login(queue, sign_ins, email, browser).await?;
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
        has_unknown_key: call.principal.is_none() && guest_cookie::has_unknown(call).await?,
        guest_money: guest.map(|guest| guest.balance.total()).filter(|money| !money.is_zero()),
    };
    Ok(PageResponse::html(status, page.render()))
}

/// The way on from a login or a registration. Money in the guest account of this browser stays there, and its session
/// stays beside the new one. A request that waited for a payment belongs to the guest, so that it is dropped.
pub(super) async fn begun(call: &PageCall, kept: NextGuestCookie, session: &BrowserSession) -> PageResponse {
    let next = next_path::local(call.form.text("next"));
    let home = if session.profile.user.is_dj() { "/booth" } else { "/" };
    let response = kept.begin(call, PageResponse::see(next.unwrap_or(home)), session);
    let began = (session.profile.user.id, session.session);
    let response = known_browser::remembered(call, response, began).await;
    Draft::dropped_with(call, response)
}

/// Whether this is the session of a guest account that has money or waits for a payment.
pub(in crate::handlers) async fn has_money_to_lose(call: &PageCall) -> Result<bool, PageFailure> {
    let Some(principal) = call.principal.filter(Principal::is_guest_account) else { return Ok(false) };
    guest_cookie::has_money(call, &principal).await
}

pub(super) async fn log_out(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    // No login leads back to a guest account: its money would be lost.
    if has_money_to_lose(&call).await? {
        return Ok(PageResponse::see("/claim"));
    }
    call.use_cases().sessions.log_out(&call.context(&principal, None, "")).await?;
    Ok(ended(&call, DoneNotice::LoggedOut).await)
}

/// The next page after the end of the session. The guest cookie stays, so that a guest account that was kept there acts
/// again. A session cookie that the database does not know stays, too.
pub(in crate::handlers) async fn ended(call: &PageCall, done: DoneNotice) -> PageResponse {
    let cookies = call.state.settings.cookies;
    let response = PageResponse::done("/", done)
        .with_cookie(&cookies.forget(PageCookie::Draft))
        .with_cookie(&cookies.forget(PageCookie::Password));
    match guest_cookie::has_known_session(call).await {
        Ok(true) => response.with_cookie(&cookies.forget(PageCookie::Session)),
        // The cookie of an ended session does no harm.
        Ok(false) | Err(_) => response,
    }
}
