//! Past evenings: the list, the report of one, and its rows as a file.

use cuepoint_domain::application::queries::ReportedGig;
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::GigId;
use cuepoint_pages::report::{PastGigsPage, ReportPage, csv};
use futures_util::future::try_join_all;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;

/// The number of evenings that a page compares.
const EVENINGS: u32 = 12;

pub(super) async fn list(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let page = call.list_page(EVENINGS);
    let gigs = &call.use_cases().gigs;
    let rows = gigs.list(&principal, page).await?;
    let reports = rows.rows.iter().map(|shown| gigs.report(&principal, shown.gig.id));
    let reports: Vec<ReportedGig> = try_join_all(reports).await?;
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    let shown = PastGigsPage { frame: &frame, gigs: &reports, page, total: rows.total };
    Ok(PageResponse::page(shown.render()))
}

pub(super) async fn show(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let reported = call.use_cases().gigs.report(&principal, call.id(GigId::new)?).await?;
    let reader = call.profile().await?;
    let frame = call.frame(reader.as_ref());
    Ok(PageResponse::page(ReportPage { frame: &frame, reported: &reported }.render()))
}

pub(super) async fn file(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let (gig, requests) = call.use_cases().gigs.requests(&principal, call.id(GigId::new)?).await?;
    let rows = csv(&requests, call.currency());
    Ok(PageResponse::download("text/csv; charset=utf-8", &format!("gig-{}.csv", gig.gig.id), rows))
}
