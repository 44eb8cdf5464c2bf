//! The live part of the booth: the numbers of the gig, and both lists.

use askama::Template;
use cuepoint_domain::application::queries::ShownQueue;
use cuepoint_domain::gig::GigStatus;
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::timestamp::Timestamp;

use super::card::Card;
use crate::forms::Keys;
use crate::frame::{Frame, RenderedPart, digest};
use crate::texts::Text;

/// The songs that were played last.
const LAST_PLAYED: usize = 3;

/// The live part of the booth, at `/booth/live`: the numbers of the gig, new requests and accepted ones.
#[derive(Template, Clone, Debug)]
#[template(path = "booth/part.html")]
pub struct QueuePart<'a> {
    pub frame: &'a Frame<'a>,
    pub queue: &'a ShownQueue,
    pub keys: Keys<'a>,
}

impl QueuePart<'_> {
    /// The part in its live element.
    #[must_use]
    pub fn render(&self) -> RenderedPart {
        let still = Frame { now: Timestamp::EPOCH, ..self.frame.clone() };
        let digest = digest(&QueuePart { frame: &still, keys: Keys::none(), ..self.clone() }.content());
        let gig = &self.queue.gig.gig;
        let html = format!(
            "<div id=\"queue\" class=\"queue\" data-live=\"/booth/live\" data-digest=\"{digest}\" \
             data-stream=\"/api/v1/boards/{code}/stream\" data-keep data-user=\"{dj}\">{content}</div>",
            code = gig.code,
            dj = gig.dj,
            content = self.content(),
        );
        RenderedPart { html, digest }
    }

    fn content(&self) -> String {
        // Rendering fails only if formatting does, and no text of a page does.
        Template::render(self).unwrap_or_default()
    }

    fn cards(&self, is_accepted: bool) -> Vec<String> {
        let listed = self.queue.waiting.iter().filter(|queued| queued.is_accepted() == is_accepted);
        let card = |queued| Card {
            frame: self.frame,
            keys: self.keys,
            queue: self.queue,
            queued,
            digest: String::new(),
        };
        listed.map(|queued| card(queued).with_digest()).collect()
    }

    fn is_paused(&self) -> bool {
        self.queue.gig.status == GigStatus::Paused
    }

    fn last_played(&self) -> impl Iterator<Item = &MusicRequest> {
        self.queue.last_played.iter().take(LAST_PLAYED)
    }

    /// What the end of the gig does, with numbers.
    fn end_advice(&self) -> Text {
        let totals = &self.queue.totals;
        let (held, earned) = (self.frame.amount(totals.held), self.frame.amount(totals.earned));
        self.frame.t.end_advice(totals.open, &held, &earned)
    }
}
