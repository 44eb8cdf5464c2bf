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
        public("/g/{code}/display", |call| show(call, DisplayKind::Wall)).with_language(),
        public("/g/{code}/display/live", |call| live(call, DisplayKind::Wall)).with_language(),
        public("/g/{code}/overlay", |call| show(call, DisplayKind::Overlay)).with_language(),
        public("/g/{code}/overlay/live", |call| live(call, DisplayKind::Overlay)).with_language(),
    ]
}

async fn show(call: PageCall, kind: DisplayKind) -> Result<PageResponse, PageFailure> {
    let (board, frame) = (board(&call).await?, call.frame(None));
    let (url, named_language) = (call.page_of(board.code), call.named_language);
    let part = DisplayPart { frame: &frame, board: &board, url: &url, kind, named_language };
    Ok(PageResponse::page(DisplayPage { frame: &frame, part: &part }.render()))
}

async fn live(call: PageCall, kind: DisplayKind) -> Result<PageResponse, PageFailure> {
    let (board, frame) = (board(&call).await?, call.frame(None));
    let (url, named_language) = (call.page_of(board.code), call.named_language);
    Ok(call.part(DisplayPart { frame: &frame, board: &board, url: &url, kind, named_language }.render()))
}

/// The board of the code in the path. Unknown codes are counted.
pub(super) async fn board(call: &PageCall) -> Result<Arc<Board>, PageFailure> {
    call.look_up_code(&call.parameter, async |code| call.use_cases().boards.board(code).await).await
}
