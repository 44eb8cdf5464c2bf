//! What becomes of a draft: the rules that the page of its payment and the page of its gig share.

use cuepoint_domain::application::Failure;
use cuepoint_domain::application::queries::{GuestView, SeenTopup};
use cuepoint_domain::gig::DjCode;
use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::topup::Topup;
use cuepoint_pages::frame::Frame;
use cuepoint_pages::guest::{Closed, DraftCard};
use cuepoint_pages::payment::{DraftPurpose, DraftView, PaymentState};

use super::draft::Draft;
use crate::call::PageCall;
use crate::failure::PageFailure;

/// What waits. `view` is what the guest sees of its gig, if that was read.
pub(super) fn described<'a>(
    draft: &'a Draft,
    view: Option<&'a GuestView>,
    currency: &Currency,
) -> DraftView<'a> {
    let price = draft.price(currency);
    match draft.purpose {
        DraftPurpose::Request => DraftView::Request {
            song_title: draft.form.text("song_title"),
            artist_name: draft.form.text("artist_name"),
            fee: price,
        },
        DraftPurpose::Tip => {
            DraftView::Tip { dj: view.map(|view| view.board.dj.name.as_str()), amount: price }
        }
    }
}

/// What the guest can do once the money has arrived; `None` if it was spent otherwise. `view` is what the guest sees of the
/// gig of the draft, and `available` the balance.
pub(super) fn once_paid<'a>(
    draft: &'a Draft,
    view: Option<&'a GuestView>,
    available: Money,
    currency: &Currency,
) -> Option<PaymentState<'a>> {
    if available < draft.price(currency) {
        return None;
    }
    let what = draft.purpose;
    let closed = match (view.filter(|view| view.board.dj.suspended_at.is_none()), what) {
        (Some(view), DraftPurpose::Request) => Closed::of_view(view),
        // A DJ is tipped during a break, and after the gig.
        (Some(view), DraftPurpose::Tip) => {
            Closed::of_board(&view.board, view.ended_at.is_some()).filter(|closed| *closed == Closed::Offline)
        }
        // The DJ has another code by now, was erased, or is suspended.
        (None, _) => Some(Closed::Offline),
    };
    Some(match closed {
        Some(why) => PaymentState::ConfirmedTooLate { what, why },
        None => PaymentState::ConfirmedWithDraft(described(draft, view, currency)),
    })
}

/// The draft of this browser in a gig, with its payment.
pub(super) struct DraftOfGig {
    draft: Draft,
    topup: Box<Topup>,
}

impl DraftOfGig {
    /// The draft of this browser in the gig of this code, if the reader pays for one there.
    pub(super) async fn of(call: &PageCall, code: DjCode) -> Result<Option<Self>, PageFailure> {
        let Some(draft) = Draft::of(call).filter(|draft| draft.code == code) else { return Ok(None) };
        let Some(reference) = draft.topup else { return Ok(None) };
        match call.use_cases().topups.seen(call.principal.as_ref(), reference).await {
            Ok(SeenTopup::Own(topup)) => Ok(Some(Self { draft, topup })),
            Ok(SeenTopup::Other { .. }) | Err(Failure::NotFound) => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Its card for a reader with this available balance; `None` if its money was spent otherwise.
    pub(super) fn card<'a>(
        &'a self,
        view: &'a GuestView,
        frame: &Frame<'_>,
        available: Money,
    ) -> Option<DraftCard<'a>> {
        let currency = &frame.site.currency;
        let state = match PaymentState::of(&self.topup, false, available, frame) {
            PaymentState::Confirmed { .. } => once_paid(&self.draft, Some(view), available, currency)?,
            state => state,
        };
        let draft = described(&self.draft, Some(view), currency);
        let (payment, key) = (self.topup.reference(), self.draft.form.text("key"));
        Some(DraftCard { draft, state, payment, key })
    }
}
