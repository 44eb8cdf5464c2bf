//! Codes that prove an e-mail address or a phone number.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{Address, SendCodeRefusal, VerifyRefusal};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ports::Token;
use cuepoint_pages::done::DoneNotice;
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::front::VerifyPage;
use cuepoint_pages::texts::Text;

use crate::call::PageCall;
use crate::failure::{PageFailure, or_refusal};
use crate::form::Form;
use crate::response::{INVALID, PageResponse};

fn address_of(form: &Form) -> Address {
    if form.text("address") == "phone" { Address::Phone } else { Address::Email }
}

pub(super) async fn show(call: PageCall, _: Principal) -> Result<PageResponse, PageFailure> {
    render(&call, StatusCode::OK, &call.query, Shown::default()).await
}

pub(super) async fn send(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let context = call.context(&principal, None, "");
    let sent = call.use_cases().verifications.send_code(&context, address_of(&call.form)).await;
    let t = call.language.texts();
    let problem = match or_refusal(sent)? {
        Ok(()) => None,
        Err(refusal) => Some(match refusal {
            SendCodeRefusal::NoAddress | SendCodeRefusal::NotOffered => t.codes_not_offered(),
            SendCodeRefusal::BudgetSpent(_) | SendCodeRefusal::TooMany { .. } => t.too_many_codes(),
        }),
    };
    let status = if problem.is_some() { INVALID } else { StatusCode::OK };
    let shown = Shown { is_sent: problem.is_none(), problem, ..Shown::default() };
    render(&call, status, &call.form, shown).await
}

pub(super) async fn check(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let context = call.context(&principal, None, "");
    let code = call.form.text("code");
    let presented = Token(code.to_owned());
    let verified = call.use_cases().verifications.verify(&context, address_of(&call.form), &presented).await;
    match or_refusal(verified)? {
        Ok(_) => Ok(PageResponse::done("/account", DoneNotice::Verified)),
        Err(VerifyRefusal::InvalidCode) => {
            let code = FieldState::refused(code, call.language.texts().wrong_code());
            render(&call, INVALID, &call.form, Shown { is_sent: true, code, problem: None }).await
        }
    }
}

#[derive(Default)]
struct Shown {
    is_sent: bool,
    code: FieldState,
    problem: Option<Text>,
}

async fn render(
    call: &PageCall,
    status: StatusCode,
    form: &Form,
    Shown { is_sent, code, problem }: Shown,
) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    let address = address_of(form);
    let phone = reader.user.phone.as_ref().map_or("", |phone| phone.as_str()).to_owned();
    let shown = match address {
        Address::Email => reader.user.shown_email(),
        Address::Phone => phone,
    };
    let frame = call.frame(Some(&reader));
    let page = VerifyPage { frame: &frame, address, shown: &shown, is_sent, code, problem };
    Ok(PageResponse::html(status, page.render()))
}
