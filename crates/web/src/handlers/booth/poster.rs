//! The poster: `/booth/qr?size=a4`.

use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::GigStatus;
use cuepoint_pages::display::{Poster, PosterSize};

use super::page;
use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;

pub(super) async fn show(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    // A code begins with the first gig.
    let Some(newest) = page::newest_gig(&call, &principal).await? else {
        return Ok(PageResponse::see("/booth"));
    };
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    let frame = call.frame(Some(&reader));
    let title = match newest.status {
        GigStatus::Ended => reader.user.name.as_str(),
        GigStatus::Open | GigStatus::Paused => newest.gig.details.title.as_str(),
    };
    let url = call.page_of(newest.gig.code);
    let size = PosterSize::named(call.query.text("size")).unwrap_or_default();
    let (code, named_language) = (newest.gig.code, call.named_language);
    let page = Poster { frame: &frame, title, code, url: &url, size, named_language };
    Ok(PageResponse::page(page.render()))
}
