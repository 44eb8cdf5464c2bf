//! What waits for its payment, in the words of the page of its payment and of the page of its gig.

use cuepoint_domain::money::Money;

use crate::frame::Frame;
use crate::texts::Text;

/// What a guest without money pays for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DraftPurpose {
    Request,
    Tip,
}

/// What waits for its payment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DraftView<'a> {
    Request {
        song_title: &'a str,
        artist_name: &'a str,
        fee: Money,
    },
    Tip {
        /// The name of the DJ, if the gig was read.
        dj: Option<&'a str>,
        amount: Money,
    },
}

impl DraftPurpose {
    /// That it was not sent.
    pub(crate) fn not_sent(self, frame: &Frame<'_>) -> Text {
        match self {
            Self::Request => frame.t.draft_not_sent(),
            Self::Tip => frame.t.tip_not_given(),
        }
    }
}

impl DraftView<'_> {
    /// What it is.
    #[must_use]
    pub const fn purpose(&self) -> DraftPurpose {
        match self {
            Self::Request { .. } => DraftPurpose::Request,
            Self::Tip { .. } => DraftPurpose::Tip,
        }
    }

    /// What it costs.
    #[must_use]
    pub const fn price(&self) -> Money {
        match self {
            Self::Request { fee, .. } => *fee,
            Self::Tip { amount, .. } => *amount,
        }
    }

    /// That it can be sent.
    pub(crate) fn is_ready(&self, frame: &Frame<'_>) -> Text {
        match self {
            Self::Request { .. } => frame.t.confirmed_with_draft(),
            Self::Tip { .. } => frame.t.confirmed_with_tip(),
        }
    }

    /// The button that sends it.
    pub(crate) fn button(&self, frame: &Frame<'_>) -> Text {
        match self {
            Self::Request { fee, .. } => frame.t.send_draft(&frame.amount(fee)),
            Self::Tip { amount, .. } => frame.t.give_tip_of(&frame.amount(amount)),
        }
    }

    /// What becomes of the money.
    pub(crate) fn hint(&self, frame: &Frame<'_>) -> Text {
        match self {
            Self::Request { fee, .. } => frame.t.send_draft_for(&frame.amount(fee)),
            Self::Tip { .. } => frame.t.tip_is_final(),
        }
    }
}
