//! Past evenings: the list, the report of one, and its rows as a file.

use std::error::Error;

use actix_web::web::Bytes;
use cuepoint_adapters::personal_data_export::until_failure;
use cuepoint_domain::application::Failure;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::GigId;
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_pages::report::{PastGigsPage, ReportPage, csv_head, csv_rows};
use futures_util::future;
use futures_util::stream::{self, StreamExt as _};

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;

type BoxError = Box<dyn Error>;

/// The number of evenings that a page compares.
const EVENINGS: u32 = 12;

pub(super) async fn list(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let page = call.list_page(EVENINGS);
    let reports = call.use_cases().gigs.reports(&principal, page).await?;
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    let shown = PastGigsPage { frame: &frame, gigs: &reports.rows, page, total: reports.total };
    Ok(PageResponse::page(shown.render()))
}

pub(super) async fn show(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let reported = call.use_cases().gigs.report(&principal, call.id(GigId::new)?).await?;
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    Ok(PageResponse::page(ReportPage { frame: &frame, reported: &reported }.render()))
}

pub(super) async fn file(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let currency = call.currency().clone();
    let rows = move |requests: &[MusicRequest]| csv_rows(requests, &currency);
    let gigs = &call.use_cases().gigs;
    let (gig, parts) = gigs.requests_in_parts(&principal, call.id(GigId::new)?, rows).await?;
    let head = stream::once(future::ready(Ok(csv_head())));
    let chunk = |part: Result<String, Failure>| part.map(Bytes::from).map_err(BoxError::from);
    let file = until_failure(head.chain(parts).map(chunk));
    Ok(PageResponse::streamed_download("text/csv; charset=utf-8", &format!("gig-{}.csv", gig.gig.id), file))
}
