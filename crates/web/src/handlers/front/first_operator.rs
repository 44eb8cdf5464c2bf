//! The registration of the first operator, with the code on the terminal.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{
    BrowserSession, FirstOperatorRefusal, NewOperator, NewOperatorRefusal, RegisterRefusal,
};
use cuepoint_domain::ports::Token;
use cuepoint_pages::forms::{AccountFields, FieldState};
use cuepoint_pages::front::FirstOperatorPage;

use super::account_fields::{self, NewAccount};
use super::login;
use crate::call::PageCall;
use crate::failure::{PageFailure, or_refusal};
use crate::form::Form;
use crate::guest_cookie::NextGuestCookie;
use crate::response::{INVALID, PageResponse};

pub(super) async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    if !call.use_cases().operators.awaits_first().await? {
        return Err(PageFailure::NotFound);
    }
    let fields = account_fields::unsent(Form::EMPTY);
    Ok(render(&call, StatusCode::OK, FieldState::default(), fields))
}

pub(super) async fn send(call: PageCall) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    let code = FieldState::with(call.form.text("code"));
    let NewAccount { name, email, password } = match account_fields::read(&call.form, &frame) {
        Ok(account) => account,
        Err(fields) => return Ok(render(&call, INVALID, code, *fields)),
    };
    call.count_valid()?;
    let new = NewOperator { name, email, password };
    let presented = Token(code.value.clone());
    let operators = &call.use_cases().operators;
    let kept = NextGuestCookie::with_own_wallet(&call).await?;
    let registered =
        operators.register_first::<BrowserSession>(&call.client_context(), &presented, new).await;
    let refusal = match or_refusal(registered)? {
        Ok(session) => return Ok(login::begun(&call, kept, &session).await),
        Err(refusal) => refusal,
    };
    let refused = |refusal| account_fields::refused(&call.form, refusal, &frame);
    Ok(match refusal {
        // The form may have been sent twice.
        FirstOperatorRefusal::MadeBefore => return Ok(PageResponse::see("/login")),
        FirstOperatorRefusal::InvalidCode => {
            let code = FieldState { error: Some(frame.t.wrong_code()), ..code };
            render(&call, INVALID, code, account_fields::unsent(&call.form))
        }
        FirstOperatorRefusal::Account(NewOperatorRefusal::EmailTaken) => {
            render(&call, INVALID, code, refused(RegisterRefusal::EmailTaken))
        }
        FirstOperatorRefusal::Account(NewOperatorRefusal::BreachedPassword) => {
            render(&call, INVALID, code, refused(RegisterRefusal::BreachedPassword))
        }
    })
}

fn render(call: &PageCall, status: StatusCode, code: FieldState, account: AccountFields) -> PageResponse {
    let frame = call.frame(None);
    let page = FirstOperatorPage { frame: &frame, code, account };
    PageResponse::html(status, page.render())
}
