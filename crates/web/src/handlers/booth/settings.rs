//! The forms of the gig: open, change, pause, resume, end, reject requests of guest accounts.

use cuepoint_domain::application::commands::{ChangeGig, EndGig, OpenGig};
use cuepoint_domain::application::{CommandError, FailedRejections};
use cuepoint_domain::authorization::Principal;
use cuepoint_domain::gig::{GigChange, GigRefusal};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{DjChange, Field};
use cuepoint_pages::booth::BoothOutcome;
use cuepoint_pages::done::DoneNotice;

use super::gig_fields::GigFields;
use super::{page, taps};
use crate::call::{FormKey, PageCall};
use crate::failure::PageFailure;
use crate::response::{INVALID, PageResponse};

/// A gig that another tab has opened, changed or ended meanwhile.
impl From<GigRefusal> for PageFailure {
    fn from(refusal: GigRefusal) -> Self {
        match refusal {
            GigRefusal::AnotherIsOpen(_) | GigRefusal::Ended => Self::Outdated,
            GigRefusal::Place(_) => Self::NoForm,
        }
    }
}

pub(super) async fn open(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let fields = match GigFields::read(&call.form, &call.frame(None)) {
        Ok(fields) => fields,
        Err(form) => return page::render(&call, &principal, INVALID, None, Some(*form)).await,
    };
    let what = call.form.encode();
    match call.run(&principal, Some(&key), OpenGig, fields.new_gig(), &what).await {
        Ok(_) => Ok(PageResponse::done("/booth", DoneNotice::GigOpened)),
        // Another tab opened it.
        Err(CommandError::Refused(GigRefusal::AnotherIsOpen(_))) => Ok(PageResponse::see("/booth")),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn change(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let fields = match GigFields::read(&call.form, &call.frame(None)) {
        Ok(fields) => fields,
        Err(form) => return page::render(&call, &principal, INVALID, None, Some(*form)).await,
    };
    let id = page::open_gig(&call, &principal).await?;
    let what = call.form.encode();
    call.run(&principal, Some(&key), ChangeGig { id }, fields.change(), &what).await?;
    Ok(PageResponse::done("/booth", DoneNotice::Saved))
}

pub(super) async fn pause(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    accepting(call, principal, false).await
}

pub(super) async fn resume(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    accepting(call, principal, true).await
}

async fn accepting(call: PageCall, principal: Principal, online: bool) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let id = match page::open_gig(&call, &principal).await {
        Ok(id) => id,
        Err(PageFailure::Outdated) => return taps::respond(&call, &principal, BoothOutcome::Gone).await,
        Err(failure) => return Err(failure),
    };
    let dj = DjChange { online: Field::Set(online), ..DjChange::default() };
    let change = GigChange { dj, ..GigChange::default() };
    let what = if online { "resume" } else { "pause" };
    call.run(&principal, Some(&key), ChangeGig { id }, change, what).await?;
    let outcome = if online { BoothOutcome::Resumed } else { BoothOutcome::Paused };
    taps::respond(&call, &principal, outcome).await
}

pub(super) async fn end(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let key = FormKey::of(&call.form)?;
    let id = match page::open_gig(&call, &principal).await {
        Ok(id) => id,
        Err(PageFailure::Outdated) => {
            let is_repeated = page::names_ended_gig(&call, &principal).await?;
            let outcome = if is_repeated { BoothOutcome::Ended } else { BoothOutcome::Gone };
            return taps::respond(&call, &principal, outcome).await;
        }
        Err(failure) => return Err(failure),
    };
    call.run(&principal, Some(&key), EndGig { id }, (), "end").await?;
    taps::respond(&call, &principal, BoothOutcome::Ended).await
}

pub(super) async fn reject_guests(call: PageCall, principal: Principal) -> Result<PageResponse, PageFailure> {
    let moment = |name| call.form.text(name).parse().ok().map(Timestamp::from_unix_micros);
    let made = moment("since").zip(moment("until")).ok_or(PageFailure::NoForm)?;
    let gig = page::open_gig(&call, &principal).await?;
    let report = |FailedRejections { gig, requests, first }| {
        tracing::warn!(gig = gig.get(), requests, failure = %first, "requests of guests were not rejected");
    };
    let context = call.context(&principal, None, "");
    let matching = call.use_cases().guest_rejections.reject_seen(&context, gig, made, report).await?;
    taps::respond(&call, &principal, BoothOutcome::RejectsGuests { matching }).await
}
