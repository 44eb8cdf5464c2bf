//! The card of an open request.

use askama::Template;
use cuepoint_domain::application::queries::{OpenOfGuest, QueuedRequest, ShownQueue};
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::user::ArtistType;

use crate::forms::Keys;
use crate::frame::{Frame, RenderedPart, digest};
use crate::texts::Text;

/// The card of an open request. It is replaced when its digest changes.
#[derive(Template, Clone, Debug)]
#[template(path = "booth/card.html")]
pub(super) struct Card<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) keys: Keys<'a>,
    pub(super) queue: &'a ShownQueue,
    pub(super) queued: &'a QueuedRequest,
    /// What a block of the guest rejects.
    pub(super) open: &'a OpenOfGuest,
}

impl Card<'_> {
    /// The card, and the digest of what it shows.
    pub(super) fn with_digest(&self) -> RenderedPart {
        let html = self.render().unwrap_or_default();
        let digest = digest(&html, Some(self.keys));
        let html = html.replacen("<li ", &format!("<li data-digest=\"{digest}\" "), 1);
        RenderedPart { html, digest }
    }

    fn request(&self) -> &MusicRequest {
        &self.queued.request
    }

    fn is_upcoming(&self) -> bool {
        self.request().artist_type == ArtistType::Upcoming
    }

    fn key(&self, purpose: &str) -> String {
        self.keys.of_object(purpose, self.queued.request.id.get())
    }

    fn guest(&self) -> Text {
        let name = self.queued.guest_name.as_ref().map(|name| name.as_str().to_owned());
        name.map_or_else(|| self.frame.t.erased_guest(), Text::from)
    }

    /// The number of open requests of the same song, with this one.
    fn songs(&self) -> usize {
        self.queue.of_song(self.queued).count()
    }

    /// The requests of the same song in the same list, with this one, if there are others.
    fn group(&self) -> Option<Group> {
        if self.queued.same_song.is_empty() {
            return None;
        }
        let all: Vec<RequestId> =
            self.queue.group_of(self.queued).iter().map(|other| other.request.id).collect();
        let first = all.iter().take(ShownQueue::MOST_AT_ONCE);
        let numbers: Vec<String> = first.map(|id| id.get().to_string()).collect();
        let (count, is_whole) = (numbers.len(), numbers.len() == all.len());
        (count > 1).then(|| Group { count, is_whole, ids: numbers.join(",") })
    }

    /// The button that accepts the group.
    fn accept(&self, group: &Group) -> Text {
        let t = self.frame.t;
        if group.is_whole { t.accept_all(group.count) } else { t.accept_first(group.count) }
    }

    /// The button that marks the group as played.
    fn played(&self, group: &Group) -> Text {
        let t = self.frame.t;
        if group.is_whole { t.played_all(group.count) } else { t.played_first(group.count) }
    }

    /// What a block of the guest rejects.
    fn block_advice(&self) -> Text {
        self.frame.t.block_advice(self.open.requests.len(), &self.frame.amount(self.open.held))
    }
}

/// Requests of the same song that one form answers.
struct Group {
    count: usize,
    /// Whether these are all requests of the song in their list.
    is_whole: bool,
    /// Their numbers with commas.
    ids: String,
}
