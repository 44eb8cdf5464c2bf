//! The page `/g/{code}`.

use askama::Template;
use cuepoint_domain::gig::{Board, BoardGig};

use super::draft::DraftCard;
use super::form::RequestForm;
use super::part::GuestPart;
use crate::closed::Closed;
use crate::frame::{Frame, renders};
use crate::payment::{DraftView, PaymentState};

/// The page `/g/{code}`: the DJ, the gig, the form, and the live part.
#[derive(Template, Clone, Debug)]
#[template(path = "guest/page.html")]
pub struct GuestPage<'a> {
    pub frame: &'a Frame<'a>,
    pub board: &'a Board,
    pub entry: RequestEntry<'a>,
    pub part: GuestPart<'a>,
    /// Whether the page offers to claim the guest account: it has had a top-up.
    pub offers_claim: bool,
    /// What waits for its payment in this gig.
    pub draft: Option<DraftCard<'a>>,
}

/// The form of a request, or why there is none.
#[derive(Clone, PartialEq, Debug)]
pub enum RequestEntry<'a> {
    Form(Box<RequestForm<'a>>),
    /// With what the guest typed before the gig refused it.
    Closed(Closed, Option<Typed<'a>>),
}

/// What a guest typed, which is not lost if the gig takes no requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Typed<'a> {
    pub song_title: &'a str,
    pub artist_name: &'a str,
    /// The dedication.
    pub message: &'a str,
}

impl Typed<'_> {
    /// Whether the guest typed nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.song_title.is_empty() && self.artist_name.is_empty() && self.message.is_empty()
    }
}

impl GuestPage<'_> {
    fn gig(&self) -> Option<&BoardGig> {
        self.board.gig.as_ref()
    }

    /// The mean of the DJ's ratings with one decimal, and their number.
    fn rating(&self) -> Option<(String, i64)> {
        let rating = self.board.dj.dj.as_ref()?.rating;
        let mean = rating.mean_hundredths().saturating_add(5).div_euclid(10);
        let separator = self.frame.language.decimal_separator();
        let text = format!("{}{separator}{}", mean.div_euclid(10), mean.rem_euclid(10));
        (rating.count > 0).then_some((text, rating.count))
    }

    fn is_closed(&self) -> bool {
        matches!(self.entry, RequestEntry::Closed(_, _))
    }

    fn has_guest_account(&self) -> bool {
        self.frame.viewer.is_some_and(|viewer| viewer.has_guest_account())
    }

    fn live(&self) -> String {
        self.part.render().html
    }
}

renders!(GuestPage);
