//! `/account/confirm`: the password before a step that needs it.

use actix_web::http::StatusCode;
use cuepoint_domain::authorization::Principal;
use cuepoint_pages::done::DoneNotice;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::form::Form;
use crate::next_path;
use crate::recent_password;
use crate::response::{INVALID, PageResponse};

/// The page of this path.
const PATH: &str = "/account/confirm";

pub(super) async fn show(call: PageCall, _: Principal) -> Result<PageResponse, PageFailure> {
    ask(&call, &call.query, false).await
}

pub(super) async fn send(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    match recent_password::check(&call, &principal).await? {
        Some(repeated) => {
            Ok(repeated.kept_by(PageResponse::done(next(&call.form), DoneNotice::PasswordConfirmed)))
        }
        None => ask(&call, &call.form, true).await,
    }
}

async fn ask(call: &PageCall, form: &Form, was_wrong: bool) -> Result<PageResponse, PageFailure> {
    let status = if was_wrong { INVALID } else { StatusCode::OK };
    recent_password::page(call, status, PATH, &[("next", next(form))], was_wrong).await
}

fn next(form: &Form) -> &str {
    next_path::local(form.text("next")).unwrap_or("/account")
}
