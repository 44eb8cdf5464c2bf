//! What happened at a gig, in numbers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use time::Duration;

use crate::gig::song::SongKey;
use crate::ids::{RequestId, UserId};
use crate::money::Money;
use crate::music_request::{MusicRequest, RequestState, RequestStatus};
use crate::text::Line;
use crate::user::Rating;

/// The number of songs in a report.
const TOP_SONGS: usize = 10;

/// The numbers of a gig.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GigReport {
    /// The number of requests of each status.
    pub requests: BTreeMap<RequestStatus, u64>,
    /// The fees of played requests, without refunded ones.
    pub gross: Money,
    /// The platform's part of [`Self::gross`].
    pub commission: Money,
    /// The DJ's part of [`Self::gross`].
    pub net: Money,
    /// The fees of refunded requests.
    pub refunded: Money,
    /// The tips, before the commission.
    pub tips: Money,
    /// The number of guests with a request that was not cancelled.
    pub guests: u64,
    /// The mean time from a request to its play; `None` before the first play.
    pub mean_wait: Option<Duration>,
    /// The songs with the most requests that were not cancelled, then the most plays, then the earliest request.
    pub top_songs: Vec<RequestedSong>,
    /// The rating that follows from those of its requests.
    pub rating: Rating,
}

/// A song of a gig.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestedSong {
    /// The title in its earliest request.
    pub song_title: Line,
    /// The artist in its earliest request.
    pub artist_name: Line,
    /// The number of its requests that were not cancelled.
    pub requests: u64,
    /// The number of those that were played, refunded ones included.
    pub played: u64,
}

/// The numbers of the requests that were counted so far. Its size does not depend on their texts.
#[derive(Clone, Debug, Default)]
pub struct ReportTally {
    report: GigReport,
    guests: BTreeSet<UserId>,
    /// The sum of the waits in microseconds, and their number.
    waits: (i64, i64),
    /// The place of each song in the list.
    places: HashMap<SongKey, usize>,
    songs: Vec<CountedSong>,
}

/// A song that was counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CountedSong {
    /// Its first request.
    pub first: RequestId,
    /// See [`RequestedSong::requests`].
    pub requests: u64,
    /// See [`RequestedSong::played`].
    pub played: u64,
}

impl ReportTally {
    /// Counts a request of the gig; `None` if a sum is too large. Requests are counted in the order of their ids.
    #[must_use]
    pub fn count(&mut self, request: &MusicRequest) -> Option<()> {
        let report = &mut self.report;
        let status = request.state.status();
        let count = report.requests.entry(status).or_default();
        *count = count.saturating_add(1);
        if status == RequestStatus::Cancelled {
            return Some(());
        }
        self.guests.insert(request.requester);
        match request.state {
            RequestState::Played { at, commission } => {
                report.gross = report.gross.checked_add(request.fee)?;
                report.commission = report.commission.checked_add(commission)?;
                let wait = at.unix_micros().saturating_sub(request.created_at.unix_micros());
                let (sum, number) = self.waits;
                self.waits = (sum.saturating_add(wait), number.saturating_add(1));
            }
            RequestState::Refunded { .. } => {
                report.refunded = report.refunded.checked_add(request.fee)?;
            }
            _ => {}
        }
        self.count_song(request);
        Some(())
    }

    /// Counts cancelled requests.
    pub fn count_cancelled(&mut self, number: u64) {
        let count = self.report.requests.entry(RequestStatus::Cancelled).or_default();
        *count = count.saturating_add(number);
    }

    fn count_song(&mut self, request: &MusicRequest) {
        let key = SongKey::of(&request.song_title, &request.artist_name);
        let place = *self.places.entry(key).or_insert(self.songs.len());
        if place == self.songs.len() {
            self.songs.push(CountedSong { first: request.id, requests: 0, played: 0 });
        }
        if let Some(song) = self.songs.get_mut(place) {
            song.requests = song.requests.saturating_add(1);
            song.played = song.played.saturating_add(u64::from(request.was_played()));
        }
    }

    /// The songs of the report, in its order.
    #[must_use]
    pub fn top_songs(&self) -> Vec<CountedSong> {
        let mut songs = self.songs.clone();
        // A stable sort: songs with equal numbers keep the order of their earliest requests.
        songs.sort_by_key(|song| std::cmp::Reverse((song.requests, song.played)));
        songs.truncate(TOP_SONGS);
        songs
    }

    /// The report with these songs, without tips and ratings; `None` if a sum is too large.
    #[must_use]
    pub fn report(self, top_songs: Vec<RequestedSong>) -> Option<GigReport> {
        let Self { mut report, guests, waits: (sum, number), .. } = self;
        report.requests.entry(RequestStatus::Cancelled).or_default();
        report.net = report.gross.checked_sub(report.commission)?;
        report.guests = u64::try_from(guests.len()).unwrap_or(u64::MAX);
        report.mean_wait = sum.checked_div(number).map(Duration::microseconds);
        Some(GigReport { top_songs, ..report })
    }
}

impl GigReport {
    /// The report on these requests, in the order of their ids, without tips and ratings; `None` if a sum is too large.
    #[must_use]
    pub fn of(requests: &[MusicRequest]) -> Option<Self> {
        let mut tally = ReportTally::default();
        requests.iter().try_for_each(|request| tally.count(request))?;
        let firsts: HashMap<RequestId, &MusicRequest> =
            requests.iter().map(|request| (request.id, request)).collect();
        let songs = tally.top_songs();
        let songs = songs.iter().filter_map(|song| Some(song.of(firsts.get(&song.first)?)));
        let songs = songs.collect();
        tally.report(songs)
    }
}

impl CountedSong {
    /// The song, as its first request spells it.
    #[must_use]
    pub fn of(&self, first: &MusicRequest) -> RequestedSong {
        RequestedSong {
            song_title: first.song_title.clone(),
            artist_name: first.artist_name.clone(),
            requests: self.requests,
            played: self.played,
        }
    }
}
