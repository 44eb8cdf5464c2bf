//! The forms of the caller's cards: cancel and rate.

use cuepoint_domain::application::commands::{CancelRequest, RateRequest};
use cuepoint_domain::application::{Failure, InvalidTransition};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::music_request::Stars;
use cuepoint_pages::done::Done;

use crate::call::{FormKey, PageCall};
use crate::failure::PageFailure;
use crate::response::PageResponse;

/// A move that the status no longer allows: another change came first.
impl From<InvalidTransition> for PageFailure {
    fn from(_: InvalidTransition) -> Self {
        Self::Outdated
    }
}

/// The principal who made the request: the one of the session, or the guest account from before the login.
async fn maker(call: &PageCall, principal: Principal, id: RequestId) -> Result<Principal, PageFailure> {
    let Some(guest) = call.kept_guest().await? else { return Ok(principal) };
    match call.use_cases().music_requests.visible(&guest, id).await {
        Ok(_) => Ok(guest),
        Err(Failure::NotFound | Failure::Denied(_)) => Ok(principal),
        Err(failure) => Err(failure.into()),
    }
}

pub(super) async fn cancel(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let (key, id) = (FormKey::of(&call.form)?, call.id(RequestId::new)?);
    let principal = maker(&call, principal, id).await?;
    call.run(&principal, Some(&key), CancelRequest { id }, (), &id.to_string()).await?;
    Ok(PageResponse::done(&call.back(), Done::Cancelled))
}

pub(super) async fn rate(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let id = call.id(RequestId::new)?;
    let stars = call.form.text("stars").parse().ok().and_then(Stars::new).ok_or(PageFailure::NoForm)?;
    let principal = maker(&call, principal, id).await?;
    call.run(&principal, None, RateRequest { id }, stars, "").await?;
    Ok(PageResponse::done(&call.back(), Done::Rated))
}
