//! The live part of the booth: the numbers of the gig, and both lists.

use askama::Template;
use cuepoint_domain::application::queries::{OpenOfGuest, QueuedRequest, ShownQueue};
use cuepoint_domain::gig::GigStatus;
use cuepoint_domain::music_request::MusicRequest;

use super::card::Card;
use crate::forms::Keys;
use crate::frame::{Frame, RenderedPart, digest};
use crate::texts::Text;

/// The songs that were played last.
const LAST_PLAYED: usize = 3;
/// The maximum number of accepted songs that the form for the end of the gig names.
const NAMED_AT_END: usize = 10;

/// The live part of the booth, at `/booth/live`: the numbers of the gig, new requests and accepted ones.
#[derive(Clone, Debug)]
pub struct QueuePart<'a> {
    pub frame: &'a Frame<'a>,
    pub queue: &'a ShownQueue,
    pub keys: Keys<'a>,
}

impl QueuePart<'_> {
    /// The part in its live element.
    #[must_use]
    pub fn render(&self) -> RenderedPart {
        let cards = self.cards();
        let content = Content { part: self, cards: &cards, shows: |card| &card.html };
        let digests = Content { shows: |card| &card.digest, ..content };
        let digest = digest(&digests.text(), Some(self.keys));
        let gig = &self.queue.gig.gig;
        let html = format!(
            "<div id=\"queue\" class=\"queue\" data-live=\"/booth/live\" data-digest=\"{digest}\" \
             data-stream=\"/api/v1/boards/{code}/stream\" data-keep data-user=\"{dj}\">{content}</div>",
            code = gig.code,
            dj = gig.dj,
            content = content.text(),
        );
        RenderedPart { html, digest }
    }

    /// The cards, each with whether its request is accepted.
    fn cards(&self) -> Vec<(bool, RenderedPart)> {
        let (guests, none) = (self.queue.open_by_guest(), OpenOfGuest::default());
        let card = |queued: &QueuedRequest| {
            let open = guests.get(&queued.request.requester).unwrap_or(&none);
            let card = Card { frame: self.frame, keys: self.keys, queue: self.queue, queued, open };
            (queued.is_accepted(), card.with_digest())
        };
        self.queue.waiting.iter().map(card).collect()
    }
}

/// The content of the part, with the cards or only with their digests.
#[derive(Template, Clone, Copy)]
#[template(path = "booth/part.html")]
struct Content<'a> {
    part: &'a QueuePart<'a>,
    cards: &'a [(bool, RenderedPart)],
    shows: fn(&RenderedPart) -> &str,
}

impl<'a> Content<'a> {
    fn text(&self) -> String {
        // Rendering fails only if formatting does, and no text of a page does.
        Template::render(self).unwrap_or_default()
    }

    fn cards(&self, is_accepted: bool) -> impl Iterator<Item = &'a str> {
        let (cards, shows) = (self.cards, self.shows);
        cards.iter().filter(move |(accepted, _)| *accepted == is_accepted).map(move |(_, card)| shows(card))
    }

    fn is_paused(&self) -> bool {
        self.part.queue.gig.status == GigStatus::Paused
    }

    fn last_played(&self) -> impl Iterator<Item = &MusicRequest> {
        self.part.queue.last_played.iter().take(LAST_PLAYED)
    }

    /// The accepted requests, in the order of the queue. Their fees are released when the gig ends.
    fn unplayed(&self) -> impl Iterator<Item = &MusicRequest> {
        self.part.queue.waiting.iter().filter(|queued| queued.is_accepted()).map(|queued| &queued.request)
    }

    fn named_at_end(&self) -> impl Iterator<Item = &MusicRequest> {
        self.unplayed().take(NAMED_AT_END)
    }

    /// The number of unplayed requests that the form does not name.
    fn unnamed_at_end(&self) -> usize {
        self.unplayed().skip(NAMED_AT_END).count()
    }

    /// What the end of the gig does, with numbers.
    fn end_advice(&self) -> Text {
        let (frame, totals) = (self.part.frame, &self.part.queue.totals);
        let (held, earned) = (frame.amount(totals.held), frame.amount(totals.earned));
        frame.t.end_advice(totals.open, &held, &earned)
    }
}
