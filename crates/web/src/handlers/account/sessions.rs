//! The end of sessions.

use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::SessionId;
use cuepoint_pages::done::DoneNotice;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::handlers::front;
use crate::response::PageResponse;

pub(super) async fn end(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let id = call.id(SessionId::new)?;
    if id == principal.session && front::has_money_to_lose(&call).await? {
        return Ok(PageResponse::see("/claim"));
    }
    let ended = call.use_cases().sessions.end(&call.context(&principal, None, ""), id).await;
    match ended.map_err(PageFailure::from) {
        // A session that has ended is gone from the page.
        Ok(()) | Err(PageFailure::NotFound) if id != principal.session => {
            Ok(PageResponse::done("/account", DoneNotice::SessionEnded))
        }
        Ok(()) => Ok(front::ended(&call, DoneNotice::LoggedOut).await),
        Err(failure) => Err(failure),
    }
}

pub(super) async fn end_all(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    if front::has_money_to_lose(&call).await? {
        return Ok(PageResponse::see("/claim"));
    }
    call.use_cases().sessions.end_all(&call.context(&principal, None, "")).await?;
    Ok(front::ended(&call, DoneNotice::SessionsEnded).await)
}
