//! Guests blocked by a DJ.

use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::UserId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::call::{self, ApiCall};
use crate::declaration::{ok, operations, page};
use crate::endpoint::authenticated;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use cuepoint_views::Empty;
use cuepoint_views::block::BlockedGuestView;

operations! {
    /// List blocked guests
    ///
    /// The guests blocked by the caller, a DJ. The newest block comes first. Returns 403 `dj_only` to a caller
    /// who is not a DJ.
    GET "/api/v1/music/dj/blocks" "listBlockedGuests" {
        tag: Djs,
        run: authenticated(Action::BlockGuest, list),
        answers: page::<BlockedGuestView>("A page of blocks, newest first."),
        fails: &[Code::DjOnly],
    }

    /// Block a guest
    ///
    /// The guest can no longer request songs from the caller, a DJ, or tip the caller. Open requests stay open. A
    /// second block changes nothing. Only users who have made a request to the caller, or have tipped the caller, can
    /// be blocked. The caller's data export names the guests who tipped. Any other id returns 404 `not_found`, and the
    /// caller's own id 422 for `id`.
    PUT "/api/v1/music/dj/blocks/{id}" "blockGuest" {
        tag: Djs,
        run: authenticated(Action::BlockGuest, block),
        answers: ok::<BlockedGuestData>("The block."),
        fails: &[Code::DjOnly, Code::ValidationFailed],
    }

    /// Unblock a guest
    ///
    /// Ends a block by the caller, a DJ. Without a block, it also returns 200.
    DELETE "/api/v1/music/dj/blocks/{id}" "unblockGuest" {
        tag: Djs,
        run: authenticated(Action::BlockGuest, unblock),
        answers: ok::<Empty>("The guest is not blocked."),
        fails: &[Code::DjOnly],
    }
}

/// A block in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BlockedGuestData {
    /// The block.
    pub block: BlockedGuestView,
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let paging = call.paging();
    let rows = call.use_cases().blocks.list(&principal, paging.request()).await?;
    call::page("Blocks.", &paging, &rows, BlockedGuestView::new)
}

async fn block(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let block = call.use_cases().blocks.block(&call.context(&principal), call.id(UserId::new)?).await?;
    ApiResponse::new("Blocked.", BlockedGuestData { block: BlockedGuestView::new(&block) })
}

async fn unblock(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    call.use_cases().blocks.unblock(&call.context(&principal), call.id(UserId::new)?).await?;
    ApiResponse::new("Unblocked.", Empty {})
}
