//! The display on a wall, and the overlay of a stream. They read no cookie: a shared screen is not one guest.

use std::sync::Arc;

use actix_web::http::StatusCode;
use cuepoint_domain::application::Failure;
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
    Ok(call.html(StatusCode::OK, DisplayPage { frame: &frame, part: &part }.render()))
}

async fn live(call: PageCall, kind: DisplayKind) -> Result<PageResponse, PageFailure> {
    let (board, frame) = (board(&call).await?, call.frame(None));
    let url = call.page_of(board.code);
    Ok(call.part(DisplayPart { frame: &frame, board: &board, url: &url, kind }.render()))
}

async fn board(call: &PageCall) -> Result<Arc<Board>, PageFailure> {
    let boards = &call.use_cases().boards;
    let find = async |code| boards.board(code).await;
    let is_unknown = |failure: &Failure| matches!(failure, Failure::NotFound);
    Ok(call.limits().look_up_code(boards, &call.parameter, None, find, is_unknown).await?)
}
