//! The guests whom the DJ blocks: the list, and the end of a block.

use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::page::PageRequest;
use cuepoint_pages::booth::BlocksPage;
use cuepoint_pages::done::Done;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;

/// The number of blocks on a page.
const BLOCKS: u32 = 50;

pub(super) async fn list(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let page = call.query.text("page").parse().unwrap_or(1).max(1);
    let rows = call.use_cases().blocks.list(&principal, PageRequest::new(page, BLOCKS)).await?;
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    let pages = rows.total.div_ceil(BLOCKS.into()).max(1);
    Ok(PageResponse::page(BlocksPage { frame: &frame, blocks: &rows.rows, page, pages }.render()))
}

pub(super) async fn end(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let guest = call.form.text("guest").parse().ok().and_then(UserId::new).ok_or(PageFailure::NoForm)?;
    call.use_cases().blocks.unblock(&call.context(&principal, None, ""), guest).await?;
    Ok(PageResponse::done("/booth/blocks", Done::Unblocked))
}
