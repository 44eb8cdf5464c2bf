//! The card of a draft, for a guest who did not come back to the page of its payment.

use cuepoint_domain::provider_reference::ProviderReference;

use crate::frame::{Frame, NoticeKind};
use crate::payment::{DraftView, PaymentState};
use crate::texts::Text;

/// What waits for its payment in this gig: above the page, with the same forms as on the page of the payment, and one
/// that discards it: `POST /g/{code}/draft/discard` with `key`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DraftCard<'a> {
    pub draft: DraftView<'a>,
    /// The state of its payment.
    pub state: PaymentState<'a>,
    /// The reference of its payment.
    pub payment: ProviderReference,
    /// The key of the form that waits.
    pub key: &'a str,
}

impl DraftCard<'_> {
    /// The kind of notice that the card is.
    pub(crate) const fn kind(&self) -> NoticeKind {
        match self.state {
            PaymentState::ConfirmedWithDraft(_) => NoticeKind::Done,
            PaymentState::ConfirmedTooLate { .. } | PaymentState::Failed | PaymentState::Reversed => {
                NoticeKind::Loss
            }
            PaymentState::Preparing { .. }
            | PaymentState::Payable(_)
            | PaymentState::Waiting(_)
            | PaymentState::Confirmed { .. }
            | PaymentState::Unknown => NoticeKind::Attention,
        }
    }

    /// What happened to the payment.
    pub(crate) fn title(&self, frame: &Frame<'_>) -> Text {
        let t = frame.t;
        match self.state {
            PaymentState::Preparing { .. }
            | PaymentState::Payable(_)
            | PaymentState::Waiting(_)
            | PaymentState::Unknown => t.draft_unpaid(),
            PaymentState::ConfirmedWithDraft(_)
            | PaymentState::ConfirmedTooLate { .. }
            | PaymentState::Confirmed { .. } => t.confirmed_title(),
            PaymentState::Failed => t.failed_title(),
            PaymentState::Reversed => t.reversed_title(),
        }
    }
}
