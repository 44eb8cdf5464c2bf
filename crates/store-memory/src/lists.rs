//! Lists: sorted scans of the book and their pages, and the indexed lists of requests.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use cuepoint_domain::ids::{GigId, RequestId, UserId};
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::timestamp::Timestamp;

/// Requests by `created_at`, then id.
type ByTime = BTreeSet<(Timestamp, RequestId)>;

/// The requests of each guest, to each DJ and in each gig: the lists that the service reads most often.
#[derive(Debug, Default)]
pub(crate) struct RequestLists {
    pub(crate) by_guest: HashMap<UserId, ByTime>,
    pub(crate) to_dj: HashMap<UserId, ByTime>,
    /// The deadlines of the requests of each gig that are stored as open.
    open_in_gig: HashMap<GigId, HashMap<RequestId, Timestamp>>,
}

impl RequestLists {
    /// Adds a new request.
    pub(crate) fn add(&mut self, request: &MusicRequest) {
        let place = (request.created_at, request.id);
        self.by_guest.entry(request.requester).or_default().insert(place);
        self.to_dj.entry(request.dj).or_default().insert(place);
        self.update(request);
    }

    /// Records the status of a request that was added before.
    pub(crate) fn update(&mut self, request: &MusicRequest) {
        let Some(gig) = request.gig else { return };
        let open = self.open_in_gig.entry(gig).or_default();
        match request.state.expires_at() {
            Some(deadline) => open.insert(request.id, deadline),
            None => open.remove(&request.id),
        };
    }

    /// The requests of a gig that are stored as open, with their deadlines.
    pub(crate) fn open_in_gig(&self, gig: GigId) -> impl Iterator<Item = (RequestId, Timestamp)> {
        self.open_in_gig.get(&gig).into_iter().flatten().map(|(id, deadline)| (*id, *deadline))
    }
}

/// The rows in ascending order of a key.
pub(crate) fn sorted<T, K: Ord>(rows: impl Iterator<Item = T>, key: impl FnMut(&T) -> K) -> Vec<T> {
    let mut rows: Vec<T> = rows.collect();
    rows.sort_unstable_by_key(key);
    rows
}

/// The rows in descending order of a key, which begins with their time.
pub(crate) fn newest_first<T, K: Ord>(rows: impl Iterator<Item = T>, mut key: impl FnMut(&T) -> K) -> Vec<T> {
    sorted(rows, |row| Reverse(key(row)))
}

/// The first of these rows.
pub(crate) fn first<'a, T: Clone + 'a>(rows: impl IntoIterator<Item = &'a T>, limit: u32) -> Vec<T> {
    rows.into_iter().take(length(limit)).cloned().collect()
}

/// A page of these rows, with their total.
pub(crate) fn page_of<'a, T: Clone + 'a>(
    rows: impl IntoIterator<Item = &'a T, IntoIter: ExactSizeIterator>,
    page: PageRequest,
) -> Rows<T> {
    let rows = rows.into_iter();
    let total = count(rows.len());
    let before = page.offset().and_then(|offset| usize::try_from(offset).ok()).unwrap_or(usize::MAX);
    Rows { rows: first(rows.skip(before), page.size()), total }
}

/// A length as the total of a page.
pub(crate) fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A limit as a length.
pub(crate) fn length(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
