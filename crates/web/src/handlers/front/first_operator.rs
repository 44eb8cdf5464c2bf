//! The registration of the first operator, with the code on the terminal.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{
    BrowserSession, CommandError, FirstOperatorRefusal, NewOperator, NewOperatorRefusal, RegisterRefusal,
};
use cuepoint_domain::ports::Token;
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::front::FirstOperatorPage;

use super::login;
use super::register::{AccountFields, NewAccount};
use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::form::Form;
use crate::response::{INVALID, PageResponse};

pub(super) async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    if call.use_cases().operators.has_active().await? {
        return Err(PageFailure::NotFound);
    }
    let fields = AccountFields::unsent(Form::EMPTY);
    Ok(render(&call, StatusCode::OK, FieldState::default(), fields))
}

pub(super) async fn send(call: PageCall) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    let code = FieldState::with(call.form.text("code"));
    let NewAccount { name, email, password } = match AccountFields::read(&call.form, &frame) {
        Ok(account) => account,
        Err(fields) => return Ok(render(&call, INVALID, code, *fields)),
    };
    let new = NewOperator { name, email, password };
    let presented = Token(code.value.clone());
    let operators = &call.use_cases().operators;
    let registered =
        operators.register_first::<BrowserSession>(&call.client_context(), &presented, new).await;
    let refusal = match registered {
        Ok(session) => return login::begun(&call, &session).await,
        Err(CommandError::Refused(refusal)) => refusal,
        Err(CommandError::Input(never)) => match never {},
        Err(CommandError::Failed(failure)) => return Err(failure.into()),
    };
    let refused = |refusal| AccountFields::refused(&call.form, refusal, &frame);
    Ok(match refusal {
        FirstOperatorRefusal::MadeBefore => return Err(PageFailure::NotFound),
        FirstOperatorRefusal::InvalidCode => {
            let code = FieldState { error: Some(frame.t.wrong_code()), ..code };
            render(&call, INVALID, code, AccountFields::unsent(&call.form))
        }
        FirstOperatorRefusal::Account(NewOperatorRefusal::EmailTaken) => {
            render(&call, INVALID, code, refused(RegisterRefusal::EmailTaken))
        }
        FirstOperatorRefusal::Account(NewOperatorRefusal::BreachedPassword) => {
            render(&call, INVALID, code, refused(RegisterRefusal::BreachedPassword))
        }
    })
}

fn render(call: &PageCall, status: StatusCode, code: FieldState, fields: AccountFields) -> PageResponse {
    let AccountFields { name, email, password } = fields;
    let frame = call.frame(None);
    let page = FirstOperatorPage { frame: &frame, code, name, email, password };
    call.html(status, page.render())
}
