//! The display on a wall, and the overlay of a stream. They read no cookie: a shared screen is not one guest.

use std::sync::Arc;

use cuepoint_domain::gig::Board;
use cuepoint_pages::display::{DisplayKind, DisplayPage, DisplayPart};

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;
use crate::route::{PageRoute, public};

pub(super) fn routes() -> Vec<PageRoute> {
    vec![
        public("/g/{code}/display", |call| show(call, DisplayKind::Wall)),
        public("/g/{code}/display/live", |call| live(call, DisplayKind::Wall)),
        public("/g/{code}/overlay", |call| show(call, DisplayKind::Overlay)),
        public("/g/{code}/overlay/live", |call| live(call, DisplayKind::Overlay)),
    ]
}

async fn show(call: PageCall, kind: DisplayKind) -> Result<PageResponse, PageFailure> {
    let (board, frame) = (board(&call).await?, call.frame(None));
    let url = call.page_of(board.code);
    let part = DisplayPart { frame: &frame, board: &board, url: &url, kind };
    Ok(PageResponse::page(DisplayPage { frame: &frame, part: &part }.render()))
}

async fn live(call: PageCall, kind: DisplayKind) -> Result<PageResponse, PageFailure> {
    let (board, frame) = (board(&call).await?, call.frame(None));
    let url = call.page_of(board.code);
    Ok(call.part(DisplayPart { frame: &frame, board: &board, url: &url, kind }.render()))
}

/// The board of the code in the path. Unknown codes are counted.
pub(super) async fn board(call: &PageCall) -> Result<Arc<Board>, PageFailure> {
    call.look_up_code(&call.parameter, async |code| call.use_cases().boards.board(code).await).await
}
