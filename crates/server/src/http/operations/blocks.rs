//! Whom a DJ takes no requests from.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::UserId;

use crate::http::call::{self, Call};
use crate::http::openapi::bodies::PageQuery;
use crate::http::operations::views::{Block, BlockData, Nothing};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::page::Page;

/// Lists whom the caller, who is a DJ, takes no requests from.
#[utoipa::path(
    get,
    path = "/api/v1/music/dj/blocks",
    operation_id = "listBlocks",
    tag = "DJs",
    params(PageQuery),
    responses((status = 200, description = "A page of blocks, newest first.", body = Success<Page<Block>>)),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let paging = call.paging(&[]);
    let rows = call.app.services.blocks.list(&caller, paging.request()).await?;
    call::page("Blocks.", &paging, &rows, Block::new)
}

/// Blocks a person who made a request to the caller; open requests stay open.
///
/// A second call changes nothing. It is a 404 for everybody who made no request to the caller.
#[utoipa::path(
    put,
    path = "/api/v1/music/dj/blocks/{id}",
    operation_id = "blockGuest",
    tag = "DJs",
    responses((status = 200, description = "They are blocked.", body = Success<BlockData>)),
)]
pub async fn block(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let block = call.app.services.blocks.block(&caller, call.id(UserId::new)?).await?;
    Answer::ok("Blocked.", BlockData { block: Block::new(&block) })
}

/// Takes requests from somebody again, also where they were not blocked.
#[utoipa::path(
    delete,
    path = "/api/v1/music/dj/blocks/{id}",
    operation_id = "unblockGuest",
    tag = "DJs",
    responses((status = 200, description = "They are not blocked.", body = Success<Nothing>)),
)]
pub async fn unblock(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    call.app.services.blocks.unblock(&caller, call.id(UserId::new)?).await?;
    Answer::ok("Unblocked.", Nothing {})
}
