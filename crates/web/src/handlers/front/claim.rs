//! The claim of a guest account.

use actix_web::http::StatusCode;
use cuepoint_domain::application::{
    AccountClaim, BrowserSession, ClaimRefusal, CommandError, RegisterRefusal,
};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::user::guest_account::ClaimDetails;
use cuepoint_pages::front::ClaimPage;
use cuepoint_transport::rate_limits::Class;

use super::register::{AccountFields, NewAccount};
use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::form::Form;
use crate::next_path;
use crate::response::{INVALID, PageResponse};
use crate::session;

pub(super) async fn show(call: PageCall, _: Principal) -> Result<PageResponse, PageFailure> {
    // A link that fills in an address would let its author take the wallet.
    let fields = AccountFields::unsent(Form::EMPTY);
    render(&call, StatusCode::OK, &call.query, fields).await
}

pub(super) async fn send(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let limits = call.limits();
    limits.count_for_network_instead(Class::Registrations).map_err(PageFailure::rate_limited)?;
    let frame = call.frame(None);
    let NewAccount { name, email, password } = match AccountFields::read(&call.form, &frame) {
        Ok(account) => account,
        Err(fields) => return render(&call, INVALID, &call.form, *fields).await,
    };
    let attempt = limits.admit_registration(&call.state.password_queue, &email)?;
    let details = ClaimDetails { email, name: Some(name), phone: None };
    let (context, claim) = (call.context(&principal, None, ""), AccountClaim { details, password });
    let claimed = call.use_cases().sign_ins.claim::<BrowserSession>(&context, claim).await;
    if !matches!(claimed, Err(CommandError::Refused(ClaimRefusal::EmailTaken | ClaimRefusal::NotAGuest))) {
        call.state.limits.give_back(attempt);
    }
    limits.refund_unhashed(&claimed);
    let refusal = match claimed {
        Ok(begun) => {
            let next = next_path::local(call.form.text("next")).unwrap_or("/wallet");
            let cookie = session::begun(call.state.settings.cookies, &begun);
            return Ok(PageResponse::see(next).with_cookie(&cookie));
        }
        Err(CommandError::Refused(ClaimRefusal::EmailTaken)) => RegisterRefusal::EmailTaken,
        Err(CommandError::Refused(ClaimRefusal::BreachedPassword)) => RegisterRefusal::BreachedPassword,
        Err(CommandError::Refused(ClaimRefusal::NotAGuest)) => return Ok(PageResponse::see("/wallet")),
        Err(CommandError::Input(never)) => match never {},
        Err(CommandError::Failed(failure)) => return Err(failure.into()),
    };
    render(&call, INVALID, &call.form, AccountFields::refused(&call.form, refusal, &frame)).await
}

async fn render(
    call: &PageCall,
    status: StatusCode,
    form: &Form,
    fields: AccountFields,
) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    if !reader.user.is_guest_account() {
        return Ok(PageResponse::see("/wallet"));
    }
    let AccountFields { name, email, password } = fields;
    let frame = call.frame(Some(&reader));
    let next = next_path::local(form.text("next"));
    let page = ClaimPage { frame: &frame, balance: reader.balance, name, email, password, next };
    Ok(call.html(status, page.render()))
}
