//! `/booth` and its live part.

use actix_web::http::StatusCode;
use cuepoint_domain::application::queries::{ShownGig, ShownQueue};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::GigStatus;
use cuepoint_domain::ids::GigId;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::Profile;
use cuepoint_domain::user::DjProfile;
use cuepoint_pages::booth::{BoothAnswer, BoothOutcome, BoothPage, GigForm, OpenPage, QueuePart};
use cuepoint_pages::forms::Keys;
use cuepoint_pages::frame::{NoticeKind, PageNotice};

use crate::call::PageCall;
use crate::failure::PageFailure;
use crate::response::PageResponse;

pub(super) async fn show(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    render(&call, &principal, StatusCode::OK, None, None).await
}

pub(super) async fn live(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    if !call.wants_part() {
        return show(call, principal).await;
    }
    let queue = open_queue(&call, &principal).await?.ok_or(PageFailure::NotFound)?;
    let reader = call.profile().await?;
    let (frame, key) = (call.frame(reader.as_ref()), call.new_key());
    Ok(call.part(QueuePart { frame: &frame, queue: &queue, keys: Keys::new(&key) }.render()))
}

/// The newest gig of the DJ, which alone can be open.
pub(in crate::handlers) async fn newest_gig(
    call: &PageCall,
    principal: &Principal,
) -> Result<Option<ShownGig>, PageFailure> {
    Ok(call.use_cases().gigs.list(principal, PageRequest::new(1, 1)).await?.rows.pop())
}

/// The id of the open gig. A form that names another gig, such as an answer that was sent late, has no effect on it.
///
/// # Errors
/// [`PageFailure::Outdated`] without an open gig, and for a form of another one.
pub(super) async fn open_gig(call: &PageCall, principal: &Principal) -> Result<GigId, PageFailure> {
    let open = current_gig(call, principal).await?;
    open.filter(|id| is_meant(call, *id)).ok_or(PageFailure::Outdated)
}

/// Whether the form is for the newest gig, and this gig has ended.
pub(super) async fn names_ended_gig(call: &PageCall, principal: &Principal) -> Result<bool, PageFailure> {
    let newest = newest_gig(call, principal).await?;
    Ok(newest.is_some_and(|gig| gig.status == GigStatus::Ended && is_meant(call, gig.gig.id)))
}

/// Whether the form is for this gig.
fn is_meant(call: &PageCall, id: GigId) -> bool {
    let named = call.form.text("gig");
    named.is_empty() || named == id.to_string()
}

/// The id of the open gig, if there is one.
async fn current_gig(call: &PageCall, principal: &Principal) -> Result<Option<GigId>, PageFailure> {
    let newest = newest_gig(call, principal).await?;
    Ok(newest.filter(|gig| gig.status != GigStatus::Ended).map(|gig| gig.gig.id))
}

/// The queue of the open gig, if there is one.
async fn open_queue(call: &PageCall, principal: &Principal) -> Result<Option<ShownQueue>, PageFailure> {
    match current_gig(call, principal).await? {
        Some(id) => Ok(Some(call.use_cases().gigs.queue(principal, id).await?)),
        None => Ok(None),
    }
}

/// The prices of a DJ.
fn prices(reader: &Profile) -> DjProfile {
    reader.user.dj.clone().unwrap_or_default()
}

/// The booth, with what a form did, and with the fields of a form that was refused.
pub(super) async fn render(
    call: &PageCall,
    principal: &Principal,
    status: StatusCode,
    outcome: Option<BoothOutcome<'_>>,
    refused: Option<GigForm>,
) -> Result<PageResponse, PageFailure> {
    let reader = call.profile().await?.ok_or(PageFailure::Login)?;
    let key = call.new_key();
    let frame = call.frame(Some(&reader));
    let notice = outcome.map(|outcome| notice(BoothAnswer { frame: &frame, outcome }));
    let frame = frame.clone().saying(notice);
    let keys = Keys::new(&key);
    let usual_price = call.state.settings.usual_price;
    let html = match open_queue(call, principal).await? {
        Some(queue) => {
            let details = &queue.gig.gig.details;
            let form =
                refused.unwrap_or_else(|| GigForm::of(Some(details), &prices(&reader), usual_price, &frame));
            let part = QueuePart { frame: &frame, queue: &queue, keys };
            BoothPage { frame: &frame, part: &part, form: &form }.render()
        }
        None => {
            let last = newest_gig(call, principal).await?;
            let details = last.as_ref().map(|last| &last.gig.details);
            let form = refused.unwrap_or_else(|| GigForm::of(details, &prices(&reader), usual_price, &frame));
            OpenPage { frame: &frame, form: &form, keys, last_gig: last.map(|last| last.gig.id) }.render()
        }
    };
    Ok(PageResponse::html(status, html))
}

fn notice(answer: BoothAnswer<'_>) -> PageNotice {
    let kind = if answer.is_done() { NoticeKind::Done } else { NoticeKind::Attention };
    PageNotice { kind, text: answer.text() }
}
