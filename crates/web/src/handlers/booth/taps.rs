//! The answers to requests, one by one or for all requests of a song, and the block of a guest.

use std::collections::BTreeSet;

use actix_web::http::StatusCode;
use cuepoint_domain::application::commands::{AnswerRequest, DjAnswer};
use cuepoint_domain::application::queries::ShownQueue;
use cuepoint_domain::application::{BlockRefusal, CommandError, Failure};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_pages::booth::{BoothAnswer, BoothOutcome};

use super::page;
use crate::call::{FormKey, PageCall};
use crate::failure::{PageFailure, or_refusal};
use crate::response::PageResponse;

pub(super) async fn accept(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    answer(call, principal, DjAnswer::Accept).await
}

pub(super) async fn played(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    answer(call, principal, DjAnswer::Play).await
}

pub(super) async fn reject(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    answer(call, principal, DjAnswer::Reject).await
}

/// What an answer to a request did.
enum Answered {
    Done(MusicRequest),
    TooLate(MusicRequest),
    Gone,
}

async fn answer(call: PageCall, principal: Principal, answer: DjAnswer) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let mut done: Vec<MusicRequest> = Vec::new();
    let mut late = None;
    for id in ids(&call)? {
        match answer_one(&call, &principal, &key, id, answer).await? {
            Answered::Done(request) => done.push(request),
            other => late = Some(other),
        }
    }
    let sum = |amount: fn(&MusicRequest) -> Money| {
        done.iter().try_fold(Money::ZERO, |sum, request| sum.checked_add(amount(request))).unwrap_or_default()
    };
    let outcome = match (done.is_empty(), answer, &late) {
        (true, _, Some(Answered::TooLate(request))) => BoothOutcome::TooLate { request },
        (true, _, _) => BoothOutcome::Gone,
        (false, DjAnswer::Accept, _) => BoothOutcome::Accepted,
        (false, DjAnswer::Play, _) => BoothOutcome::Played { earned: sum(MusicRequest::earned) },
        (false, DjAnswer::Reject, _) => BoothOutcome::Rejected { returned: sum(|request| request.fee) },
    };
    respond(&call, &principal, outcome).await
}

async fn answer_one(
    call: &PageCall,
    principal: &Principal,
    key: &FormKey,
    id: RequestId,
    answer: DjAnswer,
) -> Result<Answered, PageFailure> {
    let key = key.derived(&id.to_string());
    let what = format!("{answer:?}");
    let done = call.run(principal, Some(&key), AnswerRequest { id }, answer, &what).await;
    if matches!(done, Err(CommandError::Failed(Failure::NotFound | Failure::Denied(_)))) {
        return Ok(Answered::Gone);
    }
    Ok(match or_refusal(done)? {
        Ok(done) => Answered::Done(done.value),
        Err(_) => Answered::TooLate(call.use_cases().music_requests.visible(principal, id).await?),
    })
}

/// The requests that the form names.
fn ids(call: &PageCall) -> Result<Vec<RequestId>, PageFailure> {
    let ids: Option<Vec<RequestId>> =
        call.form.text("ids").split(',').map(|id| RequestId::new(id.trim().parse().ok()?)).collect();
    let mut ids = ids.filter(|ids| ids.len() <= ShownQueue::MOST_AT_ONCE).ok_or(PageFailure::NoForm)?;
    // A repeated one would be counted in the sums again.
    let mut known = BTreeSet::new();
    ids.retain(|id| known.insert(*id));
    Ok(ids)
}

/// Blocks a guest, and rejects the guest's open requests.
pub(super) async fn block(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let guest = call.form.text("guest").parse().ok().and_then(UserId::new).ok_or(PageFailure::NoForm)?;
    let gig = page::open_gig(&call, &principal).await?;
    match or_refusal(call.use_cases().blocks.block(&call.context(&principal, None, ""), guest).await)? {
        Ok(_) => {}
        Err(BlockRefusal::Oneself) => return Err(PageFailure::NotAllowed),
    }
    let queue = call.use_cases().gigs.queue(&principal, gig).await?;
    let (mut rejected, mut returned) = (0_usize, Money::ZERO);
    for id in queue.open_by_guest().remove(&guest).unwrap_or_default().requests {
        if let Answered::Done(request) = answer_one(&call, &principal, &key, id, DjAnswer::Reject).await? {
            rejected = rejected.saturating_add(1);
            returned = returned.checked_add(request.fee).unwrap_or(returned);
        }
    }
    respond(&call, &principal, BoothOutcome::Blocked { rejected, returned }).await
}

/// The answer to the script, or the booth with what the form did.
pub(super) async fn respond(
    call: &PageCall,
    principal: &Principal,
    outcome: BoothOutcome<'_>,
) -> Result<PageResponse, PageFailure> {
    let frame = call.frame(None);
    let answer = BoothAnswer { frame: &frame, outcome };
    let status = if answer.is_done() { StatusCode::OK } else { StatusCode::CONFLICT };
    if call.wants_part() {
        return Ok(PageResponse::html(status, answer.render()));
    }
    if let Some(done) = answer.done() {
        return Ok(PageResponse::done("/booth", done));
    }
    page::render(call, principal, status, Some(outcome), None).await
}
