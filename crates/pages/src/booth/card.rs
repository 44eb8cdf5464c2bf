//! The card of an open request.

use askama::Template;
use cuepoint_domain::application::queries::{QueuedRequest, ShownQueue};
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::timestamp::Timestamp;

use crate::forms::Keys;
use crate::frame::{Frame, digest};
use crate::texts::Text;

/// The card of an open request. It is replaced when its digest changes.
#[derive(Template, Clone, Debug)]
#[template(path = "booth/card.html")]
pub(super) struct Card<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) keys: Keys<'a>,
    pub(super) queue: &'a ShownQueue,
    pub(super) queued: &'a QueuedRequest,
    pub(super) digest: String,
}

impl Card<'_> {
    /// The card with the digest of what it shows without the keys of its forms.
    pub(super) fn with_digest(&self) -> String {
        // Relative times change without a change of the request.
        let still = Frame { now: Timestamp::EPOCH, ..self.frame.clone() };
        let shown = Card { frame: &still, keys: Keys::none(), digest: String::new(), ..self.clone() };
        let digest = digest(&shown.render().unwrap_or_default());
        Card { digest, ..self.clone() }.render().unwrap_or_default()
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
        self.queued.same_song.len().saturating_add(1)
    }

    /// The requests of the same song in the same list, with this one, if there are others.
    fn group(&self) -> Option<Group> {
        let ids: Vec<RequestId> =
            self.queue.group_of(self.queued).iter().map(|other| other.request.id).collect();
        let count = ids.len();
        let numbers: Vec<String> = ids.iter().map(|id| id.get().to_string()).collect();
        (count > 1).then(|| Group { count, ids: numbers.join(",") })
    }

    /// What a block of the guest rejects.
    fn block_advice(&self) -> Text {
        let open = self.queue.open_of(self.queued.request.requester);
        self.frame.t.block_advice(open.requests.len(), &self.frame.amount(open.held))
    }
}

/// Requests of the same song.
struct Group {
    count: usize,
    /// Their numbers with commas.
    ids: String,
}
