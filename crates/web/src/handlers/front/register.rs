//! Registration of members and DJs.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{BrowserSession, RegisterRefusal, Registration};
use cuepoint_pages::forms::AccountFields;
use cuepoint_pages::front::RegisterPage;

use super::account_fields::{self, NewAccount};
use super::login;
use crate::call::PageCall;
use crate::failure::{PageFailure, or_refusal};
use crate::form::Form;
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
    let attempt = call.limits().admit_registration(&call.state.password_queue, &email)?;
    let registration = Registration { name, email, password, phone: None, is_dj };
    let sign_ins = &call.use_cases().sign_ins;
    let registered = sign_ins.register::<BrowserSession>(&call.client_context(), registration).await;
    call.limits().conclude(attempt, &registered, |refusal| matches!(refusal, RegisterRefusal::EmailTaken));
    match or_refusal(registered)? {
        Ok(session) => login::begun(&call, &session).await,
        Err(refusal) => {
            let fields = account_fields::refused(&call.form, refusal, &frame);
            render(&call, INVALID, &call.form, fields, is_dj)
        }
    }
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
