//! The live part of a guest page: the caller's requests, and the queue.

use askama::Template;
use cuepoint_domain::application::queries::OwnRequest;
use cuepoint_domain::gig::queue::{Place, PlaceReason};
use cuepoint_domain::gig::{Board, BoardGig, GigStatus, QueueOrder};
use cuepoint_domain::money::Amount;
use cuepoint_domain::music_request::{Move, RequestState, can_be_rated};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::ArtistType;

use super::offers::OfferFields;
use crate::forms::{FieldState, Keys};
use crate::frame::{Frame, Live, RenderedPart, render_live};
use crate::texts::Text;

/// The caller's requests with their states and forms, and the songs that are up next.
#[derive(Template, Clone, Debug)]
#[template(path = "guest/part.html")]
pub struct GuestPart<'a> {
    pub frame: &'a Frame<'a>,
    pub board: &'a Board,
    /// The caller's requests, newest first; empty without an account.
    pub requests: &'a [OwnRequest],
    /// When the gig of the requests ended, if it did.
    pub ended_at: Option<Timestamp>,
    pub keys: Keys<'a>,
    /// The offers of a new request; `None` unless the caller can make one.
    pub offers: Option<OfferFields<'a>>,
    /// Whether the DJ takes no requests of the caller.
    pub is_blocked: bool,
    /// The form of a tip; `None` unless the caller can tip the DJ now.
    pub tip: Option<TipForm<'a>>,
    pub live: Live<'a>,
}

/// The form of a tip: `POST /g/{code}/tips` with the fields `key`, and `preset` (a proposed amount) or `amount`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TipForm<'a> {
    /// The amounts of [`cuepoint_domain::tip::presets`].
    pub presets: &'a [Amount],
    /// The field of another amount.
    pub amount: FieldState,
}

/// What the guest knows about a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Waiting,
    Accepted,
    Played(Timestamp),
    Returned,
    Other,
}

impl GuestPart<'_> {
    /// The part in its live element.
    #[must_use]
    pub fn render(&self) -> RenderedPart {
        let content = Template::render(self).unwrap_or_default();
        render_live("guest-live", self.live, Some(self.keys), &content)
    }

    pub(super) fn gig(&self) -> Option<&BoardGig> {
        self.board.gig.as_ref()
    }

    /// The name of the status of the gig for the caller. The page is read again when it changes.
    pub(super) fn status(&self) -> &'static str {
        if self.is_blocked {
            return "blocked";
        }
        match self.gig().map(|gig| gig.status) {
            Some(GigStatus::Open) => "open",
            Some(GigStatus::Paused) => "paused",
            Some(GigStatus::Ended) | None => "ended",
        }
    }

    /// The words for the status of the gig; `None` for a DJ without a gig that has ended lately.
    pub(super) fn status_label(&self) -> Option<Text> {
        let t = self.frame.t;
        match self.gig().map(|gig| gig.status) {
            Some(GigStatus::Open) => Some(t.status_open()),
            Some(GigStatus::Paused) => Some(t.status_paused()),
            Some(GigStatus::Ended) => Some(t.status_ended()),
            None => self.ended_at.map(|_| t.status_ended()),
        }
    }

    /// Whether the gig takes requests.
    pub(super) fn is_open(&self) -> bool {
        self.gig().is_some_and(|gig| gig.status == GigStatus::Open)
    }

    /// The card that has the form of a tip: the newest one that was played.
    fn tips_at(&self, own: &&OwnRequest) -> Option<&TipForm<'_>> {
        let is_played = |own: &&OwnRequest| matches!(own.request.state, RequestState::Played { .. });
        let newest = self.requests.iter().find(is_played)?;
        self.tip.as_ref().filter(|_| newest.request.id == own.request.id)
    }

    fn shown(&self, own: &OwnRequest) -> Shown {
        match own.request.state {
            RequestState::Pending { .. } => Shown::Waiting,
            RequestState::Accepted { .. } => Shown::Accepted,
            RequestState::Played { at, .. } => Shown::Played(at),
            RequestState::Rejected { .. }
            | RequestState::Cancelled { .. }
            | RequestState::Expired { .. }
            | RequestState::Refunded { .. } => Shown::Returned,
            RequestState::Unknown { .. } => Shown::Other,
        }
    }

    /// The words for the state, and the class of the card.
    fn label(&self, own: &OwnRequest) -> (Text, &'static str) {
        let t = self.frame.t;
        match self.shown(own) {
            Shown::Waiting => (t.state_pending(), "waiting"),
            Shown::Accepted => (t.state_accepted(), "accepted"),
            Shown::Played(_) => (t.state_played(), "played"),
            Shown::Returned if own.awaits_release => (t.status_expired(), "returned"),
            Shown::Returned => (t.state_returned(), "returned"),
            Shown::Other => (t.state_other(), "waiting"),
        }
    }

    /// Why the request came to nothing.
    fn reason(&self, own: &OwnRequest) -> Text {
        let t = self.frame.t;
        let ended_with_gig = self.ended_at.is_some_and(|end| own.request.was_rejected_by_end(end));
        match own.request.state {
            RequestState::Rejected { displaced: true, .. } => t.displaced(),
            RequestState::Rejected { .. } if ended_with_gig => t.rejected_by_end(),
            RequestState::Rejected { .. } => t.rejected(),
            RequestState::Cancelled { .. } => t.cancelled(),
            RequestState::Refunded { .. } => t.refunded(),
            RequestState::Expired { .. }
            | RequestState::Pending { .. }
            | RequestState::Accepted { .. }
            | RequestState::Played { .. }
            | RequestState::Unknown { .. } => t.expired(),
        }
    }

    /// Where the money of a request that came to nothing is; `None` for a free one.
    fn money_back(&self, own: &OwnRequest) -> Option<Text> {
        let (t, amount) = (self.frame.t, self.frame.amount(own.request.fee));
        let text = if own.awaits_release { t.returns_soon(&amount) } else { t.returned(&amount) };
        (!own.request.fee.is_zero()).then_some(text)
    }

    fn can_cancel(&self, own: &OwnRequest) -> bool {
        Move::Cancel.starts_from(own.request.state.status())
    }

    fn can_rate(&self, own: &OwnRequest) -> bool {
        can_be_rated(&own.request, self.frame.now)
    }

    fn is_star(&self, own: &OwnRequest, number: &u8) -> bool {
        own.stars.is_some_and(|stars| stars.get() >= *number)
    }

    fn is_chosen(&self, own: &OwnRequest, number: &u8) -> bool {
        own.stars.is_some_and(|stars| stars.get() == *number)
    }

    /// The order of the queue in one sentence.
    fn order(&self) -> Text {
        let t = self.frame.t;
        match self.gig().map(|gig| gig.gig.details.queue_order) {
            Some(QueueOrder::Arrival) => t.rule_of_arrival(),
            Some(QueueOrder::Rounds) | None => t.rule_of_rounds(),
        }
    }

    /// The numbers of the songs before this place.
    fn before(&self, place: &Place) -> Text {
        let PlaceReason { earlier_rounds, higher_fees, earlier_requests, .. } = place.reason;
        self.frame.t.before_this(earlier_rounds, higher_fees, earlier_requests)
    }

    /// An amount that the script fills in.
    fn typed_amount(&self) -> String {
        format!("{{}}\u{a0}{}", self.frame.site.currency.code())
    }

    /// The amount of a button, as the form sends it.
    fn field(&self, amount: &Amount) -> String {
        self.frame.site.currency.print(amount.money())
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::gig::DjCode;
    use cuepoint_domain::ids::UserId;
    use cuepoint_domain::money::Currency;
    use cuepoint_domain::text::{Email, Line};
    use cuepoint_domain::user::User;

    use super::*;
    use crate::accent::{AccentSheet, Colour};
    use crate::frame::Site;
    use crate::language::Language;

    #[test]
    fn the_digest_of_a_part_changes_with_its_content_and_not_with_its_keys() {
        let currency = Currency::new("EUR", 2).unwrap();
        let site = Site { currency, links: Vec::new(), accent: AccentSheet::new(Colour::DEFAULT) };
        let frame = Frame::new(&site, Language::English, Timestamp::EPOCH);
        let (name, email) = (Line::new("Ada").unwrap(), Email::new("ada@example.com").unwrap());
        let dj = User::registered(UserId::new(1).unwrap(), name, email, None, true, Timestamp::EPOCH);
        let board = Board { code: DjCode::new("B2C3D4").unwrap(), dj, gig: None };
        let own = own_request();
        let digest = |frame: &Frame<'_>, key, requests: &[OwnRequest]| {
            let live = Live { path: "/live", stream: None };
            let keys = Keys::new(key);
            let part = GuestPart {
                frame,
                board: &board,
                requests,
                ended_at: None,
                keys,
                offers: None,
                is_blocked: false,
                tip: None,
                live,
            };
            let part = part.render();
            assert!(part.html.contains(&format!("data-digest=\"{}\"", part.digest)));
            assert!(requests.is_empty() || part.html.contains(key));
            part.digest
        };
        let requests = std::slice::from_ref(&own);
        let first = digest(&frame, "0123456789012345678901", requests);
        assert_eq!(digest(&frame, "another-key-another-key", requests), first);
        assert_ne!(digest(&frame, "0123456789012345678901", &[]), first);
        let german = Frame::new(&site, Language::German, Timestamp::EPOCH);
        assert_ne!(digest(&german, "0123456789012345678901", requests), first);
    }

    fn own_request() -> OwnRequest {
        use cuepoint_domain::ids::RequestId;
        use cuepoint_domain::money::Money;
        use cuepoint_domain::music_request::MusicRequest;
        use cuepoint_domain::text::MusicUrl;
        use cuepoint_domain::user::ArtistType;

        let request = MusicRequest {
            id: RequestId::new(1).unwrap(),
            requester: UserId::new(2).unwrap(),
            dj: UserId::new(1).unwrap(),
            song_title: Line::new("Blue Monday").unwrap(),
            artist_name: Line::new("New Order").unwrap(),
            artist_type: ArtistType::Popular,
            music_url: MusicUrl::new("https://example.com/").unwrap(),
            fee: Money::from_minor(1_250),
            gig: None,
            counts_as_guest: false,
            state: RequestState::Pending { answer_by: Timestamp::EPOCH.plus(time::Duration::HOUR) },
            created_at: Timestamp::EPOCH,
        };
        OwnRequest {
            request,
            is_at_risk: false,
            message: None,
            place: None,
            stars: None,
            awaits_release: false,
        }
    }
}
