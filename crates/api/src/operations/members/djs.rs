//! DJs, as visible to all callers.

use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::DjFilter;

use crate::call::{self, ApiCall};
use crate::declaration::{ok, operations, page};
use crate::endpoint::{authenticated, optionally_authenticated};
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use cuepoint_views::people::{DjData, DjView};

operations! {
    /// List DJs
    ///
    /// The newest users come first. No token is needed. Without one, only DJs who are online are listed, and
    /// `online=0` returns 401 `unauthenticated`. A token that is sent must be valid.
    GET "/api/v1/djs" "listDjs" {
        tag: Djs,
        run: optionally_authenticated(Action::ReadDjs, list),
        answers: page::<DjView>("A page of DJs, newest first."),
        filters: DjFilters::DECLARED,
        fails: &[Code::ValidationFailed],
    }

    /// Show a DJ
    ///
    /// Any user can see every DJ. The id of a user who is not a DJ returns 404 `not_found`.
    GET "/api/v1/djs/{id}" "getDj" {
        tag: Djs,
        run: authenticated(Action::ReadDjs, show),
        answers: ok::<DjData>("The DJ."),
    }
}

filters! {
    /// The filters of the list of DJs.
    struct DjFilters {
        /// 1: only DJs who are online; 0: only the others.
        online: bool = filters::FLAG,
    }
}

async fn list(call: ApiCall, principal: Option<Principal>) -> Result<ApiResponse, ApiError> {
    let DjFilters { online } = call.filters()?;
    let paging = call.paging();
    let profiles = &call.use_cases().profiles;
    let rows = match principal {
        Some(principal) => profiles.djs(&principal, DjFilter { online }, paging.request()).await?,
        None if online == Some(false) => return Err(Code::Unauthenticated.into()),
        None => profiles.online_djs(paging.request()).await?,
    };
    call::page("DJs.", &paging, &rows, |dj| DjView::new(dj, call.currency()))
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let dj = call.use_cases().profiles.dj(&principal, call.id(UserId::new)?).await?;
    ApiResponse::new("DJ.", DjData { dj: DjView::new(&dj, call.currency()) })
}
