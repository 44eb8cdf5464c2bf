//! The page `/g/{code}`.

use askama::Template;
use cuepoint_domain::gig::{Board, BoardGig, GigStatus};
use cuepoint_domain::money::Money;
use cuepoint_domain::user::ArtistType;

use super::closed::Closed;
use super::draft::DraftCard;
use super::form::{Question, RequestForm};
use super::part::GuestPart;
use crate::frame::{Frame, renders};
use crate::texts::Text;
use crate::payment::{Draft, PaymentState};

/// The page `/g/{code}`: the DJ, the gig, the form, and the live part.
#[derive(Template, Clone, Debug)]
#[template(path = "guest/page.html")]
pub struct GuestPage<'a> {
    pub frame: &'a Frame<'a>,
    pub board: &'a Board,
    pub entry: Entry<'a>,
    pub part: GuestPart<'a>,
    /// Whether the page offers to claim the guest account: it has had a top-up.
    pub offers_claim: bool,
    /// What waits for its payment in this gig.
    pub draft: Option<DraftCard<'a>>,
}

/// The form of a request, or why there is none.
#[derive(Clone, PartialEq, Debug)]
pub enum Entry<'a> {
    Form(Box<RequestForm<'a>>),
    Closed(Closed),
}

impl GuestPage<'_> {
    fn gig(&self) -> Option<&BoardGig> {
        self.board.gig.as_ref()
    }

    fn prices(&self) -> Prices {
        let price = |kind| self.board.dj.list_price(kind);
        Prices { popular: price(ArtistType::Popular), upcoming: price(ArtistType::Upcoming) }
    }

    /// The mean of the DJ's ratings with one decimal, and their number.
    fn rating(&self) -> Option<(String, i64)> {
        let rating = self.board.dj.dj.as_ref()?.rating;
        let mean = rating.mean_hundredths().saturating_add(5).div_euclid(10);
        let separator = self.frame.language.decimal_separator();
        let text = format!("{}{separator}{}", mean.div_euclid(10), mean.rem_euclid(10));
        (rating.count > 0).then_some((text, rating.count))
    }

    /// The words for the status; `None` for a DJ without a gig that has ended lately.
    fn status(&self) -> Option<Text> {
        let t = self.frame.t;
        match self.gig().map(|gig| gig.status) {
            Some(GigStatus::Open) => Some(t.status_open()),
            Some(GigStatus::Paused) => Some(t.status_paused()),
            Some(GigStatus::Ended) => Some(t.status_ended()),
            None => matches!(self.entry, Entry::Closed(Closed::Ended)).then(|| t.status_ended()),
        }
    }

    /// The amount of an offer, as the form sends it.
    fn field(&self, money: &Money) -> String {
        self.frame.site.currency.print(*money)
    }

    fn price_of(&self, kind: &ArtistType) -> Money {
        self.board.dj.list_price(*kind)
    }

    fn is_closed(&self) -> bool {
        matches!(self.entry, Entry::Closed(_))
    }

    fn has_guest_account(&self) -> bool {
        self.frame.viewer.is_some_and(|viewer| viewer.has_guest_account())
    }

    fn live(&self) -> String {
        self.part.render().html
    }
}

/// The prices of a DJ.
#[derive(Clone, Copy)]
struct Prices {
    popular: Money,
    upcoming: Money,
}

impl Prices {
    fn differ(self) -> bool {
        self.popular != self.upcoming
    }

    /// Whether a song of either kind is free.
    fn are_free(self) -> bool {
        self.popular.is_zero() && self.upcoming.is_zero()
    }
}

renders!(GuestPage);
