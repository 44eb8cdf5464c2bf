//! DJs, as everybody sees them.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::DjFilter;

use crate::http::call::{self, Call};
use crate::http::openapi::bodies::PageQuery;
use crate::http::operations::views::{Dj, DjData};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::page::Page;
use crate::http::wire::query::Filters;
use crate::http::wire::{messages, values};

/// Lists DJs.
#[utoipa::path(
    get,
    path = "/api/v1/djs",
    operation_id = "listDjs",
    tag = "DJs",
    params(
        PageQuery,
        (
            "online" = Option<u8>,
            Query,
            minimum = 0,
            maximum = 1,
            description = "Only those who take requests now (1), or do not (0).",
        ),
    ),
    responses((status = 200, description = "A page of DJs, newest first.", body = Success<Page<Dj>>)),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let mut filters = Filters::of(&call.query);
    let online = filters.read("online", values::yes_or_no, messages::flag);
    filters.complete()?;
    let paging = call.paging(&["online"]);
    let rows = call.app.services.profiles.djs(&caller, DjFilter { online }, paging.request()).await?;
    call::page("DJs.", &paging, &rows, |dj| Dj::new(dj, call.currency()))
}

/// Shows a DJ.
#[utoipa::path(
    get,
    path = "/api/v1/djs/{id}",
    operation_id = "showDj",
    tag = "DJs",
    responses((status = 200, description = "The DJ.", body = Success<DjData>)),
)]
pub async fn show(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let dj = call.app.services.profiles.dj(&caller, call.id(UserId::new)?).await?;
    Answer::ok("DJ.", DjData { dj: Dj::new(&dj, call.currency()) })
}
