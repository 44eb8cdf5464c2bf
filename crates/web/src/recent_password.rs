//! The password that a session repeats before withdrawals, changes of the address, and exports.
//!
//! The right password is remembered in a cookie of its own, signed for this session and time. The cookie of the session
//! alone is not enough.

use actix_web::cookie::Cookie;
use actix_web::http::StatusCode;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ports::Clock as _;
use cuepoint_domain::text::Password;
use cuepoint_domain::user::RecentPassword;
use cuepoint_pages::account::PasswordPage;
use cuepoint_pages::forms::FieldState;
use cuepoint_transport::rate_limits::Class;

use crate::call::PageCall;
use crate::cookies::PageCookie;
use crate::failure::{PageFailure, or_refusal};
use crate::response::{INVALID, PageResponse};

/// The field with the password.
const FIELD: &str = "password";

/// Whether a form goes on.
pub(crate) enum Confirmed {
    /// The password was repeated, now or a short time ago.
    Recent(RepeatedPassword),
    /// The page that asks for the password, which sends the form again.
    Asked(PageResponse),
}

/// A recent password.
pub(crate) struct RepeatedPassword {
    pub(crate) recent: RecentPassword,
    /// The new cookie, if the password was just repeated.
    cookie: Option<Cookie<'static>>,
}

impl RepeatedPassword {
    /// The answer to the form, which keeps the password for the next forms.
    pub(crate) fn kept_by(self, answer: PageResponse) -> PageResponse {
        match self.cookie {
            Some(cookie) => answer.with_cookie(&cookie),
            None => answer,
        }
    }
}

/// The password that this session repeated a short time ago.
pub(crate) fn recent(call: &PageCall, principal: &Principal) -> Option<RecentPassword> {
    let proof = call.cookie(PageCookie::Password)?;
    let now = call.state.service.authentication.clock.now();
    call.state.password_proofs.read(&proof, principal.session, now)
}

/// Checks the password in the form; `None` if it is wrong.
pub(crate) async fn check(
    call: &PageCall,
    principal: &Principal,
) -> Result<Option<RepeatedPassword>, PageFailure> {
    let password = Password::presented(call.form.secret(FIELD));
    let context = call.context(principal, None, "");
    let checked = call.use_cases().passwords.check(&context, &password);
    let checked = if call.class == Class::Guess {
        let checked = checked.await;
        call.limits().refund_unhashed(&checked);
        checked
    } else {
        call.limits().with_password(principal, checked).await.map_err(PageFailure::rate_limited)?
    };
    match or_refusal(checked)? {
        Ok(recent) => Ok(Some(RepeatedPassword { recent, cookie: Some(cookie(call, recent)?) })),
        Err(_) => Ok(None),
    }
}

fn cookie(call: &PageCall, recent: RecentPassword) -> Result<Cookie<'static>, PageFailure> {
    let now = call.state.service.authentication.clock.now();
    let proof = call.state.password_proofs.issue(recent, now)?;
    let seconds = RecentPassword::VALID_FOR.whole_seconds();
    Ok(call.state.settings.cookies.keep(PageCookie::Password, proof, seconds))
}

/// Whether this form goes on. The page that asks for the password keeps the form's fields with these names.
pub(crate) async fn ensure(
    call: &PageCall,
    principal: &Principal,
    kept: &[&str],
) -> Result<Confirmed, PageFailure> {
    if let Some(recent) = recent(call, principal) {
        return Ok(Confirmed::Recent(RepeatedPassword { recent, cookie: None }));
    }
    let is_presented = call.form.has(FIELD);
    if is_presented && let Some(repeated) = check(call, principal).await? {
        return Ok(Confirmed::Recent(repeated));
    }
    let fields: Vec<(&str, &str)> = kept.iter().map(|name| (*name, call.form.text(name))).collect();
    Ok(Confirmed::Asked(page(call, INVALID, call.path(), &fields, is_presented).await?))
}

/// The page that asks for the password, for a form with this path and these fields.
pub(crate) async fn page(
    call: &PageCall,
    status: StatusCode,
    action: &str,
    fields: &[(&str, &str)],
    was_wrong: bool,
) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    let frame = call.frame(Some(&reader));
    let error = was_wrong.then(|| frame.t.wrong_password());
    let password = FieldState { value: String::new(), error };
    let email = reader.user.email.as_str();
    let page = PasswordPage { frame: &frame, email, password, action, fields };
    Ok(PageResponse::html(status, page.render()))
}
