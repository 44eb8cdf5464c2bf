//! The guests whom the DJ blocks: the list, and the end of a block.

use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::UserId;
use cuepoint_pages::booth::BlocksPage;
use cuepoint_pages::done::DoneNotice;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;

/// The number of blocks on a page.
const BLOCKS: u32 = 50;

pub(super) async fn list(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let page = call.list_page(BLOCKS);
    let blocks = call.use_cases().blocks.list(&principal, page).await?;
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    Ok(PageResponse::page(BlocksPage { frame: &frame, blocks: &blocks, page }.render()))
}

pub(super) async fn end(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let guest = call.form.text("guest").parse().ok().and_then(UserId::new).ok_or(PageFailure::NoForm)?;
    call.use_cases().blocks.unblock(&call.context(&principal, None, ""), guest).await?;
    Ok(PageResponse::done("/booth/blocks", DoneNotice::Unblocked))
}
