//! `GET /` and `POST /nearby`.

use cuepoint_domain::application::FirstOperatorWay;
use cuepoint_domain::application::queries::{GigOfGuest, NearbyBoard};
use cuepoint_domain::gig::Gig;
use cuepoint_domain::user::{Coordinates, Kilometres};
use cuepoint_pages::forms::FieldState;
use cuepoint_pages::frame::Frame;
use cuepoint_pages::front::StartPage;

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::handlers::booth;
use crate::response::PageResponse;

/// The distance of gigs that are nearby, in kilometres.
const NEARBY: f64 = 25.0;

pub(super) async fn show(call: PageCall) -> Result<PageResponse, PageFailure> {
    render(&call, None).await
}

pub(super) async fn nearby(call: PageCall) -> Result<PageResponse, PageFailure> {
    let number = |text: &str| text.parse::<f64>().ok();
    let near = call.form.text("near").split_once(',');
    let from = near.and_then(|(latitude, longitude)| number(latitude).zip(number(longitude)));
    let from = from.and_then(|(latitude, longitude)| Coordinates::new(latitude, longitude));
    let (from, within) = from.zip(Kilometres::new(NEARBY)).ok_or(PageFailure::NoForm)?;
    call.count_valid()?;
    let boards = call.use_cases().boards.nearby(from, within).await?;
    render(&call, Some(&boards)).await
}

async fn render(call: &PageCall, nearby: Option<&[NearbyBoard]>) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?;
    let first_operator = first_operator(call).await?;
    let (gigs, own_gig) = open_gigs(call).await?;
    let frame = call.frame(reader.as_ref());
    let page = StartPage { gigs: &gigs, own_gig: own_gig.as_ref(), nearby, first_operator, ..empty(&frame) };
    Ok(PageResponse::page(page.render()))
}

/// The page without facts about its reader.
pub(in crate::handlers) fn empty<'a>(frame: &'a Frame<'a>) -> StartPage<'a> {
    let code = FieldState::default();
    StartPage { frame, gigs: &[], own_gig: None, code, nearby: None, first_operator: None }
}

/// How the first operator begins. Only a reader at the machine sees its terminal and its command line.
async fn first_operator(call: &PageCall) -> Result<Option<FirstOperatorWay>, PageFailure> {
    match call.is_local() {
        true => Ok(call.use_cases().operators.way_of_first().await?),
        false => Ok(None),
    }
}

/// The open gigs in which the reader, or the guest account from before the login, has an open request, and the reader's
/// own one.
async fn open_gigs(call: &PageCall) -> Result<(Vec<GigOfGuest>, Option<Gig>), PageFailure> {
    let Some(principal) = &call.principal else { return Ok((Vec::new(), None)) };
    let boards = &call.use_cases().boards;
    let mut gigs = boards.gigs_of_guest(principal).await?;
    for guest in call.kept_guests().await? {
        for kept in boards.gigs_of_guest(&guest).await? {
            if gigs.iter().all(|shown| shown.gig.id != kept.gig.id) {
                gigs.push(kept);
            }
        }
    }
    let own = match principal.is_dj {
        true => booth::newest_gig(call, principal).await?.map(|shown| shown.gig),
        false => None,
    };
    Ok((gigs, own.filter(|gig| gig.ended_at.is_none())))
}
