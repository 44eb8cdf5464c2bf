//! The forms of the caller's cards: cancel and rate.

use cuepoint_domain::application::commands::{CancelRequest, RateRequest};
use cuepoint_domain::application::{Failure, InvalidTransition};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::music_request::Stars;
use cuepoint_pages::done::DoneNotice;

use crate::call::{FormKey, PageCall};
use crate::failure::PageFailure;
use crate::response::PageResponse;

/// A move that the status no longer allows: another change came first.
impl From<InvalidTransition> for PageFailure {
    fn from(_: InvalidTransition) -> Self {
        Self::Outdated
    }
}

/// The principal who made the request: the principal of the session, or a kept guest account.
async fn maker(call: &PageCall, principal: Principal, id: RequestId) -> Result<Principal, PageFailure> {
    for guest in call.kept_guests().await? {
        match call.use_cases().music_requests.visible(&guest, id).await {
            Ok(_) => return Ok(guest),
            Err(Failure::NotFound | Failure::Denied(_)) => {}
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(principal)
}

pub(super) async fn cancel(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let (key, id) = (FormKey::of(&call.form)?, call.id(RequestId::new)?);
    let principal = maker(&call, principal, id).await?;
    call.run(&principal, Some(&key), CancelRequest { id }, (), &id.to_string()).await?;
    Ok(PageResponse::done(&call.back(), DoneNotice::Cancelled))
}

pub(super) async fn rate(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let id = call.id(RequestId::new)?;
    let stars = call.form.text("stars").parse().ok().and_then(Stars::new).ok_or(PageFailure::NoForm)?;
    let principal = maker(&call, principal, id).await?;
    call.run(&principal, None, RateRequest { id }, stars, "").await?;
    Ok(PageResponse::done(&call.back(), DoneNotice::Rated))
}
