//! Registration of members and DJs.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{
    BrowserSession, CommandError, LoginRefusal, RegisterRefusal, Registration,
};
use cuepoint_domain::text::{Email, Password};
use cuepoint_pages::forms::AccountFields;
use cuepoint_pages::front::RegisterPage;
use cuepoint_transport::rate_limits::{Class, LoginAttempt};

use super::account_fields::{self, NewAccount};
use super::login;
use crate::call::PageCall;
use crate::failure::{PageFailure, or_refusal};
use crate::form::Form;
use crate::guest_cookie::NextGuestCookie;
use crate::next_path;
use crate::response::{INVALID, PageResponse};

pub(super) async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    let is_dj = call.query.text("dj") == "1";
    render(&call, StatusCode::OK, &call.query, account_fields::unsent(Form::EMPTY), is_dj)
}

pub(super) async fn send(call: PageCall) -> Result<PageResponse, PageFailure> {
    let is_dj = call.form.text("is_dj") == "1";
    let frame = call.frame(None);
    let account = match account_fields::read(&call.form, &frame) {
        Ok(account) => account,
        Err(fields) => return render(&call, INVALID, &call.form, *fields, is_dj),
    };
    let NewAccount { name, email, password } = account;
    if call.use_cases().sign_ins.is_breached(&password) {
        let refused = account_fields::refused(&call.form, RegisterRefusal::BreachedPassword, &frame);
        return render(&call, INVALID, &call.form, refused, is_dj);
    }
    let (typed, presented) = (email.clone(), password.clone());
    let kept = NextGuestCookie::with_own_wallet(&call).await?;
    let attempt = call.limits().admit_registration(&call.state.password_queue, &email)?;
    let registration = Registration { name, email, password, phone: None, is_dj };
    let sign_ins = &call.use_cases().sign_ins;
    let registered = sign_ins.register::<BrowserSession>(&call.client_context(), registration).await;
    let refused = if matches!(registered, Err(CommandError::Refused(RegisterRefusal::EmailTaken))) {
        match log_in_instead(&call, attempt, &typed, &presented).await? {
            Ok(session) => return Ok(login::begun(&call, kept, &session).await),
            Err(refused) => refused,
        }
    } else {
        call.limits().conclude(attempt, &registered, |_| false);
        match or_refusal(registered)? {
            Ok(session) => return Ok(login::begun(&call, kept, &session).await),
            Err(refusal) => account_fields::refused(&call.form, refusal, &frame),
        }
    };
    render(&call, INVALID, &call.form, refused, is_dj)
}

/// The login of an account whose owner registers again, such as by a form whose answer was lost; otherwise the fields
/// with an error. It counts as a registration and as a login, and says no more about a wrong password. The attempt to
/// register with the address stays counted as a failed login until the password is found right.
async fn log_in_instead(
    call: &PageCall,
    attempt: LoginAttempt,
    email: &Email,
    password: &Password,
) -> Result<Result<BrowserSession, AccountFields>, PageFailure> {
    call.limits().count(Class::Login).map_err(PageFailure::rate_limited)?;
    let refusal = match login::log_in_as_admitted(call, attempt, email.as_str(), password).await? {
        Ok(session) => return Ok(Ok(session)),
        Err(refusal) => refusal,
    };
    let frame = call.frame(None);
    let mut fields = account_fields::refused(&call.form, RegisterRefusal::EmailTaken, &frame);
    if refusal == LoginRefusal::Suspended {
        fields.email.error = Some(frame.t.account_suspended());
    }
    Ok(Err(fields))
}

fn render(
    call: &PageCall,
    status: StatusCode,
    form: &Form,
    account: AccountFields,
    is_dj: bool,
) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    let page = RegisterPage { frame: &frame, account, is_dj, next: next_path::local(form.text("next")) };
    Ok(PageResponse::html(status, page.render()))
}
