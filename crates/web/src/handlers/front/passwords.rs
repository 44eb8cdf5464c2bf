//! Forgotten passwords.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{RequestResetRefusal, ResetPasswordRefusal};
use cuepoint_domain::ports::Token;
use cuepoint_domain::text::{Email, Password};
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::front::{ForgotPage, ForgotState, ResetPage};

use crate::call::PageCall;
use crate::failure::{PageFailure, or_refusal};
use crate::response::{INVALID, PageResponse};

pub(super) async fn forgot(call: PageCall) -> Result<PageResponse, PageFailure> {
    let offers = call.use_cases().settings.sends_email();
    let state = if offers { ForgotState::Form } else { ForgotState::NotOffered };
    Ok(forgot_page(&call, StatusCode::OK, FieldState::default(), state))
}

pub(super) async fn send_forgot(call: PageCall) -> Result<PageResponse, PageFailure> {
    let typed = call.form.text("email");
    let email = match Email::new(typed) {
        Ok(email) => email,
        Err(error) => {
            let field = FieldState::refused(typed, call.frame(None).refused_email(error));
            return Ok(forgot_page(&call, INVALID, field, ForgotState::Form));
        }
    };
    call.count_valid()?;
    let state = match or_refusal(call.use_cases().passwords.request_reset(&call.client_context(), email))? {
        Ok(()) => ForgotState::Sent,
        Err(RequestResetRefusal::NotOffered) => ForgotState::NotOffered,
    };
    Ok(forgot_page(&call, StatusCode::OK, FieldState::with(typed), state))
}

fn forgot_page(call: &PageCall, status: StatusCode, email: FieldState, state: ForgotState) -> PageResponse {
    let frame = call.frame(None);
    PageResponse::html(status, ForgotPage { frame: &frame, email, state }.render())
}

pub(super) async fn reset(call: PageCall) -> Result<PageResponse, PageFailure> {
    Ok(reset_page(&call, StatusCode::OK, FieldState::default(), FieldState::default()))
}

pub(super) async fn send_reset(call: PageCall) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    let token = call.form.text("token");
    let password = match Password::new(call.form.secret("password")) {
        Ok(password) => password,
        Err(error) => {
            let field = FieldState { value: String::new(), error: Some(frame.refused_text(error)) };
            return Ok(reset_page(&call, INVALID, FieldState::with(token), field));
        }
    };
    call.count_valid()?;
    let presented = Token(token.to_owned());
    let reset = call.use_cases().passwords.reset(&call.client_context(), &presented, &password).await;
    call.limits().refund_unhashed(&reset);
    let (token, password) = match or_refusal(reset)? {
        Ok(()) => return Ok(PageResponse::done("/login", DoneNotice::PasswordSet)),
        Err(ResetPasswordRefusal::InvalidToken) => {
            (FieldState::refused(token, frame.t.wrong_token()), FieldState::default())
        }
        Err(ResetPasswordRefusal::BreachedPassword) => {
            (FieldState::with(token), FieldState::refused("", frame.t.breached_password()))
        }
    };
    Ok(reset_page(&call, INVALID, token, password))
}

fn reset_page(call: &PageCall, status: StatusCode, token: FieldState, password: FieldState) -> PageResponse {
    let frame = call.frame(None);
    PageResponse::html(status, ResetPage { frame: &frame, token, password }.render())
}
