//! Export and erasure.

use cuepoint_adapters::personal_data_export;
use cuepoint_domain::application::EraseRefusal;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::text::Password;
use cuepoint_pages::done::DoneNotice;

use super::page::{self, Left};
use crate::call::PageCall;
use crate::failure::{PageFailure, or_refusal};
use crate::handlers::front;
use crate::recent_password;
use crate::response::PageResponse;

/// `POST /account/export`: the document of the API's export. Members need a recent password; guest accounts have none.
pub(super) async fn export(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    if !principal.is_guest_account() && recent_password::recent(&call, &principal).is_none() {
        return Ok(PageResponse::see("/account/confirm?next=/account"));
    }
    let context = call.context(&principal, None, "");
    let document = personal_data_export::document(call.use_cases(), &context, call.currency()).await?;
    Ok(PageResponse::streamed_download("application/json", "personal-data.json", document))
}

pub(super) async fn erase(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let typed = call.form.secret("password");
    let password = (!typed.is_empty()).then(|| Password::presented(typed));
    let context = call.context(&principal, None, "");
    let erased = call.use_cases().personal_data.erase(&context, password.as_ref()).await;
    call.limits().refund_unhashed(&erased);
    match or_refusal(erased)? {
        Ok(()) => Ok(front::ended(&call, DoneNotice::Erased).await),
        Err(refusal) => refused(&call, &principal, refusal).await,
    }
}

async fn refused(
    call: &PageCall,
    principal: &Principal,
    refusal: EraseRefusal,
) -> Result<PageResponse, PageFailure> {
    page::again(call, principal, Left { erasure: Some(refusal), ..Left::default() }).await
}
